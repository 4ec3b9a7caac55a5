//! A file in the making: its content so far, and the room that it takes.

use bytes::Bytes;
use headwater_model::time::EpochMs;
use headwater_store::{FilePath, FileUsage, FileWriter, StoredFile};
use sha2::{Digest as _, Sha256};

use super::{fault::Fault, room::Share};

pub(super) struct Draft {
    path: FilePath,
    expires_at_ms: Option<EpochMs>,
    writer: Box<dyn FileWriter>,
    digest: Sha256,
    size: u64,
    share: Share,
}

impl Draft {
    pub(super) fn new(
        path: FilePath,
        expires_at_ms: Option<EpochMs>,
        writer: Box<dyn FileWriter>,
        share: Share,
    ) -> Self {
        Self {
            path,
            expires_at_ms,
            writer,
            digest: Sha256::new(),
            size: 0,
            share,
        }
    }

    /// The size that it would have with further bytes.
    pub(super) fn size_with(&self, bytes: &Bytes) -> u64 {
        self.size + bytes.len() as u64
    }

    /// Takes room for further bytes, if so many are left for all files in the making.
    pub(super) fn fits(&mut self, bytes: &Bytes, bytes_left: u64) -> bool {
        self.share.grow(bytes.len() as u64, bytes_left)
    }

    /// Appends bytes that have their room.
    pub(super) async fn write(&mut self, bytes: Bytes) -> Result<(), Fault> {
        self.digest.update(&bytes);
        self.size += bytes.len() as u64;
        Ok(self.writer.write(bytes).await?)
    }

    /// Puts the file at its path and returns its size, unless its owner's files would be more than `most` then.
    pub(super) async fn commit(
        self,
        now_ms: EpochMs,
        most: FileUsage,
    ) -> Result<Option<u64>, Fault> {
        let file = StoredFile {
            path: self.path,
            size: self.size,
            modified_at_ms: now_ms,
            hash: hex::encode(self.digest.finalize()),
            expires_at_ms: self.expires_at_ms,
        };
        let is_there = self.writer.commit(file, most).await?;
        Ok(is_there.then_some(self.size))
    }
}
