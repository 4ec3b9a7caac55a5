//! The components of one package: its files, as a node describes them by their text.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::file::Component;
use crate::{
    command::{output, run},
    node::Node,
};

/// The folders of a package that have components.
const FOLDERS: [&str; 2] = ["actions", "sources"];
/// The most that the node lists at once.
const PAGE: usize = 100;

/// The package's version now, and its components in the order of their keys.
pub(super) fn of(node: &Node, name: &str, folder: &Path) -> Result<(String, Vec<Component>)> {
    let packed = output(
        Command::new("npm")
            .args(["pack", "--silent", "--ignore-scripts", name])
            .current_dir(folder),
    )?;
    let archive = folder.join(packed.trim());
    let files = folder.join(name.replace('/', "+"));
    std::fs::create_dir(&files)?;
    run(Command::new("tar")
        .args(["--strip-components=1", "-xzf"])
        .arg(&archive)
        .arg("-C")
        .arg(&files))?;
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(files.join("package.json"))?)?;
    let version = manifest["version"].as_str();
    let version = version.context("the package has no version")?.to_owned();
    let mut paths = BTreeMap::new();
    for file in code_files(&files)? {
        let path = file.strip_prefix(&files)?.to_str();
        let path = path.context("a file's name is not UTF-8")?;
        if let Some(key) = published(node, path, &std::fs::read_to_string(&file)?)? {
            paths.insert(key, path.to_owned());
        }
    }
    let listed = listed(node, &paths)?;
    Ok((version, listed))
}

/// The key under which the node has the file now, if it is a component.
fn published(node: &Node, path: &str, code: &str) -> Result<Option<String>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let body = json!({ "files": { name: code }, "components": [name] });
    let answer = node.post("/v1/registry/folders", &body)?;
    let result = &answer["data"][0];
    match (result["refused"].as_str(), result["key"].as_str()) {
        (None | Some(""), Some(key)) => Ok(Some(key.to_owned())),
        _ => Ok(None),
    }
}

/// The node's descriptions of the components with these keys.
fn listed(node: &Node, paths: &BTreeMap<String, String>) -> Result<Vec<Component>> {
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let answer = node.get(&format!("/v1/components?limit={PAGE}{after}"))?;
        let page = answer["data"].as_array().context("a list of components")?;
        found.extend(
            page.iter()
                .filter_map(|component| described(component, paths)),
        );
        if page.len() < PAGE {
            break;
        }
        let cursor = answer["page_info"]["end_cursor"].as_str();
        after = format!("&after={}", cursor.context("a full page has a cursor")?);
    }
    if found.len() != paths.len() {
        bail!(
            "the node lists {} of {} components",
            found.len(),
            paths.len()
        );
    }
    found.sort();
    Ok(found)
}

fn described(component: &Value, paths: &BTreeMap<String, String>) -> Option<Component> {
    let text = |field: &str| {
        let text = component[field].as_str().unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let key = text("key");
    let path = paths.get(&key)?.clone();
    Some(Component {
        key,
        kind: text("type"),
        version: text("version"),
        path,
        name: text("name"),
        description: text("description"),
    })
}

/// The modules where a package has components, in the order of their paths.
fn code_files(package: &Path) -> Result<Vec<PathBuf>> {
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|name| package.join(name)).collect();
    open.retain(|folder| folder.is_dir());
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            let is_code = path.extension().is_some_and(|it| it == "mjs" || it == "js");
            match entry.file_type()?.is_dir() {
                true => open.push(path),
                false if is_code => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
