//! Packages with needs that components cannot meet: an addon of native code, a program of the machine, or a file
//! that an install script fetches. Install scripts never run; most of them are harmless
//! (they print thanks, or build an optional part), so a package is judged by the files that it
//! loads. Not responsible for how packages are resolved or installed.

mod alternatives;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use headwater_model::outcome::ComponentError;
use serde::Deserialize;
use serde_json::Value;

use super::{
    failure::not_resolved,
    resolved::{Downloaded, Resolved},
    script::loads_addon_when_called,
};

/// Programs in scripts that build an addon, or fetch a built one.
const ADDON_BUILDERS: &[&str] = &[
    "node-gyp",
    "node-pre-gyp",
    "prebuild-install",
    "prebuildify",
    "cmake-js",
];
/// Names of packages that only load another one's addon.
const ADDON_LOADERS: &[&str] = &[
    "node-gyp-build",
    "bindings",
    "detect-libc",
    "node-pre-gyp",
    "prebuild-install",
];
/// Folders below which no platform package hides its binary.
const DEPTH_MAX: usize = 3;

/// An unsuitable package, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unsuitable {
    name: String,
    version: String,
    /// The imported package that it came with, unless it is imported itself.
    through: Option<String>,
    folder: PathBuf,
    need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Addon,
    Program,
    Download,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Manifest {
    main: Value,
    gypfile: Option<bool>,
    os: Value,
    cpu: Value,
    scripts: BTreeMap<String, Value>,
    dependencies: BTreeMap<String, Value>,
    optional_dependencies: BTreeMap<String, Value>,
}

/// The packages that the component requires, by the packages' own declarations, and that need more than JavaScript.
pub(super) fn candidates(resolved: &Resolved) -> Vec<Unsuitable> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut ahead: Vec<(&str, Option<&str>)> = resolved.roots().map(|id| (id, None)).collect();
    while let Some((id, through)) = ahead.pop() {
        let Some(package) = resolved.by_id(id).filter(|_| seen.insert(id)) else {
            continue;
        };
        let manifest = Manifest::read(&package.local_path);
        if let Some(need) = need(package, &manifest, resolved) {
            found.push(Unsuitable {
                name: package.name.clone(),
                version: package.version.clone(),
                through: through.map(str::to_owned),
                folder: package.local_path.clone(),
                need,
            });
        }
        let through = through.or(Some(&package.name));
        let required = package.dependencies.iter().filter(|id| {
            resolved
                .by_id(id)
                .is_some_and(|package| manifest.requires(&package.name))
        });
        ahead.extend(required.map(|id| (id.as_str(), through)));
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

impl Manifest {
    fn read(folder: &Path) -> Self {
        let text = fs::read(folder.join("package.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn requires(&self, name: &str) -> bool {
        self.dependencies.contains_key(name) && !self.optional_dependencies.contains_key(name)
    }

    fn is_for_some_machines(&self) -> bool {
        !self.os.is_null() || !self.cpu.is_null()
    }

    /// Whether it has a build per machine, none of which may be present.
    fn has_platform_packages(&self) -> bool {
        let made_for = |system: &str| {
            let mut names = self.optional_dependencies.keys();
            names.any(|name| name.contains(system))
        };
        ["-linux-", "-darwin-", "-win32-"].into_iter().all(made_for)
    }

    fn install_scripts(&self) -> impl Iterator<Item = &str> {
        ["preinstall", "install", "postinstall"]
            .into_iter()
            .filter_map(|name| self.scripts.get(name)?.as_str())
    }
}

fn need(package: &Downloaded, manifest: &Manifest, resolved: &Resolved) -> Option<Need> {
    let folder = &package.local_path;
    let builds = manifest.install_scripts().any(|script| {
        ADDON_BUILDERS
            .iter()
            .any(|builder| script.contains(builder))
    });
    if builds || manifest.gypfile == Some(true) || folder.join("binding.gyp").is_file() {
        return Some(Need::Addon);
    }
    let for_this_machine = package
        .dependencies
        .iter()
        .filter_map(|id| resolved.by_id(id))
        .filter(|other| manifest.optional_dependencies.contains_key(&other.name))
        .find_map(|other| binary(&other.local_path));
    let downloads = || {
        manifest
            .install_scripts()
            .any(|script| downloads(folder, script))
    };
    // Some bring addons for every machine, and a script that builds one for others.
    let brings = || manifest.install_scripts().next().is_some() && has_addon(folder, 0);
    for_this_machine
        .or_else(|| downloads().then_some(Need::Download))
        .or_else(|| (manifest.has_platform_packages() || brings()).then_some(Need::Addon))
}

/// The native code that a package made for some machines only brings.
fn binary(folder: &Path) -> Option<Need> {
    let manifest = Manifest::read(folder);
    if !manifest.is_for_some_machines() {
        return None;
    }
    let addon = manifest
        .main
        .as_str()
        .is_some_and(|main| main.ends_with(".node"));
    if addon || has_addon(folder, 0) {
        return Some(Need::Addon);
    }
    folder.join("bin").is_dir().then_some(Need::Program)
}

fn has_addon(folder: &Path, depth: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)))
        .any(|(path, kind)| {
            kind.is_file() && path.extension().is_some_and(|ending| ending == "node")
                || kind.is_dir() && depth < DEPTH_MAX && has_addon(&path, depth + 1)
        })
}

/// Tells whether an install script, or the file of the package that it runs, says that it downloads something.
fn downloads(folder: &Path, script: &str) -> bool {
    let says_so = |text: &str| text.to_lowercase().contains("download");
    let files = script
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | ')' | ';'))
        .filter(|word| word.contains(['.', '/']) && !word.contains(".."));
    let mut files = files.flat_map(|word| ["", ".js"].map(|ending| format!("{word}{ending}")));
    says_so(script)
        || files.any(|file| fs::read_to_string(folder.join(file)).is_ok_and(|text| says_so(&text)))
}

/// Refuses packages that cannot work: `reached` are the files that bundling found, when it got that far. An addon
/// that is loaded at once shows when the component is evaluated; one that is loaded in a `try` is
/// something the package can do without.
pub(super) fn refuse(
    candidates: &mut Vec<Unsuitable>,
    reached: Option<&[PathBuf]>,
) -> Result<(), super::failure::BuildFailure> {
    if let Some(reached) = reached {
        candidates.retain(|package| reached.iter().any(|file| file.starts_with(&package.folder)));
    }
    for package in candidates.iter() {
        let files = reached.into_iter().flatten();
        let mut own = files.filter(|file| file.starts_with(&package.folder));
        let refused = match package.need {
            // A package that is imported by name counts as reached, whatever the bundler did with it.
            Need::Program | Need::Download => reached.is_some() || package.through.is_none(),
            Need::Addon => own.any(|file| {
                fs::read_to_string(file).is_ok_and(|code| loads_addon_when_called(&code))
            }),
        };
        if refused {
            return Err(not_resolved(package.complaint()));
        }
    }
    Ok(())
}

/// The candidate that a failed evaluation is to be blamed on.
pub(super) fn blamed<'a>(
    candidates: &'a [Unsuitable],
    error: &ComponentError,
) -> Option<&'a Unsuitable> {
    let text = format!("{}\n{}", error.message, error.stack);
    let named = |package: &&Unsuitable| {
        // The names of files in the one form and in the other.
        let folder = format!("/{}@{}", package.name.replace('/', "+"), package.version);
        text.contains(&folder) || text.contains(&format!("npm:{}/", package.name))
    };
    let loading = ADDON_LOADERS.iter().any(|loader| {
        text.contains(&format!("/{loader}@")) || text.contains(&format!("npm:{loader}/"))
    });
    candidates
        .iter()
        .find(named)
        .or_else(|| candidates.first().filter(|_| loading))
}

impl Unsuitable {
    /// The message about it, with an alternative.
    pub(super) fn complaint(&self) -> String {
        let (name, version) = (&self.name, &self.version);
        let came = self.through.as_ref().map_or_else(String::new, |through| {
            format!(", which came with `{through}`,")
        });
        let need = match self.need {
            Need::Addon => {
                "needs native code (an addon), and components run JavaScript and WebAssembly only"
            }
            Need::Program => "starts a program, which components cannot",
            Need::Download => {
                "needs a download by its install script, and install scripts never run"
            }
        };
        let instead = alternatives::of(name)
            .map_or_else(String::new, |other| format!("; use {other} instead"));
        format!("the package `{name}@{version}`{came} {need}{instead}")
    }
}

#[cfg(test)]
mod tests;
