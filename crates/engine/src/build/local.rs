//! Bundling a component file of the user's machine for sending: only the files it imports by relative
//! paths go in; every package stays as written, for the server to resolve and lock.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{
    command::{DenoTool, StepOutput},
    graph::{self, Graph},
    specifier::Specifier,
};
use crate::api::EngineError;

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

/// The text to send for the component in `file`: the file itself when it stands alone.
///
/// # Errors
/// The file cannot be read, does not parse, or imports a file that is not there.
pub async fn bundle_local(config: &LocalBundling, file: &Path) -> Result<String, EngineError> {
    let failed = |reason: String| EngineError::Unavailable {
        context: format!("bundling {}", file.display()),
        reason,
    };
    let full = tokio::fs::canonicalize(file)
        .await
        .map_err(|error| failed(error.to_string()))?;
    let folder = full.parent().unwrap_or(&full);
    let tool = DenoTool {
        deno: config.deno.clone(),
        deno_dir: config.cache_dir.join("deno-dir"),
        registry_env: config.registry_env.clone(),
    };
    // The root as folder: a project's files may import from above the component's own folder.
    let graph = match graph::read(&tool, Path::new("/"), None, &full).await? {
        Ok(graph) => graph,
        Err(error) => return Err(failed(error.message)),
    };
    let relative = graph
        .imports
        .iter()
        .filter(|import| Specifier::parse(&import.written) == Specifier::Relative);
    let targets: Vec<_> = relative
        .map(|import| (import, import.target.as_ref()))
        .collect();
    if let Some((missing, _)) = targets
        .iter()
        .find(|(_, target)| target.is_none_or(|target| !target.is_file()))
    {
        let reason = format!(
            "`{}`, imported by {}, is not there",
            missing.written,
            missing.importer.display()
        );
        return Err(failed(reason));
    }
    if targets.is_empty() {
        return tokio::fs::read_to_string(&full)
            .await
            .map_err(|error| failed(error.to_string()));
    }
    let output = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let bundle = output.path().join("component.mjs");
    let step = run(&tool, folder, &full, &bundle, &graph).await?;
    if !step.success {
        return Err(failed(step.error()));
    }
    tokio::fs::read_to_string(&bundle)
        .await
        .map_err(|error| failed(error.to_string()))
}

async fn run(
    tool: &DenoTool,
    folder: &Path,
    entry: &Path,
    output: &Path,
    graph: &Graph,
) -> Result<StepOutput, EngineError> {
    let fixed = [
        "bundle",
        "--platform=deno",
        "--format=esm",
        "--no-config",
        "--no-lock",
        "--no-remote",
        "--quiet",
    ];
    let mut arguments: Vec<OsString> = fixed.map(OsString::from).to_vec();
    let external = graph.imports.iter().map(|import| &import.written);
    for specifier in external.filter(|written| {
        !matches!(
            Specifier::parse(written),
            Specifier::Relative | Specifier::BuiltIn
        )
    }) {
        arguments.extend(["--external".into(), specifier.into()]);
    }
    arguments.extend(["--output".into(), output.into(), entry.into()]);
    let step = tool.run(folder, arguments).await?;
    step.unavailable().map_or(Ok(step), Err)
}
