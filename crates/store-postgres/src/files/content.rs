//! Contents that are read, some chunks at a time. Nothing is held between two reads.

use std::{io, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use headwater_store::{FileContent, StoreError, StoredFile};

use super::rows::{CHUNK_BYTES, told};
use crate::{
    connection::{Connection, failed},
    row::get,
    store::PostgresStore,
};

/// Chunks of one step.
const CHUNKS_AT_ONCE: i64 = 4;

pub(super) struct OpenFile {
    store: Arc<PostgresStore>,
    file: StoredFile,
    content_id: i64,
}

impl OpenFile {
    pub(super) fn new(store: Arc<PostgresStore>, file: StoredFile, content_id: i64) -> Self {
        Self {
            store,
            file,
            content_id,
        }
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
        if length == 0 {
            return Ok(Bytes::new());
        }
        let chunk_bytes = CHUNK_BYTES as u64;
        let number = |at: u64| i64::try_from(at / chunk_bytes).unwrap_or(i64::MAX);
        let (first, last) = (number(offset), number(offset + length as u64 - 1));
        let skipped = usize::try_from(offset % chunk_bytes).unwrap_or(CHUNK_BYTES);
        let mut bytes = BytesMut::with_capacity(skipped + length);
        let mut from = first;
        while from <= last {
            let to = last.min(from + CHUNKS_AT_ONCE - 1);
            let content_id = self.content_id;
            let chunks = self
                .store
                .read(|connection| async move { read(&connection, content_id, (from, to)).await })
                .await
                .map_err(told)?;
            chunks
                .iter()
                .for_each(|chunk| bytes.extend_from_slice(chunk));
            from = to + 1;
        }
        if bytes.len() < skipped + length {
            let reason = "the file was replaced or deleted while it was read; read it again";
            return Err(io::Error::new(io::ErrorKind::NotFound, reason));
        }
        Ok(bytes.freeze().slice(skipped..skipped + length))
    }
}

async fn read(
    connection: &Connection,
    content_id: i64,
    (from, to): (i64, i64),
) -> Result<Vec<Vec<u8>>, StoreError> {
    let sql = "SELECT bytes FROM file_chunks WHERE content_id = $1 AND number BETWEEN $2 AND $3 ORDER BY number";
    let rows = connection.query(sql, &[&content_id, &from, &to]).await;
    let rows = rows.map_err(failed("reading a file"))?;
    rows.iter().map(|row| get(row, "bytes")).collect()
}
