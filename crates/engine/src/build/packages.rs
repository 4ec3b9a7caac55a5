//! The packages a component imports: how their specifiers are mapped, and whether they exist.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    command::{DenoTool, Purpose, unavailable},
    download::download,
    explanation::explain,
    failure::{BuildFailure, BuildResult, disk, not_resolved},
    layout::{CONFIG, LOCK, PACKAGES},
    registry_answers::RegistryAnswers,
    resolved::Resolved,
    sources::Sources,
    specifier::{PLATFORM, PackageImport},
};

/// The minimum ages of releases, tried in order when the newest do not fit together because a mirror lags behind or a
/// dependency was withdrawn.
const RELEASE_AGES: [&str; 2] = ["P14D", "P90D"];

/// The imports of `sources` that are not relative, and what they mean: for packages, what `package` says.
pub(super) fn import_map(
    folder: &Path,
    sources: &Sources,
    package: impl Fn(&PackageImport) -> String,
) -> BTreeMap<String, String> {
    let packages = sources.packages.iter();
    let packages = packages.map(|import| (import.written.clone(), package(import)));
    let addresses = sources.addresses.iter().filter_map(|(written, path)| {
        let relative = path.strip_prefix(folder).ok()?;
        Some((written.clone(), format!("./{}", relative.display())))
    });
    packages.chain(addresses).collect()
}

/// Writes the import map of `sources` into the build folder, and returns its text.
async fn write_config(folder: &Path, sources: &Sources) -> BuildResult<String> {
    let imports = import_map(folder, sources, PackageImport::resolvable);
    let mut config = json!({ "imports": imports, "nodeModulesDir": "none" });
    if let Some(age) = sources.release_age {
        config["minimumDependencyAge"] = age.into();
    }
    let config = config.to_string();
    write(folder, CONFIG, &config).await?;
    Ok(config)
}

/// Resolves and locks every package, downloading those that are not in the cache. Imports that were resolved with the
/// same answers of the registry are not resolved again. `sources` is told how old the releases had to be.
pub(super) async fn resolve(
    tool: &DenoTool,
    folder: &Path,
    answers: &RegistryAnswers,
    sources: &mut Sources,
) -> BuildResult<Arc<Resolved>> {
    let config = write_config(folder, sources).await?;
    if sources.packages.is_empty() {
        return Ok(Arc::default());
    }
    if let Some(known) = answers.known(&config) {
        sources.release_age = known.release_age;
        write_config(folder, sources).await?;
        if let Some(lock) = &known.lock {
            write(folder, LOCK, lock).await?;
        }
        return Ok(known);
    }
    let began = Instant::now();
    let mut resolved = resolve_anew(tool, folder, sources).await?;
    resolved.lock = tokio::fs::read_to_string(folder.join(LOCK)).await.ok();
    resolved.release_age = sources.release_age;
    let resolved = Arc::new(resolved);
    answers.remember(config, began, Arc::clone(&resolved));
    Ok(resolved)
}

async fn resolve_anew(
    tool: &DenoTool,
    folder: &Path,
    sources: &mut Sources,
) -> BuildResult<Resolved> {
    let newest = attempt(tool, folder, &sources.packages).await?;
    for module in &newest.modules {
        let Some(error) = &module.error else {
            continue;
        };
        if let Some(explained) = explain(&sources.packages, &module.specifier, error) {
            return Err(not_resolved(explained));
        }
        download(tool, folder, &sources.packages).await?;
        return Err(unavailable(error).into());
    }
    if newest.is_complete() {
        return Ok(newest);
    }
    let reason = incompleteness(tool, folder).await?;
    for age in RELEASE_AGES {
        sources.release_age = Some(age);
        write_config(folder, sources).await?;
        let resolved = attempt(tool, folder, &sources.packages).await?;
        if resolved.is_complete() {
            tracing::info!(reason, age, "older releases of packages are taken");
            return Ok(resolved);
        }
    }
    // The error about older releases is not the cause: the newest are resolved once more for theirs.
    sources.release_age = None;
    write_config(folder, sources).await?;
    download(tool, folder, &sources.packages).await?;
    Err(dependency_not_resolved(&reason))
}

/// The releases that `packages` resolve to; incomplete when a dependency does not resolve.
async fn attempt(
    tool: &DenoTool,
    folder: &Path,
    packages: &[PackageImport],
) -> BuildResult<Resolved> {
    let requirements: BTreeSet<String> = packages
        .iter()
        .map(|package| format!("npm:{}", package.requirement()))
        .collect();
    let imports: Vec<String> = requirements
        .iter()
        .map(|specifier| format!("import {};", Value::from(specifier.as_str())))
        .collect();
    write(folder, PACKAGES, &imports.join("\n")).await?;
    let arguments = [
        "info",
        "--json",
        "--no-remote",
        "--config",
        CONFIG,
        "--lock",
        LOCK,
        PACKAGES,
    ];
    let output = tool.run(Purpose::Registry, folder, arguments).await?;
    serde_json::from_str(&output.stdout)
        .map_err(|error| unavailable(&format!("{error}: {}", output.error())).into())
}

/// The reason why packages do not resolve, which their graph leaves out.
async fn incompleteness(tool: &DenoTool, folder: &Path) -> BuildResult<String> {
    let arguments = ["cache", "--no-lock", "--config", CONFIG, PACKAGES];
    let step = tool.run(Purpose::Registry, folder, arguments).await?;
    step.unavailable().map_or(Ok(()), Err)?;
    Ok(step.error())
}

/// A dependency of packages is unavailable.
pub(super) fn dependency_not_resolved(reason: &str) -> BuildFailure {
    not_resolved(format!(
        "a package that the component's packages need cannot be resolved: {reason}"
    ))
}

/// The packages that the node_modules form installs, and further names under which they are imported.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Installation {
    /// `dependencies` of package.json.
    pub(super) dependencies: BTreeMap<String, String>,
    /// Names with versions, such as `axios@0.19.2`, and the dependency each is another name of.
    pub(super) links: BTreeMap<String, String>,
}

impl Installation {
    /// The requirements of all `packages`, and of those that registry code takes for granted.
    pub(super) fn of(packages: &[PackageImport]) -> Self {
        let mut installation = Self {
            dependencies: BTreeMap::new(),
            links: BTreeMap::new(),
        };
        for package in packages.iter().filter(|package| package.range.is_none()) {
            installation
                .dependencies
                .insert(package.name.clone(), package.range().to_owned());
        }
        for package in packages {
            let Some(range) = &package.range else {
                continue;
            };
            if package.prefixed && !installation.dependencies.contains_key(&package.name) {
                installation
                    .dependencies
                    .insert(package.name.clone(), range.clone());
            } else if installation.dependencies.get(&package.name) != Some(range) {
                installation
                    .dependencies
                    .insert(alias(package), format!("npm:{}", package.requirement()));
            }
            if !package.prefixed {
                let same = installation.dependencies.get(&package.name) == Some(range);
                let target = if same {
                    package.name.clone()
                } else {
                    alias(package)
                };
                installation.links.insert(package.requirement(), target);
            }
        }
        installation
            .dependencies
            .entry(PLATFORM.into())
            .or_insert_with(|| "latest".into());
        installation
    }

    /// The links of the node_modules folder: path and relative target.
    pub(super) fn link_paths(&self) -> impl Iterator<Item = (PathBuf, PathBuf)> + '_ {
        self.links.iter().map(|(name, target)| {
            let up = if name.contains('/') {
                Path::new("..")
            } else {
                Path::new("")
            };
            (PathBuf::from(name), up.join(target))
        })
    }
}

/// A unique name for one version of a package.
fn alias(package: &PackageImport) -> String {
    let text = package.requirement().to_lowercase();
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    format!("hw-{}", words.collect::<Vec<_>>().join("-"))
}

async fn write(folder: &Path, name: &str, text: &str) -> BuildResult<()> {
    let path = folder.join(name);
    tokio::fs::write(&path, text)
        .await
        .map_err(|error| disk(&path, &error))
}

#[cfg(test)]
mod tests {
    use super::{super::specifier::Specifier, Installation};

    #[test]
    fn pinned_packages_are_installed_beside_unpinned_ones() {
        let written = [
            "axios",
            "axios@0.19.2",
            "npm:pg@8/lib/x.js",
            "@scope/a@^1.0/sub",
            "npm:axios@0.20.0",
        ];
        let packages: Vec<_> = written
            .iter()
            .map(|written| match Specifier::parse(written) {
                Specifier::Package(package) => package,
                other => panic!("{other:?}"),
            })
            .collect();
        let installation = Installation::of(&packages);
        let dependencies: Vec<_> = installation
            .dependencies
            .iter()
            .map(|(name, range)| format!("{name}={range}"))
            .collect();
        assert_eq!(
            dependencies,
            [
                "@pipedream/platform=latest",
                "axios=latest",
                "hw-axios-0-19-2=npm:axios@0.19.2",
                "hw-axios-0-20-0=npm:axios@0.20.0",
                "hw-scope-a-1-0=npm:@scope/a@^1.0",
                "pg=8",
            ]
        );
        let links: Vec<_> = installation
            .link_paths()
            .map(|(path, target)| format!("{} -> {}", path.display(), target.display()))
            .collect();
        assert_eq!(
            links,
            [
                "@scope/a@^1.0 -> ../hw-scope-a-1-0",
                "axios@0.19.2 -> hw-axios-0-19-2"
            ]
        );
    }
}
