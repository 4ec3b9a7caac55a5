//! The folder of a workflow: the files that a deployment sends, and the ids that it leaves behind. The meaning of
//! the files is the node's business, and that of `findings`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use headwater_workflow::state_file::StateFile;

use crate::own_file;
use crate::shell;
use crate::stamp::{Stamp, stamp};

pub(crate) const DEFINITION_FILE: &str = "workflow.yaml";
pub(crate) const STATE_FILE: &str = ".workflow.state";
/// Left out at any depth: packages are the node's business.
pub(crate) const PACKAGES: &str = "node_modules";
/// Left out beside the definition: tests are run here.
const TESTS: &str = "tests";
/// The most that a node takes; a larger file cannot be a part of a workflow.
const FILES_MAX: usize = 1_000;
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A folder that was read.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) dir: PathBuf,
    /// Texts by path within the folder.
    pub(crate) files: BTreeMap<String, String>,
    /// The paths of files that are no text.
    pub(crate) left_out: Vec<String>,
}

impl Folder {
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let mut folder = Self {
            dir: dir.to_owned(),
            files: BTreeMap::new(),
            left_out: Vec::new(),
        };
        for (path, file) in files_of(dir)? {
            match read_text(&file)? {
                Some(text) => drop(folder.files.insert(path, text)),
                None => folder.left_out.push(path),
            }
        }
        Ok(folder)
    }

    pub(crate) fn definition(&self) -> &str {
        self.files.get(DEFINITION_FILE).map_or("", String::as_str)
    }

    /// The texts of all files, with their paths.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The paths of the files that steps can name.
    pub(crate) fn paths(&self) -> Vec<&str> {
        let paths = self.files.keys().map(String::as_str);
        paths.filter(|path| *path != STATE_FILE).collect()
    }

    /// Keeps the ids that a deployment has given.
    pub(crate) fn keep_state(&self, text: &str) -> Result<()> {
        if text.is_empty()
            || self
                .files
                .get(STATE_FILE)
                .is_some_and(|known| known == text)
        {
            return Ok(());
        }
        let path = self.dir.join(STATE_FILE);
        std::fs::write(&path, text).with_context(|| {
            format!(
                "cannot write {}; write this text into it, or the next deployment creates another workflow:\n{text}",
                path.display()
            )
        })
    }
}

/// The folder that a person means who names it, or the definition in it.
pub(crate) fn named(path: PathBuf) -> PathBuf {
    if !path.ends_with(DEFINITION_FILE) || path.is_dir() {
        return path;
    }
    match path.parent() {
        Some(dir) if dir.as_os_str().is_empty() => PathBuf::from("."),
        Some(dir) => dir.to_owned(),
        None => path,
    }
}

/// Whether it is the folder of a workflow.
pub(crate) fn is_workflow(dir: &Path) -> bool {
    dir.join(DEFINITION_FILE).is_file()
}

/// The id of the workflow that a folder was deployed as.
pub(crate) fn workflow_id(dir: &Path) -> Result<String> {
    let path = dir.join(STATE_FILE);
    let state: StateFile = match std::fs::read_to_string(&path) {
        Ok(text) => text
            .parse()
            .with_context(|| format!("cannot read {}", path.display()))?,
        Err(error) if error.kind() == ErrorKind::NotFound => StateFile::default(),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    let Some(id) = state.id else {
        bail!(
            "{shown} has not been deployed; deploy it with `headwater workflows deploy {word}`",
            shown = dir.display(),
            word = shell::word(dir)
        );
    };
    Ok(id.to_string())
}

/// The files that belong to a workflow, by their paths within its folder.
pub(crate) fn files_of(dir: &Path) -> Result<BTreeMap<String, PathBuf>> {
    if !is_workflow(dir) {
        if dir.is_file() {
            bail!(
                "{} is a file; name the folder of a workflow, which has a {DEFINITION_FILE}",
                dir.display()
            );
        }
        bail!(
            "there is no {DEFINITION_FILE} in {shown}; name the folder of a workflow, or create one with `headwater \
             workflows init {word}`",
            shown = dir.display(),
            word = shell::word(dir)
        );
    }
    let mut found = BTreeMap::new();
    collect(&own_file::folder(dir)?, dir, "", &mut found)?;
    Ok(found)
}

/// The states of these files, by the same paths. The ids are left out: deployments write them.
pub(crate) fn stamps(dir: &Path) -> Result<BTreeMap<String, Stamp>> {
    let mut files = files_of(dir)?;
    files.remove(STATE_FILE);
    let files = files.into_iter();
    Ok(files.map(|(path, file)| (path, stamp(&file))).collect())
}

fn collect(
    folder: &Path,
    dir: &Path,
    within: &str,
    found: &mut BTreeMap<String, PathBuf>,
) -> Result<()> {
    let unreadable = || format!("cannot read the folder {}", dir.display());
    for entry in std::fs::read_dir(dir).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !belongs(within, &name) {
            continue;
        }
        let path = entry.path();
        let name = format!("{within}{name}");
        let kind = entry.file_type().with_context(unreadable)?;
        // Links to folders may lead in circles; those to files of the folder are as good as files.
        if kind.is_dir() {
            collect(folder, &path, &format!("{name}/"), found)?;
        } else if kind.is_symlink() && path.is_file() {
            let file = own_file::within(folder, Path::new(&name))?;
            found.insert(name, file);
        } else if kind.is_file() {
            found.insert(name, path);
        }
        if found.len() > FILES_MAX {
            bail!("the folder has more than {FILES_MAX} files; leave out what no step imports");
        }
    }
    Ok(())
}

fn belongs(within: &str, name: &str) -> bool {
    let is_root = within.is_empty();
    match name {
        STATE_FILE => is_root,
        TESTS => !is_root,
        name => !name.starts_with('.') && name != PACKAGES,
    }
}

/// The file's text; `None` if it is something else.
fn read_text(file: &Path) -> Result<Option<String>> {
    let unreadable = || format!("cannot read {}", file.display());
    let length = std::fs::metadata(file).with_context(unreadable)?.len();
    if length > FILE_BYTES_MAX {
        return Ok(None);
    }
    let bytes = std::fs::read(file).with_context(unreadable)?;
    Ok(String::from_utf8(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        folder
    }

    #[test]
    fn text_files_are_sent_and_the_rest_stays() {
        let dir = folder(&[
            ("workflow.yaml", b"name: A"),
            (".workflow.state", b"state"),
            ("a/entry.js", b"a"),
            ("a/tests/case.js", b"case"),
            ("a/.hidden", b"no"),
            ("a/.workflow.state", b"no"),
            ("a/node_modules/b/index.js", b"no"),
            (".git/HEAD", b"no"),
            ("node_modules/b/index.js", b"no"),
            ("tests/large.yaml", b"no"),
            ("picture.png", b"\xff\xd8"),
        ]);
        let circle = dir.path().join("circle");
        std::os::unix::fs::symlink(dir.path(), circle).unwrap();
        let read = Folder::read(dir.path()).unwrap();
        let sent: Vec<_> = read.files.keys().map(String::as_str).collect();
        assert_eq!(
            sent,
            [
                ".workflow.state",
                "a/entry.js",
                "a/tests/case.js",
                "workflow.yaml"
            ]
        );
        assert_eq!(read.left_out, ["picture.png"]);
        assert_eq!(read.definition(), "name: A");
        assert!(!read.paths().contains(&STATE_FILE));
    }

    #[test]
    fn a_link_out_of_the_folder_is_refused_and_one_within_it_is_a_file() {
        let outside = folder(&[("key.pem", b"secret")]);
        let dir = folder(&[("workflow.yaml", b"name: A"), ("a/entry.js", b"a")]);
        let link = |target: &Path, link: &Path| {
            std::os::unix::fs::symlink(target, link).unwrap();
        };
        link(&dir.path().join("a/entry.js"), &dir.path().join("b.js"));
        // The folder itself may be a link.
        let linked = outside.path().join("linked");
        link(dir.path(), &linked);
        assert_eq!(Folder::read(&linked).unwrap().files["b.js"], "a");
        assert_eq!(stamps(&linked).unwrap().len(), 3);
        link(
            &outside.path().join("key.pem"),
            &dir.path().join("a/key.js"),
        );
        for read in [
            Folder::read(dir.path()).map(drop),
            stamps(&linked).map(drop),
        ] {
            let error = read.unwrap_err().to_string();
            assert!(
                error.contains("`a/key.js` is a link out of the folder"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_definition_stands_for_its_folder() {
        for (given, meant) in [
            ("workflow.yaml", "."),
            ("./workflow.yaml", "."),
            ("a/b/workflow.yaml", "a/b"),
            ("a/b", "a/b"),
            ("a/my-workflow.yaml", "a/my-workflow.yaml"),
        ] {
            assert_eq!(named(given.into()), Path::new(meant), "{given}");
        }
    }

    #[test]
    fn a_folder_without_a_definition_is_told_how_to_get_one() {
        let dir = folder(&[("entry.js", b"a")]);
        let error = Folder::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("workflows init"), "{error}");
        let error = Folder::read(&dir.path().join("entry.js")).unwrap_err();
        assert!(error.to_string().contains("is a file"), "{error}");
    }

    #[test]
    fn the_id_is_that_of_the_last_deployment() {
        let dir = folder(&[("workflow.yaml", b"name: A")]);
        let error = workflow_id(dir.path()).unwrap_err().to_string();
        assert!(error.contains("workflows deploy"), "{error}");
        let read = Folder::read(dir.path()).unwrap();
        let state = "---\nschema: workflow.state/2022.04\nid: p_yKCwGWl\n";
        read.keep_state(state).unwrap();
        assert_eq!(workflow_id(dir.path()).unwrap(), "p_yKCwGWl");
        std::fs::write(dir.path().join(STATE_FILE), "<<<<<<< HEAD\n").unwrap();
        assert!(workflow_id(dir.path()).is_err());
    }

    #[test]
    fn a_state_that_has_not_changed_is_not_written() {
        let dir = folder(&[("workflow.yaml", b"name: A"), (".workflow.state", b"same")]);
        let read = Folder::read(dir.path()).unwrap();
        let path = dir.path().join(STATE_FILE);
        std::fs::write(&path, "touched").unwrap();
        read.keep_state("same").unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "touched");
    }
}
