//! The packages of a folder: the components below one `package.json`, and the files that these reach by relative
//! imports.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use headwater_engine::build::imported_places;
use serde_json::{Value, json};

use crate::bundle;
use crate::own_file;

const MANIFEST: &str = "package.json";
/// The components of one request: a package with very many takes several.
const PART: usize = 100;
/// Components of one package, by their paths within the folder.
pub(super) struct Package {
    components: Vec<PathBuf>,
}

impl Package {
    pub(super) fn parts(&self) -> impl Iterator<Item = &[PathBuf]> {
        self.components.chunks(PART)
    }
}

/// The components by package, in the order of the packages' paths.
pub(super) fn of(folder: &Path, components: Vec<PathBuf>) -> Vec<Package> {
    let mut packages: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut known = BTreeMap::new();
    for component in components {
        let package = package(folder, component.parent(), &mut known);
        packages.entry(package).or_default().push(component);
    }
    let packages = packages.into_values();
    packages.map(|components| Package { components }).collect()
}

/// The nearest folder with a manifest; the outermost if there is none.
fn package(
    folder: &Path,
    within: Option<&Path>,
    known: &mut BTreeMap<PathBuf, PathBuf>,
) -> PathBuf {
    let Some(within) = within else {
        return PathBuf::new();
    };
    if let Some(package) = known.get(within) {
        return package.clone();
    }
    let found = match folder.join(within).join(MANIFEST).is_file() {
        true => within.to_owned(),
        false => package(folder, within.parent(), known),
    };
    known.insert(within.to_owned(), found.clone());
    found
}

/// The request for some components of a package.
pub(super) fn body(folder: &Path, components: &[PathBuf]) -> Result<Value> {
    let files = reached(folder, components)?;
    let own_first = components.iter().chain(files.keys());
    let own_first: Vec<_> = own_first.map(|path| folder.join(path)).collect();
    let texts: BTreeMap<_, _> = files
        .iter()
        .map(|(path, text)| (shown(path), text))
        .collect();
    let components: Vec<_> = components.iter().map(|path| shown(path)).collect();
    let mut body = json!({"files": texts, "components": components});
    let ranges = bundle::ranges(&own_first)?;
    if !ranges.is_empty() {
        body["component_dependencies"] = json!(ranges);
    }
    Ok(body)
}

/// The texts of these files, and of all that they reach within the folder. Files that are not there are the build's
/// business: they may be meant for another platform.
fn reached(folder: &Path, files: &[PathBuf]) -> Result<BTreeMap<PathBuf, String>> {
    let mut found = BTreeMap::new();
    let whole = own_file::folder(folder)?;
    let mut open: Vec<_> = files.to_vec();
    while let Some(path) = open.pop() {
        if found.contains_key(&path) {
            continue;
        }
        let Some(text) = read(&own_file::within(&whole, &path)?)? else {
            continue;
        };
        for places in imported_places(&path, &text) {
            let is_there = |place: &&PathBuf| folder.join(place).is_file();
            open.extend(places.iter().find(is_there).cloned());
        }
        found.insert(path, text);
    }
    Ok(found)
}

/// The text of a file; `None` if it has none.
fn read(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// A path as it is sent, with slashes.
pub(super) fn shown(path: &Path) -> String {
    let parts = path.iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_package_has_the_files_that_its_components_reach_and_no_others() {
        let component = "import a from '../../a.app.mjs'; import b from '../../../b/b.app.mjs';";
        let folder = tree(&[
            (
                "components/a/package.json",
                r#"{"dependencies": {"axios": "^1"}}"#,
            ),
            ("components/a/sources/new/new.mjs", component),
            (
                "components/a/sources/new/test-event.mjs",
                "export default {}",
            ),
            (
                "components/a/a.app.mjs",
                "import './common/c.mjs'; import 'axios';",
            ),
            ("components/a/common/c.mjs", ""),
            (
                "components/b/package.json",
                r#"{"dependencies": {"axios": "^0.1", "ws": "8"}}"#,
            ),
            ("components/b/b.app.mjs", "import './gone.mjs';"),
        ]);
        let new = PathBuf::from("components/a/sources/new/new.mjs");
        let body = body(folder.path(), &[new]).unwrap();
        let files: Vec<_> = body["files"].as_object().unwrap().keys().collect();
        assert_eq!(
            files,
            [
                "components/a/a.app.mjs",
                "components/a/common/c.mjs",
                "components/a/sources/new/new.mjs",
                "components/b/b.app.mjs"
            ]
        );
        assert_eq!(
            body["component_dependencies"],
            json!({"axios": "^1", "ws": "8"})
        );
    }

    #[test]
    fn files_out_of_the_folder_are_not_sent() {
        let secret = "export default 'secret';";
        let outside = tree(&[("key.mjs", secret)]);
        let folder = tree(&[
            ("a/inner.mjs", "export default 1;"),
            ("a/linking.mjs", "import './link.mjs';"),
            ("a/below.mjs", "import './linked/key.mjs';"),
            ("a/within.mjs", "import './alias.mjs';"),
        ]);
        let at = |path: &str| folder.path().join(path);
        let key = outside.path().join("key.mjs");
        let above = format!(
            "import '../../{}/key.mjs'; import '{}';",
            outside.path().file_name().unwrap().display(),
            key.display()
        );
        std::fs::write(at("a/above.mjs"), above).unwrap();
        for (target, link) in [
            (&*key, "a/link.mjs"),
            (outside.path(), "a/linked"),
            (&*at("a/inner.mjs"), "a/alias.mjs"),
        ] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let body = |path: &str| body(folder.path(), &[PathBuf::from(path)]);
        for (path, named) in [
            ("a/linking.mjs", "`a/link.mjs`"),
            ("a/below.mjs", "`a/linked/key.mjs`"),
            ("a/link.mjs", "`a/link.mjs`"),
        ] {
            let error = body(path).unwrap_err().to_string();
            assert!(error.starts_with(named), "{error}");
        }
        let above = body("a/above.mjs").unwrap();
        assert_eq!(above["files"].as_object().unwrap().len(), 1, "{above}");
        let within = body("a/within.mjs").unwrap();
        assert_eq!(within["files"]["a/alias.mjs"], "export default 1;");
    }

    #[test]
    fn components_are_gathered_by_their_manifests() {
        let folder = tree(&[
            ("package.json", "{}"),
            ("components/a/package.json", "{}"),
            ("components/b/sources/x/x.mjs", ""),
        ]);
        let paths = [
            "components/a/sources/x/x.mjs",
            "components/a/actions/y/y.mjs",
            "components/b/sources/x/x.mjs",
            "components/c/sources/x/x.mjs",
        ];
        let packages = of(folder.path(), paths.map(PathBuf::from).to_vec());
        let counts: Vec<_> = packages
            .iter()
            .map(|package| package.components.len())
            .collect();
        assert_eq!(counts, [2, 2]);
    }
}
