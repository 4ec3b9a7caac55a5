//! The files of a folder that look like components, by name and text. Nothing is parsed or run: only building
//! makes sure.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::script;

/// The endings a component's file may have.
const ENDINGS: &[&str] = &["mjs", "js", "cjs", "ts", "mts"];
/// Folders of shared code, tests and dependencies.
const NO_COMPONENTS: &[&str] = &["node_modules", "common", "test", "tests", "__tests__"];
/// Larger files are not components: they could not be sent to a node.
const CODE_BYTES: u64 = 10 * 1024 * 1024;
/// The depth of folders that are searched.
const DEPTH_MAX: usize = 16;

/// The files in and below `folder` that look like components: each exports something as a whole and
/// writes out its `key` and `version`. Relative to `folder`, sorted. Links are not followed.
///
/// # Errors
/// A folder or file cannot be read.
pub fn component_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((at, depth)) = folders.pop() {
        for entry in fs::read_dir(&at)? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let name = name.to_string_lossy();
            if kind.is_dir() {
                let looked_into = !name.starts_with('.') && !NO_COMPONENTS.contains(&&*name);
                if looked_into && depth < DEPTH_MAX {
                    folders.push((entry.path(), depth + 1));
                }
            } else if kind.is_file() && may_be_component(&name) && is_component(&entry)? {
                let path = entry.path();
                found.push(path.strip_prefix(folder).unwrap_or(&path).to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn may_be_component(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let apart = [".app", ".test", ".spec", ".d", ".config"];
    ENDINGS.contains(&ending)
        && !stem.starts_with('.')
        && !stem.starts_with("test-event")
        && !apart.iter().any(|end| stem.ends_with(end))
}

fn is_component(entry: &fs::DirEntry) -> io::Result<bool> {
    if entry.metadata()?.len() > CODE_BYTES {
        return Ok(false);
    }
    let code = fs::read(entry.path())?;
    Ok(script::names_component(&String::from_utf8_lossy(&code)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::component_files;

    #[test]
    fn components_are_found_among_what_they_share() {
        let folder = tempfile::tempdir().unwrap();
        let component = "export default { key: \"a\", version: \"1.0.0\" };";
        for (path, code) in [
            ("sources/new-row/new-row.mjs", component),
            ("sources/new-row/test-event.mjs", component),
            ("sources/new-row/common.mjs", "export default { name: 1 };"),
            ("sources/common/base.mjs", component),
            ("actions/send.ts", component),
            ("actions/send.test.ts", component),
            ("actions/send.d.ts", component),
            ("old.js", "module.exports = { key: 'a', version: '1' };"),
            ("shop.app.mjs", component),
            ("node_modules/x/x.mjs", component),
            (".git/x.mjs", component),
            ("data.json", component),
            ("README", component),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, code).unwrap();
        }
        let found = component_files(folder.path()).unwrap();
        let found: Vec<_> = found.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(
            found,
            ["actions/send.ts", "old.js", "sources/new-row/new-row.mjs"]
        );
        assert!(component_files(&folder.path().join("missing")).is_err());
    }
}
