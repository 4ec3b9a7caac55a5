//! Versions that the nearest `package.json` of a component's files asks for, to be sent along with the
//! code. Not responsible for their meaning: the node resolves them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The parts of a `package.json` that ask for packages; the first counts.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Manifest {
    dependencies: BTreeMap<String, String>,
    optional_dependencies: BTreeMap<String, String>,
    peer_dependencies: BTreeMap<String, String>,
    dev_dependencies: BTreeMap<String, String>,
}

/// The ranges of packages that `files` may import, the component's own file first: where two ask for the same
/// package, the earlier counts.
pub(super) fn of(files: &[PathBuf]) -> Result<BTreeMap<String, String>> {
    let mut ranges = BTreeMap::new();
    let mut read = Vec::new();
    for file in files {
        let Some(path) = nearest(file).filter(|path| !read.contains(path)) else {
            continue;
        };
        for (name, range) in manifest(&path)?.ranges() {
            ranges.entry(name).or_insert(range);
        }
        read.push(path);
    }
    Ok(ranges)
}

/// The `package.json` in the folder of the file, or in the nearest one above that has one.
fn nearest(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    let folders = file.ancestors().skip(1);
    folders
        .map(|folder| folder.join("package.json"))
        .find(|path| path.is_file())
}

fn manifest(path: &Path) -> Result<Manifest> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| {
        format!(
            "cannot read {}, which has the versions of the component's packages",
            path.display()
        )
    })
}

impl Manifest {
    fn ranges(self) -> impl Iterator<Item = (String, String)> {
        self.dependencies
            .into_iter()
            .chain(self.optional_dependencies)
            .chain(self.peer_dependencies)
            .chain(self.dev_dependencies)
            .filter(|(_, range)| is_of_the_registry(range))
    }
}

/// Whether a range is one of versions: not a folder, an address, a repository, a workspace or another package.
fn is_of_the_registry(range: &str) -> bool {
    !range.trim().is_empty() && !range.contains([':', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_manifest_counts_and_only_versions_of_the_registry_do() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("package.json", r#"{"dependencies": {"outer": "1"}}"#),
            (
                "app/package.json",
                r#"{"dependencies": {"axios": "^0.19", "own": "file:../own", "git": "github:a/b", "ws": "workspace:*"},
                    "devDependencies": {"axios": "1", "chai": ">=4 <5"}, "scripts": {}}"#,
            ),
            ("app/sources/a/a.mjs", ""),
            ("app/common.mjs", ""),
            (
                "other/package.json",
                r#"{"dependencies": {"axios": "2", "lodash": "4"}}"#,
            ),
            ("other/b.mjs", ""),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = ["app/sources/a/a.mjs", "app/common.mjs", "other/b.mjs"];
        let found = of(&files.map(|file| folder.path().join(file))).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(name, range)| format!("{name} {range}"))
            .collect();
        assert_eq!(found, ["axios ^0.19", "chai >=4 <5", "lodash 4"]);
        std::fs::write(folder.path().join("other/package.json"), "{").unwrap();
        let error = of(&[folder.path().join("other/b.mjs")]).unwrap_err();
        assert!(format!("{error:#}").contains("package.json"), "{error:#}");
    }
}
