//! Files that should be components by their places, and do not say which: nothing can be published of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The reason why such a file is not published.
pub(super) const REASON: &str = "it does not write out its `key` and `version`";
/// The folders in which the registry keeps components: each in a folder of its own name.
const KINDS: [&str; 2] = ["actions", "sources"];
/// The name of folders beside these that have shared code.
const SHARED: &str = "common";
const ENDINGS: [&str; 3] = ["mjs", "ts", "js"];

/// The files that are where components of the registry are, and do not look like any.
pub(super) fn undescribed(folder: &Path, components: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let described: BTreeSet<_> = components.iter().filter_map(|path| path.parent()).collect();
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(within) = open.pop() {
        let at = folder.join(&within);
        let unreadable = || format!("cannot read the folder {}", at.display());
        for entry in std::fs::read_dir(&at).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            let name = entry.file_name();
            let is_looked_into = !name.to_string_lossy().starts_with('.') && name != "node_modules";
            if entry.file_type().with_context(unreadable)?.is_dir() && is_looked_into {
                open.push(within.join(name));
            }
        }
        let is_seen = described.contains(&*within);
        found.extend(registry_file(folder, &within).filter(|_| !is_seen));
    }
    found.sort();
    Ok(found)
}

/// The file that the registry would take for a component in a folder of this path, if it is there.
fn registry_file(folder: &Path, within: &Path) -> Option<PathBuf> {
    let name = within.file_name()?;
    let kind = within.parent()?.file_name()?;
    if name == SHARED || !KINDS.iter().any(|known| kind == *known) {
        return None;
    }
    let files = ENDINGS
        .iter()
        .map(|ending| within.join(name).with_extension(ending));
    files.into_iter().find(|file| folder.join(file).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_where_the_registry_has_components_is_found_unless_it_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [
            "components/b/sources/x/x.mjs",
            "components/b/actions/y/y.mjs",
            "components/b/actions/y/z.mjs",
            "components/b/actions/common/common.mjs",
        ];
        for path in paths {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |described: &[&str]| {
            let described: Vec<_> = described.iter().map(PathBuf::from).collect();
            undescribed(folder.path(), &described).unwrap()
        };
        assert_eq!(found(&[]), [paths[1], paths[0]].map(PathBuf::from));
        assert_eq!(found(&[paths[0]]), [PathBuf::from(paths[1])]);
    }
}
