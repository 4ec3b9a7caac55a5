//! Ownership of files: files that processes write belong to the processes' user.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt as _, lchown},
    path::Path,
};

/// Changes the owner of a folder and its direct entries to `user`, for folders whose deeper files have it already.
pub(super) fn give_shallow(folder: &Path, user: Option<u32>) -> io::Result<()> {
    let Some(user) = user else {
        return Ok(());
    };
    give_one(folder, user)?;
    for entry in fs::read_dir(folder)? {
        give_one(&entry?.path(), user)?;
    }
    Ok(())
}

/// Changes the owner of a file, or of a folder with all its contents, to `user`. Does nothing without a user.
pub(super) fn give(path: &Path, user: Option<u32>) -> io::Result<()> {
    let Some(user) = user else {
        return Ok(());
    };
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        if give_one(&path, user)?
            && let Some(entries) = there(fs::read_dir(&path))?
        {
            for entry in entries {
                waiting.push(entry?.path());
            }
        }
    }
    Ok(())
}

/// Changes the owner of one file, and returns whether it is a folder. A file that is removed meanwhile is ignored.
fn give_one(path: &Path, user: u32) -> io::Result<bool> {
    let Some(metadata) = there(fs::symlink_metadata(path))? else {
        return Ok(false);
    };
    if metadata.uid() != user || metadata.gid() != user {
        there(lchown(path, Some(user), Some(user)))?;
    }
    Ok(metadata.is_dir())
}

fn there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt as _};

    use super::give;

    #[test]
    fn links_are_given_and_what_they_lead_to_is_not() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = other.path().join("secret");
        fs::write(&secret, "").unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink(&secret, folder.path().join("a/link")).unwrap();
        let owner = fs::metadata(&secret).unwrap().uid();
        let user = if owner == 0 { 12_345 } else { owner };
        give(folder.path(), Some(user)).unwrap();
        let link = fs::symlink_metadata(folder.path().join("a/link")).unwrap();
        assert_eq!(link.uid(), user);
        assert_eq!(fs::metadata(&secret).unwrap().uid(), owner);
        give(&folder.path().join("gone"), Some(user)).unwrap();
    }
}
