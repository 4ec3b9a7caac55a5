//! The bundled editor is the one that its manifest describes: no file was changed by hand or is there without a hash, and
//! every package has its licence beside it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    tracked::TrackedFile,
    violation::{Rule, Violation},
};
use crate::vendor::{FOLDER, LICENCES, MANIFEST, hash};

pub(super) fn check(files: &[TrackedFile]) -> Vec<Violation> {
    let inside = |file: &&TrackedFile| file.path.starts_with(FOLDER);
    let files: Vec<_> = files.iter().filter(inside).collect();
    let name = |file: &TrackedFile| file.path[FOLDER.len()..].trim_start_matches('/').to_owned();
    let find = |wanted: &str| files.iter().find(|file| name(file) == wanted);
    if files.is_empty() {
        return Vec::new();
    }
    let manifest = find(MANIFEST).and_then(|file| serde_json::from_str::<Value>(&file.text).ok());
    let Some(manifest) = manifest else {
        return vec![violation(MANIFEST, "is missing or no JSON")];
    };
    let empty = serde_json::Map::new();
    let hashes = manifest["sha256"].as_object().unwrap_or(&empty);
    let listed = hashes.keys().cloned();
    let there = files.iter().map(|file| name(file));
    let all: BTreeSet<_> = listed
        .chain(there)
        .filter(|name| name != MANIFEST)
        .collect();
    let mut found = Vec::new();
    for file in &all {
        let actual = find(file).map(|file| hash(file.text.as_bytes()));
        if actual.as_deref() != hashes.get(file).and_then(Value::as_str) {
            found.push(violation(file, "is not the file of the manifest"));
        }
    }
    let licences = find(LICENCES).map_or("", |file| file.text.as_str());
    for package in manifest["packages"].as_array().into_iter().flatten() {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let heading = format!("{} {}", text("name"), text("version"));
        if text("licence").is_empty() || !licences.lines().any(|line| line == heading) {
            found.push(violation(LICENCES, &format!("has no licence of {heading}")));
        }
    }
    found
}

fn violation(name: &str, fact: &str) -> Violation {
    Violation {
        rule: Rule::Vendored,
        path: format!("{FOLDER}/{name}"),
        line: 1,
        text: format!("{fact}; run `cargo xtask vendor-editor`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder with a bundle, its manifest and its licences; `change` may spoil it.
    fn found(change: impl FnOnce(&mut Vec<TrackedFile>)) -> Vec<String> {
        let licences = "a 1.0.0\n\nMIT\n";
        let manifest = serde_json::json!({
            "sha256": {"a.js": hash(b"a"), "licences.txt": hash(licences.as_bytes())},
            "packages": [{"name": "a", "version": "1.0.0", "licence": "MIT"}],
        });
        let file = |name: &str, text: &str| TrackedFile {
            path: format!("{FOLDER}/{name}"),
            text: text.to_owned(),
        };
        let mut files = vec![
            file("a.js", "a"),
            file(LICENCES, licences),
            file(MANIFEST, &manifest.to_string()),
        ];
        change(&mut files);
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_folder_as_it_was_bundled_passes() {
        assert_eq!(found(|_| {}), [""; 0]);
        assert!(check(&[]).is_empty());
    }

    #[test]
    fn changed_missing_and_added_files_are_found() {
        let changed = found(|files| files[0].text.push('b'));
        assert!(
            changed[0].contains("a.js:1: is not the file of the manifest"),
            "{changed:?}"
        );
        assert_eq!(found(|files| drop(files.remove(0))).len(), 1);
        assert_eq!(found(|files| drop(files.remove(2))).len(), 1);
        let added = found(|files| {
            let path = format!("{FOLDER}/b.js");
            files.push(TrackedFile {
                path,
                text: String::new(),
            });
        });
        assert!(added[0].contains("b.js"), "{added:?}");
    }

    #[test]
    fn a_package_without_its_licence_is_found() {
        let found = found(|files| {
            let text = "MIT\n".to_owned();
            files[2].text = files[2]
                .text
                .replace(&hash(files[1].text.as_bytes()), &hash(text.as_bytes()));
            files[1].text = text;
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("no licence of a 1.0.0"), "{found:?}");
    }
}
