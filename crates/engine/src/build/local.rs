//! Bundling a component file of the user's machine for sending: only the files it imports by relative
//! paths go in; every package stays as written, for the server to resolve and lock.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    command::{DenoTool, Program, Purpose, StepOutput},
    source_map::Bundle,
};
use crate::{
    api::EngineError,
    deno::{Bundler, BundlerSource},
};

/// Resolves only local files, as leniently as component code is written: imports without an extension, built-ins
/// without `node:`. A configuration file in the folder must not change the result.
const LOCAL_ONLY: [&str; 6] = [
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--unstable-sloppy-imports",
    "--unstable-bare-node-builtins",
];

/// Stands in for a package while the graph is built; being external, it is never loaded.
const STUB: &str = "data:text/javascript,";

/// Marks a bundle in which Deno wrapped `require` of a package, which hides it from the server.
const WRAPPED_REQUIRE: &str = "__deno_internal_createRequire";

/// The configuration of bundling a local file.
#[derive(Debug, Clone)]
pub struct LocalBundling {
    /// Deno, as [`crate::deno::locate`] found it.
    pub deno: PathBuf,
    /// The user's cache folder, below which Deno has its own.
    pub cache_dir: PathBuf,
    /// The same as in [`super::BuilderConfig`].
    pub registry_env: Vec<(OsString, OsString)>,
}

impl LocalBundling {
    /// Deno with the caller's rights.
    pub(super) fn tool(&self) -> DenoTool {
        let deno_dir = self.cache_dir.join("deno-dir");
        let source = BundlerSource {
            deno: self.deno.clone(),
            kept_in: None,
            registry_env: self.registry_env.clone(),
        };
        DenoTool {
            program: Program::OnOwnFiles(self.deno.clone()),
            bundler: Arc::new(Bundler::new(source, deno_dir.clone())),
            deno_dir,
            registry_env: [
                self.registry_env.clone(),
                vec![("DENO_NO_PACKAGE_JSON".into(), "1".into())],
            ]
            .concat(),
        }
    }
}

#[derive(Deserialize)]
struct Info {
    modules: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    /// The file's place; absent for a module that is not a file.
    local: Option<PathBuf>,
    #[serde(default)]
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    specifier: String,
}

/// A bundled file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalBundle {
    /// One text with the local imports inlined; `None` when the file stands alone and is to be sent as
    /// it is.
    pub code: Option<String>,
    /// The file and all files that it imports by relative paths, directly or indirectly.
    pub files: Vec<PathBuf>,
}

/// Inlines the local imports of a file.
///
/// # Errors
/// The file cannot be read, does not parse, or imports a file that is not there.
pub async fn bundle_local(config: &LocalBundling, file: &Path) -> Result<LocalBundle, EngineError> {
    let bundling = Bundling::of(config, file)?;
    bundling.tool.bundler.ready().await?;
    let info = bundling.run("info", &["--json".into()]).await?;
    let info: Info = serde_json::from_str(&info).map_err(|error| bundling.failed(error))?;
    let files = info
        .modules
        .iter()
        .filter_map(|module| module.local.clone());
    let files = files.collect();
    let code = bundling.code(info).await?;
    Ok(LocalBundle { code, files })
}

fn is_local(specifier: &str) -> bool {
    specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..")
}

/// A file being bundled.
struct Bundling {
    tool: DenoTool,
    folder: PathBuf,
    name: OsString,
    shown: String,
}

impl Bundling {
    fn of(config: &LocalBundling, file: &Path) -> Result<Self, EngineError> {
        let shown = file.display().to_string();
        let full = file
            .canonicalize()
            .map_err(|error| unbundled(&shown, error))?;
        let name = full.file_name().unwrap_or(OsStr::new("component"));
        Ok(Self {
            tool: config.tool(),
            name: Path::new(".").join(name).into_os_string(),
            folder: full.parent().unwrap_or(Path::new("/")).to_owned(),
            shown,
        })
    }

    fn failed(&self, reason: impl ToString) -> EngineError {
        unbundled(&self.shown, reason)
    }

    /// The text with local imports inlined, if there are any.
    async fn code(&self, info: Info) -> Result<Option<String>, EngineError> {
        let specifiers = info
            .modules
            .into_iter()
            .flat_map(|module| module.dependencies);
        let (local, packages): (BTreeSet<_>, BTreeSet<_>) = specifiers
            .map(|dependency| dependency.specifier)
            .partition(|specifier| is_local(specifier));
        if local.is_empty() {
            return Ok(None);
        }
        let code = self.bundle(&packages, "--format=esm").await?;
        if code.contains(WRAPPED_REQUIRE) {
            return self.bundle(&packages, "--format=cjs").await.map(Some);
        }
        Ok(Some(code))
    }

    async fn bundle(
        &self,
        packages: &BTreeSet<String>,
        format: &str,
    ) -> Result<String, EngineError> {
        let scratch = tempfile::tempdir().map_err(|error| self.failed(error))?;
        // Deno resolves the graph before its bundler applies externals: an import map makes that succeed.
        let import_map = scratch.path().join("import-map.json");
        std::fs::write(&import_map, import_map_of(packages).to_string())
            .map_err(|error| self.failed(error))?;
        let fixed = [
            "--quiet",
            "--platform=deno",
            "--sourcemap=inline",
            format,
            "--import-map",
        ];
        let mut arguments: Vec<OsString> = fixed.map(OsString::from).to_vec();
        arguments.push(import_map.into());
        // With `=`: the flag would take all that follows for its values.
        arguments.extend(
            packages
                .iter()
                .map(|name| format!("--external={name}").into()),
        );
        let text = self.run("bundle", &arguments).await?;
        let bundle = Bundle::parse(&text).map_err(|_| self.failed("it has no source map"))?;
        // Stacks then name the files and lines of the original source.
        Ok(bundle.inline(|source| source.trim_start_matches("../").to_owned()))
    }

    /// Runs from the file's folder, so that the result does not depend on the current folder.
    async fn run(&self, subcommand: &str, arguments: &[OsString]) -> Result<String, EngineError> {
        let mut all: Vec<OsString> = vec![subcommand.into()];
        all.extend(LOCAL_ONLY.map(OsString::from));
        all.extend_from_slice(arguments);
        all.push(self.name.clone());
        let step: StepOutput = self.tool.run(Purpose::Code, &self.folder, all).await?;
        if let Some(unavailable) = step.unavailable() {
            return Err(unavailable);
        }
        if !step.success {
            return Err(self.failed(step.error()));
        }
        Ok(step.stdout)
    }
}

fn unbundled(file: &str, reason: impl ToString) -> EngineError {
    EngineError::Unavailable {
        context: format!("cannot bundle {file}"),
        reason: reason.to_string(),
    }
}

fn import_map_of(packages: &BTreeSet<String>) -> Value {
    let imports: Map<_, _> = packages
        .iter()
        .filter(|specifier| !specifier.starts_with("node:"))
        .map(|specifier| (specifier.clone(), Value::from(STUB)))
        .collect();
    json!({ "imports": imports })
}
