//! The files of an origin, by their paths within it: of a folder, or of an archive that was read. Their meaning is
//! decided elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The most files that an origin has.
pub(super) const FILES_MAX: usize = 100_000;
/// The deepest that folders nest.
const DEPTH_MAX: usize = 64;
/// No file of a workflow is larger.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Folders that are no part of a workflow.
const SKIPPED: [&str; 3] = [".git", "node_modules", "__MACOSX"];

#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, Content>,
    /// Paths of things that do not come over, with the reason.
    left_out: BTreeMap<String, &'static str>,
}

#[derive(Debug)]
enum Content {
    OnDisk(PathBuf),
    Read(Vec<u8>),
}

impl Tree {
    /// The files of a folder. Links are not followed: they could lead anywhere. `except` is the folder that is written
    /// into, whose workflows have come over before.
    pub(super) fn of_folder(dir: &Path, except: Option<&Path>) -> Result<Self> {
        let mut tree = Self::default();
        tree.collect(dir, "", except)?;
        Ok(tree)
    }

    fn collect(&mut self, dir: &Path, within: &str, except: Option<&Path>) -> Result<()> {
        let unreadable = || format!("cannot read the folder {}", dir.display());
        if within.matches('/').count() > DEPTH_MAX {
            bail!(
                "the folders in {} nest too deep for a repository of workflows",
                dir.display()
            );
        }
        for entry in std::fs::read_dir(dir).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            let path = entry.path();
            let Ok(name) = entry.file_name().into_string() else {
                let shown = entry.file_name().to_string_lossy().into_owned();
                self.leave_out(format!("{within}{shown}"), "its name is not text");
                continue;
            };
            let below = format!("{within}{name}");
            let kind = entry.file_type().with_context(unreadable)?;
            if kind.is_dir() {
                if !is_skipped(&name) && Some(path.as_path()) != except {
                    self.collect(&path, &format!("{below}/"), except)?;
                }
            } else if !kind.is_file() {
                self.leave_out(below, "it is a link or a device");
            } else if entry.metadata().with_context(unreadable)?.len() > FILE_BYTES_MAX {
                self.leave_out(below, "it has more than 16 MiB");
            } else {
                self.insert(below, Content::OnDisk(path))?;
            }
        }
        Ok(())
    }

    /// Adds a file that was read. Its path is one that [`checked`] has let pass.
    pub(super) fn add(&mut self, path: &str, bytes: Vec<u8>) -> Result<()> {
        if path.split('/').any(is_skipped) {
            return Ok(());
        }
        self.insert(path.to_owned(), Content::Read(bytes))
    }

    fn insert(&mut self, path: String, content: Content) -> Result<()> {
        if self.files.len() >= FILES_MAX {
            bail!("it has more than {FILES_MAX} files; name the folder that the workflows are in");
        }
        self.files.insert(path, content);
        Ok(())
    }

    fn leave_out(&mut self, path: String, reason: &'static str) {
        self.left_out.insert(path, reason);
    }

    /// The same without the one folder that everything is in, as archives of repositories have it.
    pub(super) fn without_outer_folder(self) -> Self {
        let mut tops = self.files.keys().map(|path| path.split_once('/'));
        let Some(Some((first, _))) = tops.next() else {
            return self;
        };
        let outer = format!("{first}/");
        let is_alone = self.files.keys().all(|path| path.starts_with(&outer));
        if !is_alone || self.files.contains_key(&format!("{outer}workflow.yaml")) {
            return self;
        }
        let shorter =
            |(path, content): (String, Content)| (path[outer.len()..].to_owned(), content);
        Self {
            files: self.files.into_iter().map(shorter).collect(),
            left_out: self.left_out,
        }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The paths below a folder (`""`, or one that ends with `/`), without that folder.
    pub(super) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        self.paths()
            .filter_map(move |path| path.strip_prefix(folder))
    }

    /// Things below a folder that do not come over, with the reason.
    pub(super) fn left_out(&self, folder: &str) -> Vec<String> {
        let all = self.left_out.iter();
        let below = all.filter_map(|(path, reason)| Some((path.strip_prefix(folder)?, reason)));
        below
            .map(|(path, reason)| format!("{path}: {reason}"))
            .collect()
    }

    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>> {
        match self.files.get(path) {
            Some(Content::Read(bytes)) => Ok(bytes.clone()),
            Some(Content::OnDisk(file)) => {
                std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
            }
            None => bail!("there is no file {path}"),
        }
    }
}

fn is_skipped(name: &str) -> bool {
    SKIPPED.contains(&name)
}

/// A path in an archive, if it stays below the folder that it is unpacked into; otherwise the objection to it.
pub(super) fn checked(path: &str) -> Result<&str, &'static str> {
    let bytes = path.as_bytes();
    let has_drive = bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if path.starts_with('/') || (has_drive && matches!(bytes.get(2), None | Some(b'/'))) {
        return Err("it is an absolute path");
    }
    if path.contains('\\') || path.contains(char::is_control) {
        return Err("it has a character that no path of an export has");
    }
    let mut parts = path.strip_suffix('/').unwrap_or(path).split('/');
    match parts.any(|part| matches!(part, "" | "." | "..")) {
        true => Err("it leads out of its folder"),
        false => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_below_are_let_pass() {
        for path in ["a.json", "A b/c.json", "a/", "a: b/c", "ü/…", "a/..b/c.."] {
            assert_eq!(checked(path), Ok(path));
        }
        for path in [
            "",
            "/",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a/..",
            "./a",
            "a//b",
            "C:/a",
            "c:",
            "a\\b",
            "..\\a",
            "a\0b",
            "a\n",
        ] {
            assert!(checked(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn the_outer_folder_of_an_archive_is_no_folder_of_the_repository() {
        let tree = |paths: &[&str]| {
            let mut tree = Tree::default();
            for path in paths {
                tree.add(path, Vec::new()).unwrap();
            }
            let tree = tree.without_outer_folder();
            tree.paths().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            tree(&["r-1/README.md", "r-1/a/workflow.yaml"]),
            ["README.md", "a/workflow.yaml"]
        );
        assert_eq!(
            tree(&["a/workflow.yaml", "b/workflow.yaml"]),
            ["a/workflow.yaml", "b/workflow.yaml"]
        );
        assert_eq!(
            tree(&["a/workflow.yaml", "a/b/entry.js"]),
            ["a/b/entry.js", "a/workflow.yaml"]
        );
        assert_eq!(tree(&["a.json", "__MACOSX/a.json"]), ["a.json"]);
    }
}
