//! Detecting the language of a text without a file name, and writing it as a module.

use std::path::{Path, PathBuf};

use super::{
    command::DenoTool,
    failure::{BuildResult, disk},
    graph::{self, Graph, SyntaxError},
    imports::OwnModules,
    lone,
    script::is_common_js,
    specifier::PackageImport,
};

/// The endings that determine the language.
const KNOWN: &[&str] = &["mjs", "js", "cjs", "ts", "mts", "cts", "jsx", "tsx"];

/// A module that was written and judged.
pub(super) struct Written {
    pub(super) file: PathBuf,
    pub(super) known: Known,
}

/// The known imports of a written module.
pub(super) enum Known {
    /// All there are: it needs these packages and no other file.
    Alone(Vec<PackageImport>),
    /// Those that Deno found, to detect the language.
    Graph(Graph),
    Nothing,
}

/// Writes `code` into `folder` as `stem` with the ending of its language. A stem that has an ending keeps it.
///
/// Text with module statements is tried as JavaScript first, then as TypeScript. When neither parses,
/// the error is that of the attempt that got further.
pub(super) async fn write_module(
    tool: &DenoTool,
    folder: &Path,
    own: &mut OwnModules<'_>,
    stem: &Path,
    code: &str,
) -> BuildResult<Written> {
    let full = folder.join(stem);
    if full
        .extension()
        .is_some_and(|ending| KNOWN.iter().any(|known| ending == *known))
    {
        return write(own, full, code).await;
    }
    if is_common_js(code) {
        return write(own, with_ending(&full, "cjs"), code).await;
    }
    let mut failures = Vec::new();
    for ending in ["mjs", "ts"] {
        let written = write(own, with_ending(&full, ending), code).await?;
        if let Known::Alone(_) = written.known {
            return Ok(written);
        }
        let file = written.file;
        match graph::read(tool, folder, None, &file).await? {
            Ok(graph) => match own.unreadable(&file) {
                None => {
                    let known = Known::Graph(graph);
                    return Ok(Written { file, known });
                }
                // Deno forgives JavaScript the types of TypeScript.
                Some(reason) => failures.push(SyntaxError {
                    message: reason.to_owned(),
                }),
            },
            Err(error) => failures.push(error),
        }
        tokio::fs::remove_file(&file)
            .await
            .map_err(|error| disk(&file, &error))?;
    }
    let furthest = failures.iter().rev().max_by_key(|error| error.position());
    match furthest {
        Some(error) => error.reject(folder),
        None => Ok(Written {
            file: full,
            known: Known::Nothing,
        }),
    }
}

/// Writes a module and judges it.
async fn write(own: &mut OwnModules<'_>, file: PathBuf, code: &str) -> BuildResult<Written> {
    if let Some(parent) = file.parent() {
        tokio::fs::create_dir_all(parent)
            .await
            .map_err(|error| disk(parent, &error))?;
    }
    tokio::fs::write(&file, code)
        .await
        .map_err(|error| disk(&file, &error))?;
    own.judge(std::slice::from_ref(&file)).await?;
    let imports = own.imports(&file);
    let packages = imports.and_then(|imports| lone::packages(&file, code, imports));
    let known = packages.map_or(Known::Nothing, Known::Alone);
    Ok(Written { file, known })
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", path.display()))
}
