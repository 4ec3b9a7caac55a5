//! Calling Deno: where it is, and the two subcommands that bundling needs. What is asked of them
//! is decided by the caller.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};
use tokio::process::Command;

/// Resolve nothing but local files, and those as leniently as component code is written: imports
/// without an extension, built-ins without `node:`. A `deno.json` or `package.json` that happens
/// to lie around must not decide what is sent.
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

/// Marks a bundle in which Deno had to wrap `require` of a package, out of the node's sight.
const WRAPPED_REQUIRE: &str = "__deno_internal_createRequire";

/// `HEADWATER_DENO`, else `deno` on the path.
pub(super) fn locate() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("HEADWATER_DENO").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join("deno"))
        .find(|path| path.is_file())
        .context(
            "Deno was not found: install it, for instance with `npm install -g deno`, or set \
             HEADWATER_DENO to its path",
        )
}

/// The module graph of a file, as JSON.
pub(super) async fn info(deno: &Path, file: &Path) -> Result<String> {
    let mut command = Command::new(deno);
    command.args(["info", "--json"]).args(LOCAL_ONLY);
    run(&mut command, file).await
}

/// One text with the file's local imports inlined and the given packages left as they are.
pub(super) async fn bundle(
    deno: &Path,
    file: &Path,
    packages: &BTreeSet<String>,
) -> Result<String> {
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    // Deno's graph has to resolve before its bundler sees what is external: an import map lets it.
    let import_map = scratch.path().join("import-map.json");
    std::fs::write(&import_map, import_map_of(packages).to_string())?;
    let bundle_as = |format: &'static str| {
        let mut command = Command::new(deno);
        command
            .args(["bundle", "--quiet", "--platform=deno", format])
            .args(LOCAL_ONLY)
            .arg("--import-map")
            .arg(&import_map)
            // With `=`: the flag would take all that follows for its values.
            .args(packages.iter().map(|name| format!("--external={name}")));
        command
    };
    let code = run(&mut bundle_as("--format=esm"), file).await?;
    if code.contains(WRAPPED_REQUIRE) {
        return run(&mut bundle_as("--format=cjs"), file).await;
    }
    Ok(code)
}

fn import_map_of(packages: &BTreeSet<String>) -> Value {
    let imports: Map<_, _> = packages
        .iter()
        .filter(|specifier| !specifier.starts_with("node:"))
        .map(|specifier| (specifier.clone(), Value::from(STUB)))
        .collect();
    json!({"imports": imports})
}

/// Runs from the file's folder, so that the result does not depend on where the person stands.
async fn run(command: &mut Command, file: &Path) -> Result<String> {
    let name = file.file_name().unwrap_or(OsStr::new("component"));
    let folder = file.parent().unwrap_or(Path::new("."));
    let output = command
        .arg(Path::new(".").join(name))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("DENO_NO_PACKAGE_JSON", "1")
        .env("DENO_NO_UPDATE_CHECK", "1")
        .stdin(std::process::Stdio::null())
        .output()
        .await
        .context("cannot start Deno")?;
    if !output.status.success() {
        bail!("{}", complaint(&output));
    }
    String::from_utf8(output.stdout).context("Deno's output is not UTF-8")
}

/// What Deno says, without its own backtrace.
fn complaint(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.split("\nStack backtrace:").next().unwrap_or_default();
    match said.trim() {
        "" => format!("Deno ended with {}", output.status),
        said => said.to_owned(),
    }
}
