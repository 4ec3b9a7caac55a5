//! Detecting the language of a text without a file name.

use std::path::{Path, PathBuf};

use super::{
    command::DenoTool,
    failure::{BuildResult, disk},
    graph,
    imports::judge_own,
    script::is_common_js,
};

/// The endings that determine the language.
const KNOWN: &[&str] = &["mjs", "js", "cjs", "ts", "mts", "cts", "jsx", "tsx"];

/// Writes `code` into `folder` as `stem` with the ending of its language, and returns the file's path.
/// A stem that has an ending keeps it.
///
/// Text with module statements is tried as JavaScript first, then as TypeScript. When neither parses,
/// the error is that of the attempt that got further.
pub(super) async fn write_module(
    tool: &DenoTool,
    folder: &Path,
    stem: &Path,
    code: &str,
) -> BuildResult<PathBuf> {
    let full = folder.join(stem);
    if full
        .extension()
        .is_some_and(|ending| KNOWN.iter().any(|known| ending == *known))
    {
        write(&full, code).await?;
        judge_own(tool, folder, vec![full.clone()]).await?;
        return Ok(full);
    }
    if is_common_js(code) {
        let path = with_ending(&full, "cjs");
        write(&path, code).await?;
        judge_own(tool, folder, vec![path.clone()]).await?;
        return Ok(path);
    }
    let mut failures = Vec::new();
    for ending in ["mjs", "ts"] {
        let path = with_ending(&full, ending);
        write(&path, code).await?;
        judge_own(tool, folder, vec![path.clone()]).await?;
        match graph::read(tool, folder, None, &path).await? {
            Ok(_) => return Ok(path),
            Err(error) => failures.push(error),
        }
        tokio::fs::remove_file(&path)
            .await
            .map_err(|error| disk(&path, &error))?;
    }
    let furthest = failures.iter().rev().max_by_key(|error| error.position());
    match furthest {
        Some(error) => error.reject(folder),
        None => Ok(full),
    }
}

async fn write(path: &Path, code: &str) -> BuildResult<()> {
    if let Some(parent) = path.parent() {
        tokio::fs::create_dir_all(parent)
            .await
            .map_err(|error| disk(parent, &error))?;
    }
    tokio::fs::write(path, code)
        .await
        .map_err(|error| disk(path, &error))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", path.display()))
}
