//! Archives: everything in a ZIP file, read in bounded memory. An archive with something suspicious in it is refused as
//! a whole, because nobody knows what else is wrong with it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipFileHeaderRecord, ZipSliceArchive};

use super::tree::{FILES_MAX, Tree, checked};

/// The most that an archive may have, packed and unpacked.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

pub(super) fn read(file: &Path) -> Result<Tree> {
    let read = || {
        let opened = File::open(file).context("the file cannot be read")?;
        unpacked(&bounded(opened, BYTES_MAX)?, BYTES_MAX)
    };
    read().with_context(|| {
        let file = file.display();
        format!("cannot import the archive {file}; nothing was imported")
    })
}

/// The files of an archive that unpack to so many bytes at most.
fn unpacked(bytes: &[u8], mut left: u64) -> Result<Tree> {
    let archive = ZipArchive::from_slice(bytes)
        .context("the file is not a ZIP archive, or is only a part of one; download it again")?;
    let mut tree = Tree::default();
    let mut entries = archive.entries();
    let mut number = 0;
    while let Some(entry) = entries.next_entry()? {
        number += 1;
        if number > FILES_MAX {
            bail!("it has more than {FILES_MAX} entries, as no export of a project has");
        }
        let path = entry.file_path();
        let shown = String::from_utf8_lossy(path.as_bytes());
        let shown = shown.escape_debug();
        let Ok(path) = std::str::from_utf8(path.as_bytes()) else {
            bail!("the entry `{shown}` was refused: its name is not UTF-8");
        };
        if let Err(objection) = allowed(&entry, path) {
            bail!("the entry `{shown}` was refused: {objection}");
        }
        if entry.is_dir() {
            continue;
        }
        let content = content(&archive, &entry, left)
            .with_context(|| format!("the entry `{shown}` cannot be unpacked"))?;
        left -= content.len() as u64;
        tree.add(path, content)?;
    }
    if number as u64 != archive.entries_hint() {
        bail!("the list of its files is not whole; download it again");
    }
    Ok(tree.without_outer_folder())
}

fn allowed(entry: &ZipFileHeaderRecord<'_>, path: &str) -> Result<(), &'static str> {
    checked(path)?;
    if entry.mode().is_symlink() {
        return Err("it is a link");
    }
    match entry.flags().is_encrypted() {
        true => Err("it is encrypted"),
        false => Ok(()),
    }
}

/// The bytes of an entry, whose checksum and size are those that it claims to have.
fn content(
    archive: &ZipSliceArchive<&[u8]>,
    entry: &ZipFileHeaderRecord<'_>,
    left: u64,
) -> Result<Vec<u8>> {
    let packed = archive.get_entry(entry.wayfinder())?;
    match entry.compression_method() {
        CompressionMethod::STORE => bounded(packed.verifying_reader(packed.data()), left),
        CompressionMethod::DEFLATE => {
            let decoder = DeflateDecoder::new(packed.data());
            bounded(packed.verifying_reader(decoder), left)
        }
        other => bail!("it is packed in a way that is not known here ({other:?})"),
    }
}

/// Everything that a reader gives, if that is no more than so many bytes. Announced sizes are not asked.
fn bounded(reader: impl Read, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        bail!("the archive is larger than {} MiB", BYTES_MAX >> 20);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use rawzip::ZipArchiveWriter;

    use super::*;

    /// An archive of packed files with their modes.
    fn archive(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ZipArchiveWriter::new(&mut bytes);
        for (path, mode, content) in files {
            let file = writer.new_file(*path).unix_permissions(*mode);
            let file = file.compression_method(CompressionMethod::DEFLATE);
            let (mut entry, config) = file.start().unwrap();
            let encoder = DeflateEncoder::new(&mut entry, Compression::default());
            let mut data = config.wrap(encoder);
            data.write_all(content).unwrap();
            let (encoder, descriptor) = data.finish().unwrap();
            encoder.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        writer.finish().unwrap();
        bytes
    }

    fn refusal(bytes: &[u8]) -> String {
        format!("{:#}", unpacked(bytes, 1000).unwrap_err())
    }

    #[test]
    fn packed_files_are_read_as_they_were() {
        let bytes = archive(&[
            ("a.json", 0o100644, &[b' '; 600]),
            ("b/c.json", 0o100644, b"c"),
        ]);
        let tree = unpacked(&bytes, 601).unwrap();
        assert_eq!(tree.paths().collect::<Vec<_>>(), ["a.json", "b/c.json"]);
        assert_eq!(tree.read("a.json").unwrap(), [b' '; 600]);
    }

    #[test]
    fn an_archive_that_unpacks_to_too_much_is_refused_before_it_is_in_memory() {
        let bomb = archive(&[
            ("a.json", 0o100644, &[b' '; 600]),
            ("b.json", 0o100644, &[b' '; 600]),
        ]);
        assert!(bomb.len() < 600);
        let told = refusal(&bomb);
        assert!(told.contains("the archive is larger than"), "{told}");
    }

    #[test]
    fn links_are_refused() {
        let told = refusal(&archive(&[("a", 0o120_777, b"/etc/passwd")]));
        assert!(told.contains("`a` was refused: it is a link"), "{told}");
    }

    #[test]
    fn a_damaged_archive_is_refused() {
        let bytes = archive(&[("a.json", 0o100644, b"some text that is not packed much")]);
        let told = refusal(&bytes[..bytes.len() - 4]);
        assert!(told.contains("download it again"), "{told}");
        let mut other = bytes;
        other[40] ^= 1;
        let told = refusal(&other);
        assert!(told.contains("`a.json` cannot be unpacked"), "{told}");
    }
}
