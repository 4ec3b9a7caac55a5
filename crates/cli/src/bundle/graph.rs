//! The modules a file reaches, as Deno reads them: which local ones, and by which specifiers the
//! packages. Nothing is resolved or fetched: that is the node's part.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::deno;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LocalGraph {
    pub(super) has_local_imports: bool,
    /// Every specifier that names no local file, as written.
    pub(super) packages: BTreeSet<String>,
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

pub(super) async fn read(deno: &Path, file: &Path) -> Result<LocalGraph> {
    let info = deno::info(deno, file).await?;
    let info: Info = serde_json::from_str(&info).context("cannot read Deno's module graph")?;
    Ok(LocalGraph::from(info))
}

impl From<Info> for LocalGraph {
    fn from(info: Info) -> Self {
        let dependencies = info
            .modules
            .into_iter()
            .flat_map(|module| module.dependencies);
        let mut graph = Self::default();
        for Dependency { specifier } in dependencies {
            if is_local(&specifier) {
                graph.has_local_imports = true;
            } else {
                graph.packages.insert(specifier);
            }
        }
        graph
    }
}

fn is_local(specifier: &str) -> bool {
    specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifiers_are_taken_from_every_module() {
        let info = r#"{"version": 1, "roots": ["file:///c/a.mjs"], "modules": [
            {"kind": "esm", "specifier": "file:///c/a.mjs", "dependencies": [
                {"specifier": "axios@0.19.2", "code": {"error": "not a dependency"}},
                {"specifier": "./b.mjs", "code": {"specifier": "file:///c/b.mjs"}}
            ]},
            {"kind": "esm", "specifier": "file:///c/b.mjs", "dependencies": [
                {"specifier": "axios@0.19.2"}, {"specifier": "node:fs"}
            ]},
            {"kind": "node", "specifier": "node:fs", "moduleName": "fs"},
            {"specifier": "file:///c/c.json", "error": "odd"}
        ]}"#;
        let graph = LocalGraph::from(serde_json::from_str::<Info>(info).unwrap());
        assert!(graph.has_local_imports);
        assert_eq!(graph.packages.len(), 2);
        assert!(graph.packages.contains("axios@0.19.2"));
        assert!(graph.packages.contains("node:fs"));
    }
}
