//! Rows of files and of their sums, which several steps read or change.

use std::io;

use headwater_store::{FilePath, FileUsage, StoreError, StoredFile};

use crate::{
    connection::{Connection, failed, is_full},
    row::{get, parsed, unsigned, unsigned_opt},
};

/// Bytes of a chunk.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;
/// A content that nobody needs any more, for those who read it.
const LEFT: &str = "UPDATE file_contents
    SET kept_until_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000
    WHERE id = ANY($1)";

/// The file at a path, and the content that it has.
pub(super) async fn find(
    connection: &Connection,
    tenant: &str,
    path: &FilePath,
) -> Result<Option<(StoredFile, i64)>, StoreError> {
    let sql = "SELECT path, content_id, size, modified_at_ms, hash, expires_at_ms
               FROM files WHERE tenant = $1 AND path = $2";
    let row = connection.query_opt(sql, &[&tenant, &path.as_str()]).await;
    let Some(row) = row.map_err(failed("looking for a file"))? else {
        return Ok(None);
    };
    let file = StoredFile {
        path: parsed(&row, "path")?,
        size: unsigned(&row, "size")?,
        modified_at_ms: unsigned(&row, "modified_at_ms")?,
        hash: get(&row, "hash")?,
        expires_at_ms: unsigned_opt(&row, "expires_at_ms")?,
    };
    Ok(Some((file, get(&row, "content_id")?)))
}

pub(super) async fn usage(connection: &Connection, tenant: &str) -> Result<FileUsage, StoreError> {
    let sql = "SELECT files, bytes FROM file_usage WHERE tenant = $1";
    let row = connection.query_opt(sql, &[&tenant]).await;
    let Some(row) = row.map_err(failed("reading the sum of a tenant's files"))? else {
        return Ok(FileUsage::default());
    };
    Ok(FileUsage {
        files: unsigned(&row, "files")?,
        bytes: unsigned(&row, "bytes")?,
    })
}

pub(super) async fn change_usage(
    connection: &Connection,
    tenant: &str,
    files: i64,
    bytes: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO file_usage AS former (tenant, files, bytes) VALUES ($1, $2, $3)
               ON CONFLICT (tenant) DO UPDATE
               SET files = former.files + excluded.files, bytes = former.bytes + excluded.bytes";
    let changed = connection.execute(sql, &[&tenant, &files, &bytes]).await;
    changed
        .map_err(failed("changing the sum of a tenant's files"))
        .map(drop)
}

/// Gives contents up that no file has any more. Those who read them have some minutes.
pub(super) async fn leave(connection: &Connection, contents: &[i64]) -> Result<(), StoreError> {
    let left = connection.execute(LEFT, &[&contents]).await;
    left.map_err(failed("giving a file's content up")).map(drop)
}

/// An error of the store as one of files.
pub(super) fn told(error: StoreError) -> io::Error {
    match is_full(&error) {
        true => io::Error::new(io::ErrorKind::StorageFull, error),
        false => io::Error::other(error),
    }
}
