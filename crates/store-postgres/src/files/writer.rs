//! Files in the making: chunks that nobody sees until the last step puts them at a path.

use std::{io, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use headwater_store::{FileUsage, FileWriter, StoreError, StoredFile};

use super::{
    clearing,
    rows::{CHUNK_BYTES, change_usage, find, leave, told, usage},
};
use crate::{
    clock::NOW_MS,
    connection::{Connection, Params, failed},
    row::signed,
    store::PostgresStore,
};

/// The time that a content is kept after its last chunk, longer than an upload may rest.
const KEPT_MS: i64 = 2 * 60 * 60 * 1000;
/// Chunks that one step writes.
const CHUNKS_AT_ONCE: usize = 4;

pub(super) struct Writing {
    store: Arc<PostgresStore>,
    tenant: String,
    /// Bytes that are not written yet: less than a chunk, between two calls.
    rest: BytesMut,
    chunks: i64,
    unfinished: Option<Unfinished>,
}

/// A content in the making, which is cleared away with it.
struct Unfinished {
    store: Arc<PostgresStore>,
    content_id: i64,
    is_finished: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Without a runtime the program ends: another sweep finds it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if self.is_finished {
            return;
        }
        let (store, content_id) = (Arc::clone(&self.store), self.content_id);
        runtime.spawn(async move {
            if let Err(error) = clearing::clear_one(&store, content_id).await {
                let error = error.in_full();
                tracing::debug!(
                    error,
                    "half a file stays until contents are cleared away next"
                );
            }
        });
    }
}

impl Writing {
    pub(super) fn new(store: Arc<PostgresStore>, tenant: &str) -> Self {
        Self {
            store,
            tenant: tenant.to_owned(),
            rest: BytesMut::new(),
            chunks: 0,
            unfinished: None,
        }
    }

    /// The content, begun if nothing was written yet.
    async fn content(&mut self) -> io::Result<i64> {
        if let Some(unfinished) = &self.unfinished {
            return Ok(unfinished.content_id);
        }
        let tenant = &self.tenant;
        let content_id = self
            .store
            .write_locking(|connection| async move {
                let sql = format!(
                    "INSERT INTO file_contents (tenant, kept_until_ms) VALUES ($1, {NOW_MS} + {KEPT_MS}) RETURNING id"
                );
                let begun = connection.value(&sql, &[tenant]).await;
                begun.map_err(failed("beginning a file"))
            })
            .await
            .map_err(told)?;
        self.unfinished = Some(Unfinished {
            store: Arc::clone(&self.store),
            content_id,
            is_finished: false,
        });
        Ok(content_id)
    }

    /// Writes chunks, all of them whole unless they are the last.
    async fn append(&mut self, chunks: &[Bytes]) -> io::Result<()> {
        let content_id = self.content().await?;
        for chunks in chunks.chunks(CHUNKS_AT_ONCE) {
            let first = self.chunks;
            self.store
                .write_locking(|connection| async move {
                    append(&connection, content_id, first, chunks).await
                })
                .await
                .map_err(told)?;
            self.chunks += i64::try_from(chunks.len()).unwrap_or(i64::MAX);
        }
        Ok(())
    }
}

#[async_trait]
impl FileWriter for Writing {
    async fn write(&mut self, bytes: Bytes) -> io::Result<()> {
        self.rest.extend_from_slice(&bytes);
        let mut whole = Vec::new();
        while self.rest.len() >= CHUNK_BYTES {
            whole.push(self.rest.split_to(CHUNK_BYTES).freeze());
        }
        match whole.is_empty() {
            true => Ok(()),
            false => self.append(&whole).await,
        }
    }

    async fn commit(mut self: Box<Self>, file: StoredFile, most: FileUsage) -> io::Result<bool> {
        let last = std::mem::take(&mut self.rest).freeze();
        let last: Vec<_> = Some(last)
            .filter(|last| !last.is_empty())
            .into_iter()
            .collect();
        self.append(&last).await?;
        let content_id = self.content().await?;
        let (tenant, file) = (&self.tenant, &file);
        let is_there =
            self.store
                .write(|connection| async move {
                    place(&connection, tenant, content_id, file, most).await
                })
                .await
                .map_err(told)?;
        if let Some(unfinished) = &mut self.unfinished {
            unfinished.is_finished = is_there;
        }
        Ok(is_there)
    }
}

/// Appends chunks to a content that was not cleared away yet, and keeps it for longer.
async fn append(
    connection: &Connection,
    content_id: i64,
    first: i64,
    chunks: &[Bytes],
) -> Result<(), StoreError> {
    let failed = failed("writing a file");
    let sql = format!(
        "WITH kept AS (UPDATE file_contents SET kept_until_ms = {NOW_MS} + {KEPT_MS} WHERE id = $1 RETURNING id)
         INSERT INTO file_chunks (content_id, number, bytes)
         SELECT kept.id, $2 + given.number - 1, given.bytes
         FROM kept, unnest($3::bytea[]) WITH ORDINALITY AS given (bytes, number)"
    );
    let bytes: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk[..]).collect();
    let params: Params<'_> = &[&content_id, &first, &bytes];
    match connection.execute(&sql, params).await.map_err(&failed)? {
        0 if !chunks.is_empty() => Err(gone()),
        _ => Ok(()),
    }
}

/// Makes a content that of the file at its path, unless the tenant's files would be more than `most` then.
async fn place(
    connection: &Connection,
    tenant: &str,
    content_id: i64,
    file: &StoredFile,
    most: FileUsage,
) -> Result<bool, StoreError> {
    let failed = failed("putting a file at its path");
    let replaced = find(connection, tenant, &file.path).await?;
    let replaced_size = replaced.as_ref().map(|(replaced, _)| replaced.size);
    let former = usage(connection, tenant).await?;
    if !former.with(file.size, replaced_size).fits(most) {
        return Ok(false);
    }
    let bytes = signed(file.size) - replaced_size.map_or(0, signed);
    change_usage(connection, tenant, i64::from(replaced.is_none()), bytes).await?;
    let taken = "UPDATE file_contents SET kept_until_ms = NULL WHERE id = $1";
    let taken = connection.execute(taken, &[&content_id]).await;
    if taken.map_err(&failed)? == 0 {
        return Err(gone());
    }
    let sql = "INSERT INTO files (tenant, path, content_id, size, modified_at_ms, hash, expires_at_ms)
               VALUES ($1, $2, $3, $4, $5, $6, $7)
               ON CONFLICT (tenant, path) DO UPDATE
               SET content_id = excluded.content_id, size = excluded.size, hash = excluded.hash,
                   modified_at_ms = excluded.modified_at_ms, expires_at_ms = excluded.expires_at_ms";
    connection
        .execute(
            sql,
            &[
                &tenant,
                &file.path.as_str(),
                &content_id,
                &signed(file.size),
                &signed(file.modified_at_ms),
                &file.hash,
                &file.expires_at_ms.map(signed),
            ],
        )
        .await
        .map_err(&failed)?;
    if let Some((_, former)) = replaced {
        leave(connection, &[former]).await?;
    }
    Ok(true)
}

fn gone() -> StoreError {
    let reason = "nobody continued the file for two hours; write it again";
    StoreError::unavailable("writing a file", io::Error::other(reason))
}
