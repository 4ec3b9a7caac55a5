//! Workflows as Pipedream writes them into a repository: each folder that has a `workflow.yaml`, byte for byte.

use super::incoming::{Files, Incoming};
use super::tree::Tree;
use crate::workflow::folder::DEFINITION_FILE;

/// The workflows of a tree. `name` is the folder of one that lies outermost.
pub(super) fn workflows(tree: &Tree, name: &str) -> Vec<Incoming> {
    let folders = folders(tree);
    folders
        .into_iter()
        .map(|folder| workflow(tree, folder, name))
        .collect()
}

/// The folders with a definition, each with a `/` at its end, without those within another one.
fn folders(tree: &Tree) -> Vec<&str> {
    let mut found = Vec::<&str>::new();
    let paths = tree
        .paths()
        .filter_map(|path| path.strip_suffix(DEFINITION_FILE));
    let mut all: Vec<&str> = paths
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
        .collect();
    all.sort_unstable();
    for folder in all {
        let is_within = found.last().is_some_and(|last| folder.starts_with(last));
        if !is_within {
            found.push(folder);
        }
    }
    found
}

fn workflow(tree: &Tree, folder: &str, name: &str) -> Incoming {
    let paths = tree.below(folder);
    let read = |path: &str| {
        let bytes = tree.read(&format!("{folder}{path}"));
        let bytes = bytes.map_err(|error| format!("{error:#}"))?;
        Ok((path.to_owned(), bytes))
    };
    Incoming {
        folder: match folder.strip_suffix('/') {
            Some(folder) => folder.to_owned(),
            None => name.to_owned(),
        },
        files: paths.map(read).collect::<Result<Files, String>>(),
        original: None,
        not_understood: Vec::new(),
        left_out: tree.left_out(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_with_a_definition_is_a_workflow_with_all_of_its_files() {
        let mut tree = Tree::default();
        for path in [
            "README.md",
            "a-p_1/workflow.yaml",
            "a-p_1/one/entry.js",
            "a-p_1/tests/workflow.yaml",
            "nested/b-p_2/.workflow.state",
            "nested/b-p_2/workflow.yaml",
            "nested/my-workflow.yaml",
        ] {
            tree.add(path, path.into()).unwrap();
        }
        let found = workflows(&tree, "x");
        let found: Vec<_> = found
            .iter()
            .map(|one| {
                let files = one.files.as_ref().unwrap();
                (
                    one.folder.as_str(),
                    files.keys().map(String::as_str).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (
                    "a-p_1",
                    vec!["one/entry.js", "tests/workflow.yaml", "workflow.yaml"]
                ),
                ("nested/b-p_2", vec![".workflow.state", "workflow.yaml"]),
            ]
        );
        let mut alone = Tree::default();
        alone.add("workflow.yaml", Vec::new()).unwrap();
        assert_eq!(workflows(&alone, "x")[0].folder, "x");
    }
}
