//! The archive of a code folder: its contents, packing and unpacking.
//!
//! The folder's layout is fixed: [`ENTRY`] is the component, always an ECMAScript module with the
//! component's own files bundled in, and [`SOURCE_MAP`] its source map. The bundle form has nothing else but the
//! modules that it shares with others (`shared_modules.rs`); in the node_modules form there are `node_modules/` and
//! `package.json` beside it. Equal folders give
//! equal bytes: entries are sorted and carry no times, owners or modes. Not responsible for where archives are kept.

use std::{
    fs,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use headwater_model::hash::ArtifactHash;
use sha2::{Digest, Sha256};

use crate::api::Artifact;

/// The module to load, relative to the unpacked folder.
pub const ENTRY: &str = "component.mjs";
/// The origin of its lines, for stacks.
pub const SOURCE_MAP: &str = "component.mjs.map";
/// The beginning of compressed bytes (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes of the files in `folder`.
///
/// # Errors
/// A file cannot be looked at.
pub fn size(folder: &Path) -> io::Result<u64> {
    let mut paths = Vec::new();
    collect(folder, Path::new(""), &mut paths)?;
    let sizes = paths.iter().map(|path| {
        let metadata = fs::symlink_metadata(folder.join(path))?;
        Ok(metadata.len())
    });
    sizes.sum()
}

/// Packs `folder`.
///
/// # Errors
/// A file cannot be read, or a symbolic link leads out of the folder.
pub fn pack(folder: &Path) -> io::Result<Artifact> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut paths = Vec::new();
    collect(folder, Path::new(""), &mut paths)?;
    paths.sort();
    for path in paths {
        append(&mut archive, folder, &path)?;
    }
    let bytes = archive.into_inner()?.finish()?;
    Ok(Artifact {
        hash: ArtifactHash::new(hex::encode(Sha256::digest(&bytes))),
        bytes: Bytes::from(bytes),
    })
}

impl Artifact {
    /// The archive of an action that does nothing: code for workers that only evaluate expressions.
    pub fn without_code() -> Self {
        const CODE: &[u8] = b"export default { type: \"action\", run() {} };\n";
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.set_size(CODE.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        let appended = archive.append_data(&mut header, ENTRY, CODE);
        let finished = appended.and_then(|()| archive.into_inner()?.finish());
        let bytes = finished.expect("memory takes every write");
        Self {
            hash: ArtifactHash::new(hex::encode(Sha256::digest(&bytes))),
            bytes: Bytes::from(bytes),
        }
    }
}

/// Unpacks an archive that [`pack`] made into `folder`, which must exist. The first releases did not compress.
///
/// # Errors
/// A file cannot be written, or the bytes are not such an archive.
pub fn unpack(archive: &[u8], folder: &Path) -> io::Result<()> {
    match archive.starts_with(&GZIP) {
        true => unpack_tar(GzDecoder::new(archive), folder),
        false => unpack_tar(archive, folder),
    }
}

fn unpack_tar(archive: impl Read, folder: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(archive);
    archive.set_preserve_mtime(false);
    archive.set_preserve_permissions(false);
    archive.unpack(folder)
}

/// Every file and link below `folder/relative`; folders are implied by them.
fn collect(folder: &Path, relative: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(relative))? {
        let entry = entry?;
        let path = relative.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(folder, &path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

fn append(
    archive: &mut tar::Builder<impl io::Write>,
    folder: &Path,
    path: &Path,
) -> io::Result<()> {
    let full = folder.join(path);
    let mut header = tar::Header::new_gnu();
    header.set_mtime(0);
    header.set_mode(0o644);
    if full.is_symlink() {
        let target = fs::read_link(&full)?;
        if !stays_inside(path, &target) {
            return Err(io::Error::other(format!(
                "the link {} leads out of the folder",
                path.display()
            )));
        }
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        return archive.append_link(&mut header, path, target);
    }
    let content = fs::read(&full)?;
    header.set_size(content.len() as u64);
    archive.append_data(&mut header, path, content.as_slice())
}

/// Whether the link at `path` with this `target` leads to a place in the same folder.
fn stays_inside(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read as _, os::unix::fs::symlink, path::Path};

    use flate2::read::GzDecoder;

    use super::{pack, stays_inside, unpack};

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder
            .path()
            .join("node_modules")
            .join("d".repeat(90))
            .join("e".repeat(90));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("index.js"), "1").unwrap();
        fs::write(folder.path().join("component.mjs"), "export default {}").unwrap();
        symlink(
            Path::new("d").join("x"),
            folder.path().join("node_modules").join("a@1"),
        )
        .unwrap();
        folder
    }

    #[test]
    fn equal_folders_give_equal_archives() {
        let (one, two) = (
            pack(folder().path()).unwrap(),
            pack(folder().path()).unwrap(),
        );
        assert_eq!(one.hash, two.hash);
        assert_eq!(one.bytes, two.bytes);
    }

    #[test]
    fn an_unpacked_archive_is_the_folder_again() {
        let archive = pack(folder().path()).unwrap();
        let copy = tempfile::tempdir().unwrap();
        unpack(&archive.bytes, copy.path()).unwrap();
        assert_eq!(pack(copy.path()).unwrap().hash, archive.hash);
        let link = fs::read_link(copy.path().join("node_modules").join("a@1")).unwrap();
        assert_eq!(link, Path::new("d").join("x"));
    }

    #[test]
    fn an_archive_that_is_not_compressed_is_unpacked_as_well() {
        let archive = pack(folder().path()).unwrap();
        let mut plain = Vec::new();
        let mut unzipped = GzDecoder::new(archive.bytes.as_ref());
        unzipped.read_to_end(&mut plain).unwrap();
        let copy = tempfile::tempdir().unwrap();
        unpack(&plain, copy.path()).unwrap();
        assert_eq!(pack(copy.path()).unwrap().hash, archive.hash);
    }

    #[test]
    fn a_link_out_of_the_folder_is_refused() {
        for (path, target, inside) in [
            ("a/b", "../c", true),
            ("a/b", "../../c", false),
            ("a", "b/../c", true),
            ("a", "/etc/passwd", false),
        ] {
            assert_eq!(
                stays_inside(Path::new(path), Path::new(target)),
                inside,
                "{path} -> {target}"
            );
        }
        let folder = folder();
        symlink("/etc/passwd", folder.path().join("leak")).unwrap();
        assert!(pack(folder.path()).is_err());
    }
}
