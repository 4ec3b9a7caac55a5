//! Stored files that are read. The file of the system stays the same when another takes its name.

use std::{fs::File, io, os::unix::fs::FileExt as _, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use headwater_store::{FileContent, StoredFile};

use super::{disk::on_disk, trailer};

pub(super) struct OpenFile {
    file: StoredFile,
    content: Arc<File>,
}

impl OpenFile {
    pub(super) fn read_from(content: File) -> io::Result<Self> {
        Ok(Self {
            file: trailer::read(&content)?,
            content: Arc::new(content),
        })
    }
}

#[async_trait]
impl FileContent for OpenFile {
    fn file(&self) -> &StoredFile {
        &self.file
    }

    async fn read(&self, offset: u64, length: usize) -> io::Result<Bytes> {
        let left = self.file.size.saturating_sub(offset);
        let length = usize::try_from(left).map_or(length, |left| left.min(length));
        let content = Arc::clone(&self.content);
        on_disk(move || {
            let mut bytes = vec![0; length];
            content.read_exact_at(&mut bytes, offset)?;
            Ok(Bytes::from(bytes))
        })
        .await
    }
}
