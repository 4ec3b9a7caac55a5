//! Bundling: a component's own modules into one, with or without the packages they import.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use url::Url;

use super::{
    command::{DenoTool, Purpose, StepOutput},
    download::download,
    failure::{BuildResult, disk, not_resolved},
    layout::{CONFIG, LOCK},
    markers,
    source_map::Bundle,
    sources::Sources,
};
use crate::{api::EngineError, artifact};

/// The beginning of the bundler's error about a name that a module does not export.
pub(super) const NO_EXPORT: &str = "No matching export";

/// The beginning of its error about a missing package or module of a package.
pub(super) const NO_PACKAGE: &str = "Could not resolve 'npm:";

/// The rejection of an import outside of the component; the file is not named.
const OUTSIDE: &str = "the component, or a package that it imports, imports a file that is neither the component's nor a package's";

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

/// The result of bundling the packages in.
#[derive(Debug)]
pub(super) struct Bundled {
    /// The reason why the packages cannot be bundled; `None` when one module contains everything.
    pub(super) obstacle: Option<String>,
    /// The imported files, if they could be determined.
    pub(super) reached: Option<Vec<PathBuf>>,
}

impl Bundling<'_> {
    /// Bundles own modules and packages into `output`.
    pub(super) async fn with_packages(&self, output: &Path) -> BuildResult<Bundled> {
        let file = output.join(artifact::ENTRY);
        let step = self
            .bundle(
                &file,
                ["--config", CONFIG, "--lock", LOCK]
                    .map(OsString::from)
                    .to_vec(),
            )
            .await?;
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
        let mut arguments = vec!["--config".into(), CONFIG.into(), "--no-lock".into()];
        for package in &self.sources.packages {
            arguments.extend(["--external".into(), package.written.clone().into()]);
        }
        let step = self.bundle(&file, arguments).await?;
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

    async fn bundle(
        &self,
        output: &Path,
        further: Vec<OsString>,
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
        let mut arguments: Vec<OsString> = fixed.map(OsString::from).to_vec();
        arguments.extend(further);
        arguments.extend([
            "--output".into(),
            output.into(),
            self.sources.entry.clone().into(),
        ]);
        let step = self.tool.run(Purpose::Code, self.folder, arguments).await?;
        step.unavailable().map_or(Ok(step), Err)
    }

    async fn read(&self, file: &Path) -> BuildResult<Bundle> {
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
                Ok(path) => path.starts_with(self.code) || path.starts_with(&self.tool.deno_dir),
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

    async fn write(&self, file: &Path, bundle: Bundle) -> BuildResult<()> {
        let names = self.names();
        let (text, map) = bundle.finish(artifact::SOURCE_MAP, |source| names.of_source(source));
        // Paths of this machine also name the modules inside the code.
        let text = names.without_package_folder(&text, self.folder, &self.tool.deno_dir);
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

    fn names(&self) -> Names<'_> {
        Names {
            code: self.code,
            origins: &self.sources.origins,
        }
    }
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
fn files(bundle: &Bundle, file: &Path) -> Vec<PathBuf> {
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
