//! Which packages there are, and which modules of theirs the node takes for components.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::options::Options;
use crate::{component_packages::PACKAGES, node::Node};

/// A file of a package at the version it has now.
#[derive(Debug, Clone)]
pub(super) struct Module {
    /// Name and version.
    pub(super) package: String,
    pub(super) path: String,
}

impl Module {
    /// The address that a user would save.
    pub(super) fn url(&self) -> String {
        format!("npm:{}/{}", self.package, self.path)
    }
}

/// The modules of the packages that are asked for.
pub(super) fn modules(node: &Node, options: &Options) -> Result<Vec<Module>> {
    let asked = options.packages.iter().map(String::as_str);
    let known = PACKAGES.iter().copied();
    let names: Vec<&str> = match options.packages.is_empty() {
        true => known.collect(),
        false => asked.collect(),
    };
    let mut modules = Vec::new();
    for name in names {
        let listed = node
            .get(&format!("/v1/packages/modules?specifier=npm:{name}"))
            .and_then(|answer| listed(&answer))
            .with_context(|| format!("listing the modules of {name}"))?;
        let limit = options.limit.unwrap_or(usize::MAX);
        modules.extend(listed.into_iter().take(limit));
    }
    Ok(modules)
}

fn listed(answer: &Value) -> Result<Vec<Module>> {
    let data = &answer["data"];
    let specifier = data["specifier"]
        .as_str()
        .context("the answer names no package")?;
    let package = specifier.trim_start_matches("npm:").to_owned();
    let paths = data["modules"]
        .as_array()
        .context("the answer lists no modules")?;
    let paths = paths.iter().filter_map(|path| path.as_str());
    let modules = paths.map(|path| Module {
        package: package.clone(),
        path: path.to_owned(),
    });
    Ok(modules.collect())
}
