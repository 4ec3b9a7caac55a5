//! Replacing a file of the package cache atomically.
//!
//! Not responsible for the choice of files or their contents.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, fchown},
    path::Path,
};

/// Puts `bytes` in the place of an existing file, with the owner and the permissions that it has: confined steps
/// read it as another user than the node.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let former = fs::metadata(file)?;
    let mut staging = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(file))?;
    staging.write_all(bytes)?;
    let new = staging.as_file().metadata()?;
    if (new.uid(), new.gid()) != (former.uid(), former.gid()) {
        fchown(staging.as_file(), Some(former.uid()), Some(former.gid()))?;
    }
    staging.as_file().set_permissions(former.permissions())?;
    staging.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    };

    use super::replace;

    #[test]
    fn who_could_read_the_former_file_can_read_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.js");
        for mode in [0o644, 0o600] {
            fs::write(&file, "former").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            // Only root can give files away.
            let owner = match chown(&file, Some(12_345), Some(12_345)) {
                Ok(()) => 12_345,
                Err(_) => fs::metadata(&file).unwrap().uid(),
            };
            replace(&file, b"new").unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "new");
            let new = fs::metadata(&file).unwrap();
            assert_eq!((new.permissions().mode() & 0o777, new.uid()), (mode, owner));
        }
    }
}
