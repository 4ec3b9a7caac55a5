//! Files of owners, copied piece by piece, and read again where they are then.

use std::io;

use anyhow::{Context as _, Result, bail};
use headwater_store::{FileContent, FilePath, FileStorage, FileUsage, FolderEntry, FolderRange};
use sha2::{Digest as _, Sha256};

/// Bytes of a file in memory at once.
const PIECE_BYTES: usize = 1024 * 1024;
/// Entries of a folder in memory at once.
const ENTRIES: usize = 1_000;
/// A file that was kept is kept, whatever the bound is now.
const UNBOUNDED: FileUsage = FileUsage {
    files: u64::MAX,
    bytes: u64::MAX,
};

/// Copies the files of all tenants, and returns their sum.
pub(super) async fn copy(from: &dyn FileStorage, to: &dyn FileStorage) -> Result<FileUsage> {
    let mut sum = FileUsage::default();
    for tenant in from.tenants().await? {
        let copied = copy_all(from, to, &tenant).await?;
        let (there, here) = (from.usage(&tenant).await?, to.usage(&tenant).await?);
        if copied != there || copied != here {
            bail!(
                "of {} files of {tenant}, {} were copied, and {} are there",
                there.files,
                copied.files,
                here.files
            );
        }
        sum.files += copied.files;
        sum.bytes += copied.bytes;
    }
    Ok(sum)
}

/// Copies the files of a tenant, folder by folder.
async fn copy_all(from: &dyn FileStorage, to: &dyn FileStorage, tenant: &str) -> Result<FileUsage> {
    let mut sum = FileUsage::default();
    let mut folders = vec![None];
    while let Some(folder) = folders.pop() {
        let mut after = None;
        loop {
            let range = FolderRange {
                folder: folder.clone(),
                after: after.take(),
                limit: ENTRIES,
            };
            let entries = from.list(tenant, range).await?;
            for entry in &entries {
                match entry {
                    FolderEntry::Folder { path } => folders.push(FilePath::folder(path)?),
                    FolderEntry::File { path, .. } => {
                        let path: FilePath = path.parse()?;
                        let copied = copy_file(from, to, tenant, &path).await;
                        let size = copied.with_context(|| format!("`{path}` of {tenant}"))?;
                        sum = sum.with(size, None);
                    }
                }
            }
            match entries.last() {
                Some(last) => after = Some(last.key()),
                None => break,
            }
        }
    }
    Ok(sum)
}

/// Copies a file, and returns its size.
async fn copy_file(
    from: &dyn FileStorage,
    to: &dyn FileStorage,
    tenant: &str,
    path: &FilePath,
) -> Result<u64> {
    let content = from.open(tenant, path).await?.context("it is gone")?;
    let file = content.file().clone();
    let mut writer = to.begin(tenant).await?;
    let (mut offset, mut digest) = (0, Sha256::new());
    while offset < file.size {
        let piece = content.read(offset, PIECE_BYTES).await?;
        offset += piece.len() as u64;
        digest.update(&piece);
        writer.write(piece).await?;
    }
    if hex::encode(digest.finalize()) != file.hash {
        bail!("its content is not the one that was stored; delete the file and copy again");
    }
    writer.commit(file.clone(), UNBOUNDED).await?;
    let copied = to.open(tenant, path).await?.context("it is not there")?;
    if *copied.file() != file || digest_of(&*copied).await? != file.hash {
        bail!("it is not the same in the copy");
    }
    Ok(file.size)
}

async fn digest_of(content: &dyn FileContent) -> io::Result<String> {
    let (mut offset, mut digest) = (0, Sha256::new());
    while offset < content.file().size {
        let piece = content.read(offset, PIECE_BYTES).await?;
        offset += piece.len() as u64;
        digest.update(&piece);
    }
    Ok(hex::encode(digest.finalize()))
}
