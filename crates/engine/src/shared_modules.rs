//! Modules that several components may share: named by their content, kept once per node, and evaluated once per
//! worker (docs/guide/running-many-sources.md).
//!
//! An archive carries those that its component imports, so that every node has them. Not responsible for what is
//! shared, which is decided when a component is built.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use sha2::{Digest, Sha256};

use crate::runtime_files::{publish, readable};

/// The folder in an archive, with a folder for each module; also that of the node, in its cache folder.
pub(crate) const FOLDER: &str = "shared";
/// The module in its folder.
const MODULE: &str = "module.mjs";
/// Its source map.
pub(crate) const SOURCE_MAP: &str = "module.mjs.map";
/// The beginning of specifiers, which the runtime's import map leads to the node's folder.
const SPECIFIER: &str = "headwater-shared";

/// A module that the node has, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedModule(Arc<str>);

impl SharedModule {
    /// The one that a component imports, whose archive is unpacked in `archive`; `None` if there is none, or several.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn of(archive: &Path) -> io::Result<Option<Self>> {
        let mut modules = match fs::read_dir(archive.join(FOLDER)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            modules => modules?,
        };
        let (Some(only), None) = (modules.next(), modules.next()) else {
            return Ok(None);
        };
        Ok(only?.file_name().to_str().map(|name| Self(name.into())))
    }

    /// The module with that name.
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// The name by which it is imported.
    pub(crate) fn specifier(&self) -> String {
        specifier_of(&self.0)
    }
}

/// Writes a module into an archive's folder and returns the specifier by which the component imports it.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(archive: &Path, text: &str, map: &str) -> io::Result<String> {
    let name = name_of(text.as_bytes(), map.as_bytes());
    let folder = archive.join(FOLDER).join(&name);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(MODULE), text)?;
    fs::write(folder.join(SOURCE_MAP), map)?;
    Ok(specifier_of(&name))
}

/// The specifier by which components import a module.
pub(crate) fn specifier(text: &str, map: &str) -> String {
    specifier_of(&name_of(text.as_bytes(), map.as_bytes()))
}

fn specifier_of(name: &str) -> String {
    format!("{SPECIFIER}/{name}/{MODULE}")
}

/// Whether this is how a component imports such a module.
pub(crate) fn is_specifier(specifier: &str) -> bool {
    let rest = specifier.strip_prefix(SPECIFIER);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

/// Gives the node the modules of an archive that is unpacked in `archive`, unless it has them.
///
/// # Errors
/// A file cannot be read or written, or a module is not what its name says.
pub(crate) fn publish_all(archive: &Path, node: &Path) -> io::Result<()> {
    let modules = match fs::read_dir(archive.join(FOLDER)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        modules => modules?,
    };
    for module in modules {
        let module = module?.path();
        let published = node.join(module.file_name().unwrap_or_default());
        if !published.is_dir() {
            publish_one(&module, &published, node)?;
        }
    }
    Ok(())
}

fn publish_one(module: &Path, published: &Path, node: &Path) -> io::Result<()> {
    let [text, map] = [MODULE, SOURCE_MAP].map(|file| fs::read(module.join(file)));
    let (text, map) = (text?, map?);
    if published.file_name() != Some(name_of(&text, &map).as_ref()) {
        let reason = "a shared module is not what its name says; save the component again";
        return Err(io::Error::other(reason));
    }
    let staging = tempfile::Builder::new().prefix("new-").tempdir_in(node)?;
    fs::write(staging.path().join(MODULE), text)?;
    fs::write(staging.path().join(SOURCE_MAP), map)?;
    readable(staging.path())?;
    publish(staging, published)
}

/// The folder of the node's modules, created if need be.
///
/// # Errors
/// It cannot be created.
pub(crate) fn folder_in(cache_dir: &Path) -> io::Result<PathBuf> {
    let folder = cache_dir.join(FOLDER);
    fs::create_dir_all(&folder)?;
    readable(&folder)?;
    Ok(folder)
}

/// SHA-256 of both, in hexadecimal digits.
fn name_of(text: &[u8], map: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(Sha256::digest(text));
    hash.update(Sha256::digest(map));
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FOLDER, MODULE, SharedModule, folder_in, publish_all, write};

    #[test]
    fn a_node_gets_the_modules_of_an_archive_once() {
        let (archive, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let node = folder_in(cache.path()).unwrap();
        publish_all(archive.path(), &node).unwrap();
        let specifier = write(archive.path(), "export default 1;", "{}").unwrap();
        for _ in 0..2 {
            publish_all(archive.path(), &node).unwrap();
        }
        let path = specifier.strip_prefix("headwater-shared/").unwrap();
        assert_eq!(
            fs::read_to_string(node.join(path)).unwrap(),
            "export default 1;"
        );
        assert_eq!(fs::read_dir(&node).unwrap().count(), 1);
        let only = SharedModule::of(archive.path()).unwrap().unwrap();
        assert_eq!(only.specifier(), specifier);
        write(archive.path(), "export default 2;", "{}").unwrap();
        assert_eq!(SharedModule::of(archive.path()).unwrap(), None);
    }

    #[test]
    fn a_module_under_another_name_is_refused() {
        let (archive, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let node = folder_in(cache.path()).unwrap();
        write(archive.path(), "export default 1;", "{}").unwrap();
        let folder = fs::read_dir(archive.path().join(FOLDER)).unwrap().next();
        fs::write(folder.unwrap().unwrap().path().join(MODULE), "evil()").unwrap();
        assert!(publish_all(archive.path(), &node).is_err());
        assert_eq!(
            fs::read_dir(&node).unwrap().count(),
            0,
            "nothing is half there"
        );
    }
}
