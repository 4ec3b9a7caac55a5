//! Bundling: a component's own modules into one, with or without the packages they import. The platform package
//! becomes a module of its own where it can (`platform_module.rs`); components without further packages get one that
//! exists already (`shared_platform.rs`).

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

use url::Url;

use super::{
    command::{DenoTool, Purpose, StepOutput},
    download::download,
    failure::{BuildResult, disk, not_resolved},
    layout::{APART, CONFIG, LOCK, PLATFORM_IMPORTER, PLATFORM_MODULE, PLATFORM_STUB},
    markers,
    platform_module::{self, Importer},
    source_map::Bundle,
    sources::Sources,
};
use crate::{api::EngineError, artifact, shared_modules};

/// The beginning of the bundler's error about a name that a module does not export.
pub(super) const NO_EXPORT: &str = "No matching export";

/// The beginning of its error about a missing package or module of a package.
pub(super) const NO_PACKAGE: &str = "Could not resolve 'npm:";

/// The rejection of an import outside of the component; the file is not named.
const OUTSIDE: &str = "the component, or a package that it imports, imports a file that is neither the component's nor a package's";

/// Files that a build itself adds to its folder.
const OF_BUILDS: [&str; 2] = [PLATFORM_STUB, PLATFORM_IMPORTER];
/// The arguments for bundling packages in, as they were locked.
const LOCKED: &[&str] = &["--config", CONFIG, "--lock", LOCK];
/// The same with what modules have in common apart.
const LOCKED_AND_SPLIT: &[&str] = &["--config", CONFIG, "--lock", LOCK, "--code-splitting"];

/// A build folder with its sources, below the folder of Deno's cache.
#[derive(Debug)]
pub(super) struct Bundling<'a> {
    pub(super) tool: &'a DenoTool,
    /// The folder of the import map and the lock file.
    pub(super) folder: &'a Path,
    /// The folder of the own modules.
    pub(super) code: &'a Path,
    pub(super) sources: &'a Sources,
}

/// A component's module and the platform package's, apart.
pub(super) struct Split {
    component: Bundle,
    /// The module that they have in common, as the bundler wrote it.
    pub(super) common: String,
    /// The same for all components.
    pub(super) shared: Bundle,
    pub(super) reached: Vec<PathBuf>,
}

/// The result of bundling the packages in.
#[derive(Debug)]
pub(super) struct Bundled {
    /// The reason why the packages cannot be bundled; `None` when one module contains everything.
    pub(super) obstacle: Option<String>,
    /// The imported files, if they could be determined.
    pub(super) reached: Option<Vec<PathBuf>>,
}

impl Bundling<'_> {
    /// Bundles own modules and packages into `output`, but for the platform package of this version if it can be a
    /// module of its own.
    pub(super) async fn with_packages(
        &self,
        output: &Path,
        platform: Option<&str>,
    ) -> BuildResult<Bundled> {
        if let Some(version) = platform
            && let Some(bundled) = self.beside_platform(output, version).await?
        {
            return Ok(bundled);
        }
        let file = output.join(artifact::ENTRY);
        let to_file = ["--output".into(), file.clone().into()];
        let entry = self.sources.entry.as_path();
        let step = self.bundle(LOCKED, to_file, &[entry]).await?;
        if !step.success {
            let error = step.error();
            if self.is_wrong_in_every_form(&error) {
                if error.starts_with(NO_PACKAGE) {
                    // The package may have been unavailable.
                    download(self.tool, self.folder, &self.sources.packages).await?;
                }
                return Err(not_resolved(self.readable(&error)));
            }
            return Ok(Bundled {
                obstacle: Some(error),
                reached: None,
            });
        }
        let bundle = self.read(&file).await?;
        let obstacle = markers::unbundlable(&bundle.code);
        let reached = Some(files(&bundle, &file));
        if obstacle.is_none() {
            self.write(&file, bundle).await?;
        }
        Ok(Bundled { obstacle, reached })
    }

    /// The same with the platform package apart. `None` if the component has to have it for itself, or cannot be
    /// bundled at all.
    async fn beside_platform(&self, output: &Path, version: &str) -> BuildResult<Option<Bundled>> {
        let entry = self.sources.entry.as_path();
        let Some(split) = self.split(entry, version).await? else {
            return Ok(None);
        };
        let mut bundle = split.component;
        let Some(importer) = Importer::of(&bundle.code, &split.common) else {
            return Ok(None);
        };
        let obstacle = markers::unbundlable(&bundle.code);
        let obstacle = obstacle.or_else(|| markers::unbundlable(&split.common));
        if obstacle.is_none() {
            let (text, map) = self.finished(split.shared, shared_modules::SOURCE_MAP);
            let specifier = shared_modules::write(output, &text, &map);
            bundle.code = importer.linked(&specifier.map_err(|error| disk(output, &error))?);
            self.write(&output.join(artifact::ENTRY), bundle).await?;
        }
        Ok(Some(Bundled {
            obstacle,
            reached: Some(split.reached),
        }))
    }

    /// Bundles `entry` and the platform package of this version apart. `None` if they cannot be.
    pub(super) async fn split(&self, entry: &Path, version: &str) -> BuildResult<Option<Split>> {
        let platform = self.folder.join(PLATFORM_MODULE);
        let written = tokio::fs::write(&platform, platform_module::source(version)).await;
        written.map_err(|error| disk(&platform, &error))?;
        let apart = self.folder.join(APART);
        let to_folder = ["--outdir".into(), apart.clone().into()];
        let step = self
            .bundle(LOCKED_AND_SPLIT, to_folder, &[entry, &platform])
            .await?;
        if !step.success {
            return Ok(None);
        }
        let Some((file, common)) = modules_in(&apart).map_err(|error| disk(&apart, &error))? else {
            return Ok(None);
        };
        let (component, mut shared) = (self.read(&file).await?, self.read(&common).await?);
        let platform = platform_in(&apart);
        let platform = tokio::fs::read_to_string(&platform).await;
        let platform = platform.map_err(|error| disk(&apart, &error))?;
        let for_all = platform_module::for_all(&shared.code, &platform);
        let reached = [files(&component, &file), files(&shared, &common)].concat();
        Ok(for_all.map(|code| Split {
            component,
            common: std::mem::replace(&mut shared.code, code),
            shared,
            reached,
        }))
    }

    /// Whether the other form would fail too: an own module imports a missing file.
    fn is_wrong_in_every_form(&self, error: &str) -> bool {
        let own =
            Url::from_directory_path(self.code).is_ok_and(|code| error.contains(code.as_str()));
        // The bundler may read another file of a package than Node does, with other exports.
        let of_package = error
            .lines()
            .next()
            .is_some_and(|line| line.starts_with(NO_EXPORT) && line.contains("/npm/"));
        let missing = [NO_EXPORT, "Could not resolve"]
            .iter()
            .any(|start| error.starts_with(start));
        own && missing && !of_package
    }

    /// Bundles own modules only into `output`; imports of packages stay as they are written.
    pub(super) async fn without_packages(&self, output: &Path) -> BuildResult<()> {
        let file = output.join(artifact::ENTRY);
        let packages = self.sources.packages.iter();
        let external = packages.flat_map(|package| ["--external", &package.written]);
        let fixed = ["--config", CONFIG, "--no-lock"];
        let options = Vec::from_iter(fixed.into_iter().chain(external));
        let to_file = ["--output".into(), file.clone().into()];
        let entry = self.sources.entry.as_path();
        let step = self.bundle(&options, to_file, &[entry]).await?;
        if !step.success {
            return Err(not_resolved(self.readable(&step.error())));
        }
        let bundle = self.read(&file).await?;
        self.write(&file, bundle).await
    }

    /// The message of a failed bundling, with files named as their author knows them.
    pub(super) fn readable(&self, error: &str) -> String {
        if self.tells_of_other_files(error) {
            tracing::warn!(
                error,
                "a build failed over a file that is not the component's"
            );
            return OUTSIDE.to_owned();
        }
        let names = self.names();
        names.without_package_folder(&names.readable(error), self.folder, &self.tool.deno_dir)
    }

    /// Whether an error names a file of the machine that is neither the component's nor a package's.
    fn tells_of_other_files(&self, error: &str) -> bool {
        let known = [self.folder, &self.tool.deno_dir].map(|folder| {
            let url = Url::from_directory_path(folder).map(String::from);
            url.unwrap_or_default()
        });
        let mut named = error.match_indices("file:///").map(|(at, _)| &error[at..]);
        named.any(|url| {
            !known
                .iter()
                .any(|known| !known.is_empty() && url.starts_with(known.as_str()))
        })
    }

    pub(super) async fn bundle(
        &self,
        further: &[&str],
        output: [OsString; 2],
        modules: &[&Path],
    ) -> Result<StepOutput, EngineError> {
        let fixed = [
            "bundle",
            "--platform=deno",
            "--format=esm",
            "--sourcemap=inline",
            "--no-remote",
            "--unstable-sloppy-imports",
            "--quiet",
        ];
        // An option with any number of values must not come before the modules.
        let mut arguments = Vec::from_iter(fixed.iter().chain(further).map(OsString::from));
        arguments.extend(output);
        arguments.extend(modules.iter().map(OsString::from));
        let step = self.tool.run(Purpose::Code, self.folder, arguments).await?;
        step.unavailable().map_or(Ok(step), Err)
    }

    pub(super) async fn read(&self, file: &Path) -> BuildResult<Bundle> {
        let text = tokio::fs::read_to_string(file)
            .await
            .map_err(|error| disk(file, &error))?;
        let bundle = Bundle::parse(&text)?;
        if let Some(outside) = data_modules(&bundle.code).find(|name| !self.is_inside(name)) {
            tracing::warn!(
                outside,
                "a bundle has a file in it that is not the component's"
            );
            return Err(not_resolved(OUTSIDE));
        }
        let base = file
            .parent()
            .and_then(|folder| Url::from_directory_path(folder).ok());
        for source in bundle.sources() {
            let url = base.as_ref().and_then(|base| base.join(source).ok());
            // Other files of this machine must not end up in a bundle.
            let known = url.is_some_and(|url| match url.to_file_path() {
                Ok(path) => {
                    path.starts_with(self.code)
                        || path.starts_with(&self.tool.deno_dir)
                        || OF_BUILDS.iter().any(|own| path == self.folder.join(own))
                }
                // Packages' own source maps may name sources by foreign addresses.
                Err(()) => url.scheme() != "file",
            });
            if !known {
                return Err(not_resolved(format!(
                    "the component includes `{source}`, which is not a file of its own"
                )));
            }
        }
        Ok(bundle)
    }

    /// Whether a module that the bundler names, relative to the build folder, is the component's or a package's.
    fn is_inside(&self, name: &str) -> bool {
        let mut path = self.folder.to_owned();
        for part in Path::new(name).components() {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                part => path.push(part),
            }
        }
        path.starts_with(self.code) || path.starts_with(&self.tool.deno_dir)
    }

    pub(super) async fn write(&self, file: &Path, bundle: Bundle) -> BuildResult<()> {
        let (text, map) = self.finished(bundle, artifact::SOURCE_MAP);
        for (file, text) in [
            (file, text),
            (&file.with_file_name(artifact::SOURCE_MAP), map),
        ] {
            tokio::fs::write(file, text)
                .await
                .map_err(|error| disk(file, &error))?;
        }
        Ok(())
    }

    /// A bundle's text and its source map, without paths of this machine.
    pub(super) fn finished(&self, bundle: Bundle, source_map: &str) -> (String, String) {
        let names = self.names();
        let (text, map) = bundle.finish(source_map, |source| names.of_source(source));
        // They also name the modules inside the code.
        let text = names.without_package_folder(&text, self.folder, &self.tool.deno_dir);
        (text, map)
    }

    fn names(&self) -> Names<'_> {
        Names {
            code: self.code,
            origins: &self.sources.origins,
        }
    }
}

/// The platform module in the bundler's folder.
fn platform_in(folder: &Path) -> PathBuf {
    folder.join(PLATFORM_MODULE).with_extension("js")
}

/// The component's module and the one that it has in common with the platform module, in the bundler's folder; `None` if
/// there is anything else.
fn modules_in(folder: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let (mut components, mut common) = (Vec::new(), Vec::new());
    let platform = platform_in(folder);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if kind.is_dir() {
                folders.push(path);
            } else if platform_module::is_common(&path) {
                common.push(path);
            } else if path != platform {
                components.push(path);
            }
        }
    }
    let only = |mut paths: Vec<PathBuf>| paths.pop().filter(|_| paths.is_empty());
    Ok(only(components).zip(only(common)))
}

/// The modules in a bundle's text that may have been made of data: those have no mappings, so that the source map
/// does not list them. The bundler writes a comment before each module; the text after it is a variable here.
fn data_modules(code: &str) -> impl Iterator<Item = &str> {
    let next = code.lines().skip(1);
    code.lines().zip(next).filter_map(|(comment, next)| {
        let name = comment.strip_prefix("// ")?;
        let leads_up = name.starts_with("../") || name.starts_with('/');
        (leads_up && next.starts_with("var ")).then_some(name)
    })
}

/// The files in a bundle that is at `file`.
pub(super) fn files(bundle: &Bundle, file: &Path) -> Vec<PathBuf> {
    let base = file.parent().unwrap_or(file);
    let urls = Url::from_directory_path(base).into_iter().flat_map(|base| {
        bundle
            .sources()
            .filter_map(move |source| base.join(source).ok())
            .collect::<Vec<_>>()
    });
    urls.filter_map(|url| url.to_file_path().ok()).collect()
}

/// The names of sources as their authors know them.
struct Names<'a> {
    code: &'a Path,
    origins: &'a BTreeMap<PathBuf, Url>,
}

impl Names<'_> {
    /// The name of a source given relative to the bundle: its URL if it was fetched, `npm:…` for a
    /// package's file, else its file name.
    fn of_source(&self, source: &str) -> String {
        if let Some((_, package)) = source.split_once("/npm/") {
            // The first part is the registry's host.
            return format!(
                "npm:{}",
                package.split_once('/').map_or(package, |(_, file)| file)
            );
        }
        let folder = self
            .code
            .file_name()
            .map(|name| format!("{}/", name.to_string_lossy()))
            .unwrap_or_default();
        let relative = source.trim_start_matches("../").trim_start_matches(&folder);
        let file = self.code.join(relative);
        self.origins
            .get(&file)
            .map_or_else(|| relative.to_owned(), Url::to_string)
    }

    /// The text with packages' modules named `npm:NAME/VERSION/FILE`, instead of by the way that leads from
    /// the build folder to Deno's cache and by the registry's host in there.
    fn without_package_folder(&self, text: &str, folder: &Path, deno_dir: &Path) -> String {
        let common = folder
            .components()
            .zip(deno_dir.components())
            .take_while(|(one, other)| one == other)
            .count();
        let up = folder.components().count() - common;
        let down: PathBuf = deno_dir.components().skip(common).collect();
        let packages = format!("{}{}/npm/", "../".repeat(up), down.display());
        let mut text = text.to_owned();
        // One pass per registry: .npmrc may name several.
        while let Some(at) = text.find(&packages) {
            let rest = &text[at + packages.len()..];
            let Some(host_end) = rest.find('/') else {
                break;
            };
            let registry = format!("{packages}{}/", &rest[..host_end]);
            text = text.replace(&registry, "npm:");
        }
        text
    }

    fn readable(&self, error: &str) -> String {
        let mut error = error.to_owned();
        for (file, url) in self.origins {
            if let Ok(file) = Url::from_file_path(file) {
                error = error.replace(file.as_str(), url.as_str());
            }
        }
        let folder = Url::from_directory_path(self.code)
            .map(String::from)
            .unwrap_or_default();
        error.replace(&folder, "")
    }
}
