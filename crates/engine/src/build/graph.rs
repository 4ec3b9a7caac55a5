//! A component's own modules and their imports, as `deno info` and a scan for `require` find them.
//! Nothing is downloaded for it and no package is looked into.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use url::Url;

use super::{
    command::{DenoTool, Purpose},
    endings,
    failure::{BuildResult, rejection},
    script::required_specifiers,
};
use crate::api::{BuildStage, EngineError};

/// The graph of modules.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The files that were read.
    pub(super) files: Vec<PathBuf>,
    /// Every import of every file.
    pub(super) imports: Vec<Import>,
}

/// One file importing one thing.
#[derive(Debug)]
pub(super) struct Import {
    /// The importing file.
    pub(super) importer: PathBuf,
    /// The specifier as the code has it.
    pub(super) written: String,
    /// The file it resolves to, which need not exist.
    pub(super) target: Option<PathBuf>,
    /// Whether it is `require`d, which allows a missing extension.
    pub(super) required: bool,
}

/// Deno's error about a file.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) message: String,
}

impl SyntaxError {
    /// Line and column, by which the better of two attempts at a text is chosen.
    pub(super) fn position(&self) -> (u32, u32) {
        let mut numbers = self.message.rsplit(':').map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(column)), Some(Ok(line))) => (line, column),
            _ => (0, 0),
        }
    }

    /// The rejection, naming the file as its author knows it.
    pub(super) fn reject<T>(&self, folder: &Path) -> BuildResult<T> {
        let message = self
            .message
            .strip_prefix("SyntaxError: ")
            .unwrap_or(&self.message);
        let folder = Url::from_directory_path(folder)
            .map(String::from)
            .unwrap_or_default();
        // Fetched modules lie in folders that mirror their addresses.
        let message = ["http", "https"]
            .into_iter()
            .fold(message.to_owned(), |message, scheme| {
                message.replace(&format!("{folder}{scheme}/"), &format!("{scheme}://"))
            });
        Err(rejection(
            BuildStage::Resolve,
            "SyntaxError",
            message.replace(&folder, ""),
        ))
    }
}

#[derive(Deserialize)]
struct Info {
    modules: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    specifier: String,
    local: Option<PathBuf>,
    error: Option<String>,
    #[serde(default)]
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    specifier: String,
    code: Option<Resolution>,
}

#[derive(Deserialize)]
struct Resolution {
    specifier: Option<String>,
}

/// Reads the graph of `entry`, a file in `folder`; `config` is the import map's file.
pub(super) async fn read(
    tool: &DenoTool,
    folder: &Path,
    config: Option<&Path>,
    entry: &Path,
) -> Result<Result<Graph, SyntaxError>, EngineError> {
    let mut arguments = vec![
        "info".into(),
        "--json".into(),
        "--no-lock".into(),
        "--no-remote".into(),
        "--no-npm".into(),
        // Missing endings, and `.js` for TypeScript files.
        "--unstable-sloppy-imports".into(),
    ];
    match config {
        Some(config) => arguments.extend(["--config".into(), config.as_os_str().to_owned()]),
        None => arguments.push("--no-config".into()),
    }
    arguments.push(entry.as_os_str().to_owned());
    let output = tool.run(Purpose::Code, folder, arguments).await?;
    if !output.success && output.stderr.contains("overflowed its stack") {
        return Ok(Err(SyntaxError {
            message: "the code is nested too deeply to be parsed".to_owned(),
        }));
    }
    let info: Info =
        serde_json::from_str(&output.stdout).map_err(|error| EngineError::Unavailable {
            context: "reading a component's imports".into(),
            reason: format!("{error}; {}", output.error()),
        })?;
    let mut graph = Graph::default();
    for module in info.modules {
        let Some(file) = module.local.clone().or_else(|| file_of(&module.specifier)) else {
            continue;
        };
        match &module.error {
            // A file outside of the folder is neither followed nor shown.
            Some(message)
                if file.starts_with(folder)
                    && (message.starts_with("SyntaxError")
                        || message.contains("could not be parsed")) =>
            {
                return Ok(Err(SyntaxError {
                    message: message.clone(),
                }));
            }
            // Missing: the importing file's entry has the error.
            Some(_) => {}
            None => graph.add(file, module.dependencies),
        }
    }
    graph.add_required(folder).await;
    Ok(Ok(graph))
}

impl Graph {
    /// Adds the modules that another entry reaches.
    pub(super) fn merge(&mut self, other: Self) {
        for file in other.files {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
        for import in other.imports {
            if !self
                .imports
                .iter()
                .any(|known| known.importer == import.importer && known.written == import.written)
            {
                self.imports.push(import);
            }
        }
    }

    fn add(&mut self, file: PathBuf, dependencies: Vec<Dependency>) {
        for dependency in dependencies {
            // A module that is imported for its types only is never loaded.
            let Some(code) = dependency.code else {
                continue;
            };
            self.imports.push(Import {
                importer: file.clone(),
                written: dependency.specifier,
                target: code.specifier.as_deref().and_then(file_of),
                required: false,
            });
        }
        self.files.push(file);
    }

    /// Adds the requires of CommonJS files, and the files that are reached only in this way.
    async fn add_required(&mut self, folder: &Path) {
        let mut at = 0;
        while at < self.files.len() {
            let importer = self.files[at].clone();
            at += 1;
            if !importer.starts_with(folder)
                || importer
                    .extension()
                    .is_some_and(|extension| extension == "json")
            {
                continue;
            }
            let Ok(code) = tokio::fs::read_to_string(&importer).await else {
                continue;
            };
            for written in required_specifiers(&code) {
                let relative = written.starts_with('.');
                let target = relative.then(|| required_file(&importer, &written));
                if let Some(target) = target.as_ref().filter(|target| target.is_file())
                    && !self.files.contains(target)
                {
                    self.files.push(target.clone());
                }
                // Deno lists the requires of `.cjs` files too, without trying endings.
                self.imports
                    .retain(|known| known.importer != importer || known.written != written);
                self.imports.push(Import {
                    importer: importer.clone(),
                    written,
                    target,
                    required: true,
                });
            }
        }
    }
}

/// The file that a relative `require` means, or the path as written when there is none.
fn required_file(importer: &Path, written: &str) -> PathBuf {
    let base = importer.parent().unwrap_or(importer).join(written);
    let base = normalized(&base);
    let written = base.to_string_lossy();
    endings::of_require()
        .into_iter()
        .map(|ending| PathBuf::from(ending.apply(&written)))
        .find(|path| path.is_file())
        .unwrap_or(base)
}

/// The path without `.` and `..`, which must not be resolved through links.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

fn file_of(specifier: &str) -> Option<PathBuf> {
    let url = Url::parse(specifier)
        .ok()
        .filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}
