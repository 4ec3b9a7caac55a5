//! Bundling a component file of the user's machine for sending: only the files it imports by relative
//! paths go in; every package stays as written, for the server to resolve and lock.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::command::{DenoTool, StepOutput};
use crate::api::EngineError;

/// Resolve nothing but local files, and those as leniently as component code is written: imports
/// without an extension, built-ins without `node:`. A configuration that happens to lie around must
/// not decide what is sent.
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

/// Marks a bundle in which Deno had to wrap `require` of a package, out of the server's sight.
const WRAPPED_REQUIRE: &str = "__deno_internal_createRequire";

/// What bundling a local file needs.
#[derive(Debug, Clone)]
pub struct LocalBundling {
    /// Deno, as [`crate::deno::locate`] found it.
    pub deno: PathBuf,
    /// The user's cache folder: Deno gets its bundler from the registry once.
    pub cache_dir: PathBuf,
    /// As in [`super::BuilderConfig`].
    pub registry_env: Vec<(OsString, OsString)>,
}

#[derive(Deserialize)]
struct Info {
    modules: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    specifier: String,
}

/// One text with the file's local imports inlined; `None` when the file stands alone and is to be
/// sent as it is.
///
/// # Errors
/// The file cannot be read, does not parse, or imports a file that is not there.
pub async fn bundle_local(
    config: &LocalBundling,
    file: &Path,
) -> Result<Option<String>, EngineError> {
    let bundling = Bundling::of(config, file)?;
    let info = bundling.run("info", &["--json".into()]).await?;
    let info: Info = serde_json::from_str(&info).map_err(|error| bundling.failed(error))?;
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
    let code = bundling.bundle(&packages, "--format=esm").await?;
    if code.contains(WRAPPED_REQUIRE) {
        return bundling.bundle(&packages, "--format=cjs").await.map(Some);
    }
    Ok(Some(code))
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
            tool: DenoTool {
                deno: config.deno.clone(),
                deno_dir: config.cache_dir.join("deno-dir"),
                registry_env: [
                    config.registry_env.clone(),
                    vec![("DENO_NO_PACKAGE_JSON".into(), "1".into())],
                ]
                .concat(),
            },
            name: Path::new(".").join(name).into_os_string(),
            folder: full.parent().unwrap_or(Path::new("/")).to_owned(),
            shown,
        })
    }

    fn failed(&self, reason: impl ToString) -> EngineError {
        unbundled(&self.shown, reason)
    }

    async fn bundle(
        &self,
        packages: &BTreeSet<String>,
        format: &str,
    ) -> Result<String, EngineError> {
        let scratch = tempfile::tempdir().map_err(|error| self.failed(error))?;
        // Deno's graph has to resolve before its bundler sees what is external: an import map lets it.
        let import_map = scratch.path().join("import-map.json");
        std::fs::write(&import_map, import_map_of(packages).to_string())
            .map_err(|error| self.failed(error))?;
        let mut arguments: Vec<OsString> = ["--quiet", "--platform=deno", format, "--import-map"]
            .map(OsString::from)
            .to_vec();
        arguments.push(import_map.into());
        // With `=`: the flag would take all that follows for its values.
        arguments.extend(
            packages
                .iter()
                .map(|name| format!("--external={name}").into()),
        );
        self.run("bundle", &arguments).await
    }

    /// Runs from the file's folder, so that the result does not depend on where the person stands.
    async fn run(&self, subcommand: &str, arguments: &[OsString]) -> Result<String, EngineError> {
        let mut all: Vec<OsString> = vec![subcommand.into()];
        all.extend(LOCAL_ONLY.map(OsString::from));
        all.extend_from_slice(arguments);
        all.push(self.name.clone());
        let step: StepOutput = self.tool.run(&self.folder, all).await?;
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
