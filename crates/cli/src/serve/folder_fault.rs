//! The reason behind an error at a data folder that the error itself does not name: it is another user's, or its disk is
//! full.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use headwater_platform::LITTLE_ROOM_BYTES;
use rustix::{fs::StatVfsMountFlags, process::geteuid};

/// The error of a start, with that reason before it.
pub(super) fn explained(root: &Path, error: anyhow::Error) -> anyhow::Error {
    let is_refused = error.chain().any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::PermissionDenied)
    });
    let own = geteuid().as_raw();
    if is_refused && let Some((path, owner)) = of_another(root, own) {
        return error.context(format!(
            "{} belongs to the user with id {owner}, and this program runs as the user with id {own}; start it as that \
             user, or give it the folder with `chown -R {own} {}`",
            path.display(),
            root.display()
        ));
    }
    match little_room(root) {
        Some(little) => error.context(format!("{little}; free some space and start again")),
        None => error,
    }
}

/// The complaint about a disk on which a node would get nowhere, also of a folder that is not there yet. `None`: it has
/// room, or nothing can be written on it anyway.
pub(super) fn little_room(root: &Path) -> Option<String> {
    let disk = rustix::fs::statvfs(existing(root)?).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let is_little = free < LITTLE_ROOM_BYTES && !disk.f_flag.contains(StatVfsMountFlags::RDONLY);
    is_little.then(|| {
        format!(
            "the disk of the data folder {} has {} MiB free",
            root.display(),
            free >> 20
        )
    })
}

/// The folder, or the nearest above it that is there.
pub(super) fn existing(folder: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(folder).ok()?;
    let found = absolute.ancestors().find(|folder| folder.is_dir());
    found.map(Path::to_owned)
}

/// The folder, or something right in it, that is not this user's, with its owner.
fn of_another(root: &Path, own: u32) -> Option<(PathBuf, u32)> {
    let inside = fs::read_dir(root).into_iter().flatten().flatten();
    let paths = std::iter::once(root.to_owned()).chain(inside.map(|entry| entry.path()));
    paths
        .filter_map(|path| Some((fs::symlink_metadata(&path).ok()?.uid(), path)))
        .find(|(owner, _)| *owner != own)
        .map(|(owner, path)| (path, owner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_anothers_is_found() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("headwater.db"), "").unwrap();
        let own = geteuid().as_raw();
        assert_eq!(of_another(root.path(), own), None);
        let found = of_another(root.path(), own + 1);
        assert_eq!(found, Some((root.path().to_owned(), own)));
    }

    #[test]
    fn a_folder_that_is_not_there_is_on_the_disk_of_one_above() {
        let root = tempfile::tempdir().unwrap();
        let missing = root.path().join("a/b");
        assert_eq!(existing(&missing), Some(root.path().to_owned()));
        assert_eq!(existing(root.path()), Some(root.path().to_owned()));
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        let root = tempfile::tempdir().unwrap();
        let told = explained(root.path(), anyhow::anyhow!("it broke"));
        assert!(format!("{told:#}").ends_with("it broke"));
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        let told = explained(root.path(), refused.into());
        assert!(!format!("{told:#}").contains("chown"), "{told:#}");
    }
}
