//! The files beside a component that is one of a folder's: those that it reaches by relative imports are written beside
//! it, each judged before anything else reads it.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use super::{
    endings,
    failure::{BuildResult, disk},
    imports::OwnModules,
    script::required_specifiers,
    specifier::Specifier,
};

/// The files of a folder, as far as they are not written yet.
pub(super) struct FilesBeside<'a> {
    folder: &'a Path,
    files: BTreeMap<PathBuf, &'a str>,
}

impl<'a> FilesBeside<'a> {
    /// Those of `files` whose paths stay within the folder.
    pub(super) fn new(folder: &'a Path, files: &'a BTreeMap<String, String>) -> Self {
        let files = files.iter();
        let files = files.filter_map(|(path, text)| Some((plain(Path::new(path))?, text.as_str())));
        Self {
            folder,
            files: files.collect(),
        }
    }

    /// The text of a file, which the caller writes.
    pub(super) fn take(&mut self, path: &Path) -> Option<&'a str> {
        self.files.remove(&plain(path)?)
    }

    /// Writes what a written file reaches, directly or indirectly.
    pub(super) async fn write_reached(
        mut self,
        entry: &Path,
        own: &mut OwnModules<'_>,
    ) -> BuildResult<()> {
        let mut open = vec![entry.to_owned()];
        while let Some(importer) = open.pop() {
            let mut reached = Vec::new();
            for path in self.imported_by(&importer, own).await? {
                reached.extend(self.write(&path).await?);
            }
            own.judge(&reached).await?;
            open.extend(reached);
        }
        Ok(())
    }

    /// The files of the folder that a module may mean by its relative imports.
    async fn imported_by(
        &self,
        importer: &Path,
        own: &OwnModules<'_>,
    ) -> BuildResult<Vec<PathBuf>> {
        let code = tokio::fs::read_to_string(importer).await;
        let code = code.map_err(|error| disk(importer, &error))?;
        let imported = own.imports(importer).unwrap_or_default().iter();
        let imported = imported.map(|import| (import.specifier.clone(), false));
        let required = required_specifiers(&code).into_iter();
        let required = required.map(|written| (written, true));
        let base = importer
            .parent()
            .and_then(|base| base.strip_prefix(self.folder).ok());
        let base = base.unwrap_or_else(|| Path::new(""));
        let mut found = Vec::new();
        for (written, is_required) in imported.chain(required) {
            if Specifier::parse(&written) == Specifier::Relative {
                let mut places = places(&base.join(&written), is_required).into_iter();
                found.extend(places.find(|place| self.files.contains_key(place)));
            }
        }
        Ok(found)
    }

    /// Writes a file, unless that is done.
    async fn write(&mut self, path: &Path) -> BuildResult<Option<PathBuf>> {
        let Some(text) = self.files.remove(path) else {
            return Ok(None);
        };
        let file = self.folder.join(path);
        if let Some(parent) = file.parent() {
            let created = tokio::fs::create_dir_all(parent).await;
            created.map_err(|error| disk(parent, &error))?;
        }
        let written = tokio::fs::write(&file, text).await;
        written.map_err(|error| disk(&file, &error))?;
        Ok(Some(file))
    }
}

/// The files that a relative import may mean, the first that is there; none if it leads out of the folder.
pub(super) fn places(path: &Path, is_required: bool) -> Vec<PathBuf> {
    let Some(path) = plain(path) else {
        return Vec::new();
    };
    let text = path.to_string_lossy();
    let endings = match is_required {
        true => endings::of_require(),
        false => endings::of_import(&text),
    };
    let places = endings.into_iter();
    places
        .map(|ending| PathBuf::from(ending.apply(&text)))
        .collect()
}

/// The path without `.` and `..`; `None` if it leads out of the folder.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_within_the_folder() {
        let plain = |path: &str| plain(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(plain("a/./b.mjs").as_deref(), Some("a/b.mjs"));
        assert_eq!(plain("a/../b.mjs").as_deref(), Some("b.mjs"));
        for path in ["../a.mjs", "a/../../b", "/etc/passwd"] {
            assert_eq!(plain(path), None, "{path}");
        }
    }
}
