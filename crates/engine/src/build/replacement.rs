//! Replacing a file of the package cache, at once for whoever reads it meanwhile.
//!
//! Not responsible for which file, or by what.

use std::{fs, io, io::Write as _, path::Path};

/// Puts `bytes` in the place of an existing file, with the permissions that it has: confined steps read it as
/// another user than the node.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions = fs::metadata(file)?.permissions();
    let mut staging = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(file))?;
    staging.write_all(bytes)?;
    staging.as_file().set_permissions(permissions)?;
    staging.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt as _,
    };

    use super::replace;

    #[test]
    fn who_could_read_the_former_file_can_read_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.js");
        fs::write(&file, "former").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        replace(&file, b"new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
    }
}
