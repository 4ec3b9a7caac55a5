//! The files of a folder that arrives as a tar archive, read in bounded memory. Which files a folder may have, and
//! where, is not decided here.

use std::{
    collections::BTreeMap,
    io::{self, Read},
};

use flate2::bufread::GzDecoder;
use headwater_model::limits::API_BODY_BYTES;
use headwater_platform::PlatformError;
use tar::{Archive, Entry};

use crate::error::ApiError;

/// The parameter that errors name: the same as for a folder in JSON.
const PARAM: &str = "files";

/// The way in which an archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Not at all.
    Plain,
    /// With gzip.
    Gzip,
}

/// The texts of an archive's files by their paths. `make_room` is asked before memory is taken for a file.
///
/// # Errors
/// `Invalid` naming the file, and that of `make_room`.
pub(crate) fn files(
    bytes: &[u8],
    packing: Packing,
    make_room: impl FnMut(usize) -> Result<(), ApiError>,
) -> Result<BTreeMap<String, String>, ApiError> {
    match packing {
        Packing::Plain => unpacked(bytes, make_room),
        Packing::Gzip => unpacked(GzDecoder::new(bytes), make_room),
    }
}

fn unpacked(
    reader: impl Read,
    mut make_room: impl FnMut(usize) -> Result<(), ApiError>,
) -> Result<BTreeMap<String, String>, ApiError> {
    let bounded = Bounded {
        reader,
        left: API_BODY_BYTES,
    };
    let mut archive = Archive::new(bounded);
    let mut files = BTreeMap::new();
    for entry in archive.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let path = path(&entry)?;
        if !kind.is_file() {
            let reason = format!("`{path}` is a link or a device; archive files only");
            return Err(invalid(&reason));
        }
        let text = text(entry, &path, &mut make_room)?;
        files.insert(path, text);
    }
    Ok(files)
}

/// The path in the folder: `tar` puts `./` in front of those of a whole folder.
fn path(entry: &Entry<'_, impl Read>) -> Result<String, ApiError> {
    let bytes = entry.path_bytes();
    let Ok(path) = std::str::from_utf8(&bytes) else {
        let shown = String::from_utf8_lossy(&bytes);
        return Err(invalid(&format!(
            "the name of `{shown}` is not UTF-8; rename the file"
        )));
    };
    Ok(path.strip_prefix("./").unwrap_or(path).to_owned())
}

fn text(
    mut entry: Entry<'_, impl Read>,
    path: &str,
    make_room: &mut impl FnMut(usize) -> Result<(), ApiError>,
) -> Result<String, ApiError> {
    let announced = usize::try_from(entry.size()).ok();
    let bytes = announced.filter(|bytes| *bytes <= API_BODY_BYTES);
    let bytes = bytes.ok_or_else(|| unreadable(too_large()))?;
    make_room(bytes)?;
    let mut content = Vec::with_capacity(bytes);
    entry.read_to_end(&mut content).map_err(unreadable)?;
    String::from_utf8(content).map_err(|_| {
        let reason = format!("`{path}` is not text in UTF-8; leave it out, or encode it");
        invalid(&reason)
    })
}

/// Fails behind so many bytes. An end there would look like an archive that was cut off.
struct Bounded<R> {
    reader: R,
    left: usize,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(read).ok_or_else(too_large)?;
        Ok(read)
    }
}

fn too_large() -> io::Error {
    io::ErrorKind::FileTooLarge.into()
}

fn unreadable(error: io::Error) -> ApiError {
    let reason = match error.kind() == io::ErrorKind::FileTooLarge {
        true => format!(
            "the archive has more than {API_BODY_BYTES} bytes when it is unpacked; leave out what no step imports"
        ),
        false => format!("the archive cannot be read ({error}); send one that `tar` writes"),
    };
    invalid(&reason)
}

fn invalid(reason: &str) -> ApiError {
    PlatformError::invalid(PARAM, reason).into()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use tar::{Builder, EntryType, Header};

    use super::*;

    fn header(kind: EntryType, size: usize) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size as u64);
        header
    }

    /// An archive of these entries, closed as `tar` does it.
    fn tar(entries: &[(EntryType, &str, &[u8])]) -> Vec<u8> {
        let mut archive = Builder::new(Vec::new());
        for (kind, path, content) in entries {
            let mut header = header(*kind, content.len());
            archive.append_data(&mut header, path, *content).unwrap();
        }
        archive.into_inner().unwrap()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], packing: Packing) -> Result<BTreeMap<String, String>, String> {
        files(bytes, packing, |_| Ok(())).map_err(|error| {
            let ApiError::Platform(PlatformError::Invalid(invalid)) = error else {
                panic!("{error:?}");
            };
            assert_eq!(invalid.field, PARAM);
            invalid.reason
        })
    }

    #[test]
    fn a_folder_comes_plain_or_compressed() {
        let long = format!("{}/entry.js", "s".repeat(120));
        let archive = tar(&[
            (EntryType::XGlobalHeader, "pax_global_header", b""),
            (EntryType::Directory, "./", b""),
            (EntryType::Regular, "./workflow.yaml", b"name: A\n"),
            (EntryType::Regular, &long, "ü".as_bytes()),
        ]);
        let expected = BTreeMap::from([
            ("workflow.yaml".to_owned(), "name: A\n".to_owned()),
            (long, "ü".to_owned()),
        ]);
        assert_eq!(read(&archive, Packing::Plain).unwrap(), expected);
        assert_eq!(read(&gzip(&archive), Packing::Gzip).unwrap(), expected);
    }

    #[test]
    fn what_is_no_text_file_is_named() {
        for (kind, path, content, told) in [
            (EntryType::Symlink, "a.js", &b""[..], "`a.js` is a link"),
            (EntryType::Link, "a.js", b"", "`a.js` is a link"),
            (EntryType::Fifo, "a.js", b"", "`a.js` is a link or a device"),
            (EntryType::Regular, "a.png", &[0xFF], "`a.png` is not text"),
        ] {
            let error = read(&tar(&[(kind, path, content)]), Packing::Plain).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn what_is_no_archive_is_told() {
        let archive = tar(&[(EntryType::Regular, "a.js", &[b'a'; 600])]);
        for (bytes, packing) in [
            (&b"{\"files\": {}}".repeat(60)[..], Packing::Plain),
            (&archive[..700], Packing::Plain),
            (&archive, Packing::Gzip),
            (&gzip(&archive)[..40], Packing::Gzip),
        ] {
            let error = read(bytes, packing).unwrap_err();
            assert!(error.contains("cannot be read"), "{error}");
        }
    }

    #[test]
    fn memory_is_bounded_by_what_it_unpacks_to() {
        let zeros = vec![0; 1024 * 1024];
        let parts: Vec<_> = (0..21).map(|part| part.to_string()).collect();
        let skipped = parts
            .iter()
            .map(|part| (EntryType::Directory, part.as_str(), &zeros[..]));
        let taken = parts
            .iter()
            .map(|part| (EntryType::Regular, part.as_str(), &zeros[..]));
        for bomb in [
            tar(&taken.collect::<Vec<_>>()),
            tar(&skipped.collect::<Vec<_>>()),
        ] {
            let error = read(&gzip(&bomb), Packing::Gzip).unwrap_err();
            assert!(error.contains("more than 20971520 bytes"), "{error}");
        }
        // One that announces far more than it has.
        let mut header = header(EntryType::Regular, 1 << 40);
        header.set_path("a.js").unwrap();
        header.set_cksum();
        let error = read(header.as_bytes(), Packing::Plain).unwrap_err();
        assert!(error.contains("more than 20971520 bytes"), "{error}");
    }

    #[test]
    fn each_file_asks_for_its_room_first() {
        let archive = tar(&[
            (EntryType::Regular, "a.js", b"abc"),
            (EntryType::Regular, "b.js", b"de"),
        ]);
        let mut asked = Vec::new();
        let refused = files(&archive, Packing::Plain, |bytes| {
            asked.push(bytes);
            match bytes {
                3 => Ok(()),
                _ => Err(ApiError::TooManyBodies),
            }
        });
        assert!(matches!(refused, Err(ApiError::TooManyBodies)));
        assert_eq!(asked, [3, 2]);
    }
}
