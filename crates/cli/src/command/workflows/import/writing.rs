//! The writing of a workflow's folder: whole or not at all, and never over one that is there. A folder that is there
//! already and has the same files counts as written, so that an import can be started again.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};

use super::incoming::{Files, Incoming};
use crate::workflow::folder::STATE_FILE;

/// The beginning of the names of folders that are being written.
const UNFINISHED: &str = ".headwater-import-";

/// The outcome for one workflow.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    New,
    /// The folder was there, with the same files.
    Same,
    /// The folder was there and stays as it is; these files are not those of the origin.
    Kept(Vec<String>),
}

pub(super) fn write(into: &Path, incoming: &Incoming) -> Result<Written> {
    let files = incoming
        .files
        .as_ref()
        .map_err(|reason| anyhow!("{reason}"))?;
    let target = into.join(&incoming.folder);
    let is_there = std::fs::symlink_metadata(&target).is_ok();
    if is_there {
        let differing = differing(&target, files)?;
        return Ok(match differing.is_empty() {
            true => Written::Same,
            false => Written::Kept(differing),
        });
    }
    let parent = target.parent().unwrap_or(into);
    std::fs::create_dir_all(parent)
        .with_context(|| format!("cannot create the folder {}", parent.display()))?;
    if let Some((name, bytes)) = &incoming.original {
        keep_original(&into.join(name), bytes)?;
    }
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(parent)
        .with_context(|| format!("cannot write into {}", parent.display()))?;
    // A folder within, as the temporary one is closed to others.
    let whole = unfinished.path().join("whole");
    for (path, bytes) in files {
        write_file(&whole.join(path), bytes)?;
    }
    std::fs::rename(&whole, &target)
        .with_context(|| format!("cannot create the folder {}", target.display()))?;
    Ok(Written::New)
}

/// The files that are missing in a folder or are others there. Ids that a deployment has added are no difference.
fn differing(target: &Path, files: &Files) -> Result<Vec<String>> {
    let mut differing = Vec::new();
    for (path, bytes) in files {
        let file = target.join(path);
        let is_same = match std::fs::read(&file) {
            Ok(found) => found == *bytes || (path == STATE_FILE && is_kept_state(&found, bytes)),
            Err(error) if is_absence(error.kind()) => false,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        };
        if !is_same {
            differing.push(path.clone());
        }
    }
    Ok(differing)
}

fn is_absence(kind: ErrorKind) -> bool {
    let absences = [
        ErrorKind::NotFound,
        ErrorKind::NotADirectory,
        ErrorKind::IsADirectory,
    ];
    absences.contains(&kind)
}

fn is_kept_state(found: &[u8], incoming: &[u8]) -> bool {
    let lines = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let found = lines(found);
    lines(incoming).iter().all(|line| found.contains(line))
}

fn keep_original(file: &Path, bytes: &[u8]) -> Result<()> {
    match std::fs::read(file) {
        Ok(found) if found == bytes => Ok(()),
        Ok(_) => bail!(
            "{} is there already and is another file; move it away and import again",
            file.display()
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => write_file(file, bytes),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

fn write_file(file: &Path, bytes: &[u8]) -> Result<()> {
    let unwritable = || format!("cannot write {}", file.display());
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).with_context(unwritable)?;
    }
    let mut created = File::create_new(file).with_context(unwritable)?;
    created.write_all(bytes).with_context(unwritable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incoming(files: &[(&str, &str)]) -> Incoming {
        let files = files.iter();
        let files = files.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        Incoming {
            folder: "nested/a-p_1".to_owned(),
            files: Ok(files.collect()),
            original: Some(("nested/a-p_1.json".to_owned(), b"{}".to_vec())),
            not_understood: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_written_once_and_changes_in_it_stay() {
        let into = tempfile::tempdir().unwrap();
        let state = "schema: workflow.state/2022.04\nid: p_1\n";
        let one = incoming(&[
            ("workflow.yaml", "name: A"),
            ("a/entry.js", "a"),
            (STATE_FILE, state),
        ]);
        assert_eq!(write(into.path(), &one).unwrap(), Written::New);
        assert_eq!(names(&into.path().join("nested")), ["a-p_1", "a-p_1.json"]);
        assert_eq!(write(into.path(), &one).unwrap(), Written::Same);
        let folder = into.path().join("nested/a-p_1");
        std::fs::write(
            folder.join(STATE_FILE),
            format!("{state}triggers:\n  http: hi_1\n"),
        )
        .unwrap();
        std::fs::write(folder.join("more.js"), "own").unwrap();
        assert_eq!(write(into.path(), &one).unwrap(), Written::Same);
        std::fs::write(folder.join("workflow.yaml"), "name: B").unwrap();
        std::fs::remove_file(folder.join("a/entry.js")).unwrap();
        let kept = Written::Kept(vec!["a/entry.js".to_owned(), "workflow.yaml".to_owned()]);
        assert_eq!(write(into.path(), &one).unwrap(), kept);
        assert_eq!(
            std::fs::read_to_string(folder.join("workflow.yaml")).unwrap(),
            "name: B"
        );
    }

    #[test]
    fn a_folder_that_cannot_be_written_whole_is_not_there() {
        let into = tempfile::tempdir().unwrap();
        let broken = incoming(&[("a", "a file"), ("a/entry.js", "in a folder of that name")]);
        assert!(write(into.path(), &broken).is_err());
        assert_eq!(names(&into.path().join("nested")), ["a-p_1.json"]);
    }

    #[test]
    fn another_original_is_not_written_over() {
        let into = tempfile::tempdir().unwrap();
        std::fs::create_dir(into.path().join("nested")).unwrap();
        std::fs::write(into.path().join("nested/a-p_1.json"), "mine").unwrap();
        let error = write(into.path(), &incoming(&[("workflow.yaml", "name: A")])).unwrap_err();
        assert!(error.to_string().contains("move it away"), "{error}");
        assert_eq!(names(&into.path().join("nested")), ["a-p_1.json"]);
    }
}
