//! Workflows of an exported project: an archive with a `manifest.json`, which lists every workflow, and a JSON file for
//! each workflow that was exported. Pipedream documents what is in these files (triggers, steps, code, control flow),
//! but not the names of their fields. They are read tolerantly, everything that was not understood is told, and the
//! JSON stays beside the folder.

mod control;
mod fields;
mod state;
mod step;
mod triggers;
mod workflow;
mod yaml;

use anyhow::{Context as _, Result};
use serde_json::Value;

use self::fields::Fields;
use super::incoming::{Incoming, Listed};
use super::tree::Tree;

const MANIFEST: &str = "manifest.json";

pub(super) fn workflows(tree: &Tree) -> Result<Listed> {
    let mut listed = Listed::default();
    let mut known = Vec::new();
    for path in tree.paths().filter(|path| is_workflow(path)) {
        let bytes = tree.read(path)?;
        let (incoming, id) = workflow::read(path, bytes);
        known.extend([path.to_owned()].into_iter().chain(id));
        listed.workflows.push(incoming);
    }
    tell_apart(&mut listed.workflows);
    if tree.has(MANIFEST) {
        let manifest = serde_json::from_slice(&tree.read(MANIFEST)?)
            .with_context(|| format!("`{MANIFEST}` is not JSON; export the project again"))?;
        listed.missing = missing(&manifest, &known);
    }
    Ok(listed)
}

fn is_workflow(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".json") && !name.starts_with('.') && path != MANIFEST
}

/// Gives a number to the second of two workflows whose folders would have the same name.
fn tell_apart(workflows: &mut [Incoming]) {
    for index in 1..workflows.len() {
        let (before, rest) = workflows.split_at_mut(index);
        let incoming = &mut rest[0];
        let is_taken = |name: &str| before.iter().any(|other| other.folder == name);
        let wanted = incoming.folder.clone();
        let mut number = 1;
        while is_taken(&incoming.folder) {
            number += 1;
            incoming.folder = format!("{wanted}-{number}");
        }
        if number > 1
            && let Some((name, _)) = &mut incoming.original
        {
            *name = format!("{}.json", incoming.folder);
        }
    }
}

/// The workflows of the manifest that no file belongs to: some cannot be exported.
fn missing(manifest: &Value, known: &[String]) -> Vec<String> {
    let entries = match manifest {
        Value::Array(entries) => entries.clone(),
        Value::Object(object) => {
            let mut unread = Vec::new();
            let mut fields = Fields::new(object.clone(), MANIFEST, &mut unread);
            fields
                .list(&["workflows", "items", "entries", "files"])
                .unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let is_known = |entry: &&Value| {
        texts(entry).into_iter().any(|text| {
            let named = text.trim_start_matches("./");
            known
                .iter()
                .any(|known| known == named || known.ends_with(&format!("/{named}")))
        })
    };
    let missing = entries.iter().filter(|entry| !is_known(entry));
    missing.map(|entry| texts(entry).join(", ")).collect()
}

/// The texts of an entry: its name, id, path and status, however they are called.
fn texts(entry: &Value) -> Vec<&str> {
    match entry {
        Value::String(text) => vec![text],
        Value::Object(fields) => fields.values().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tree(files: &[(&str, Value)]) -> Tree {
        let mut tree = Tree::default();
        for (path, value) in files {
            tree.add(path, value.to_string().into_bytes()).unwrap();
        }
        tree
    }

    #[test]
    fn each_file_is_a_workflow_and_the_manifest_tells_what_is_missing() {
        let tree = tree(&[
            (
                MANIFEST,
                json!({"project_id": "proj_1", "workflows": [
                    {"id": "p_aaaaaa", "name": "A", "path": "Sales/a.json"},
                    {"id": "p_bbbbbb", "name": "A", "path": "elsewhere.json"},
                    {"id": "p_cccccc", "name": "C", "status": "skipped", "reason": "draft"},
                ]}),
            ),
            (
                "Sales/a.json",
                json!({"id": "p_aaaaaa", "name": "A", "steps": []}),
            ),
            (
                "Sales/b.json",
                json!({"id": "p_bbbbbb", "name": "A", "steps": []}),
            ),
            ("Sales/x.json", json!({"name": "Same", "steps": []})),
            ("Sales/y.json", json!({"name": "Same", "steps": []})),
            ("notes.json", json!(["not a workflow"])),
        ]);
        let listed = workflows(&tree).unwrap();
        let folders: Vec<_> = listed
            .workflows
            .iter()
            .map(|one| one.folder.as_str())
            .collect();
        assert_eq!(
            folders,
            [
                "Sales/a-p_aaaaaa",
                "Sales/a-p_bbbbbb",
                "Sales/same",
                "Sales/same-2",
                "notes"
            ]
        );
        assert_eq!(
            listed.workflows[3].original.as_ref().unwrap().0,
            "Sales/same-2.json"
        );
        assert!(listed.workflows[4].files.is_err());
        assert_eq!(listed.missing, ["p_cccccc, C, skipped, draft"]);
    }
}
