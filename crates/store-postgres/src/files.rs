//! The files of owners, in chunks of bounded size. No step of the store holds more of a file than some chunks, and none waits
//! for whoever writes or reads one.
//!
//! A content is written in steps of its own, in which nobody sees it, and becomes that of a file in one step with the owner's
//! sum. One that no file has any more stays for some minutes for its readers. Contents in the making that nobody continues
//! are cleared away likewise ([`clearing`]), because each says until when it is kept.

mod clearing;
mod content;
mod listing;
mod rows;
mod writer;

use std::{io, sync::Arc};

use async_trait::async_trait;
use headwater_model::time::EpochMs;
use headwater_store::{
    FileContent, FilePath, FileStorage, FileUsage, FileWriter, FolderEntry, FolderRange, StoreError,
};

use self::{
    content::OpenFile,
    rows::{change_usage, find, leave, told, usage},
    writer::Writing,
};
use crate::{
    connection::{Connection, failed},
    row::{get, signed},
    store::PostgresStore,
};

/// Files that one step deletes.
const DELETED_AT_ONCE: i64 = 500;

/// The files of owners in a database, which all of its nodes see.
pub struct PostgresFiles(Arc<PostgresStore>);

impl PostgresFiles {
    /// Those beside a store.
    pub fn of(store: Arc<PostgresStore>) -> Self {
        Self(store)
    }
}

#[async_trait]
impl FileStorage for PostgresFiles {
    async fn open(
        &self,
        tenant: &str,
        path: &FilePath,
    ) -> io::Result<Option<Box<dyn FileContent>>> {
        let found = self
            .0
            .read(|connection| async move { find(&connection, tenant, path).await })
            .await
            .map_err(told)?;
        Ok(found.map(|(file, content_id)| {
            let opened = OpenFile::new(Arc::clone(&self.0), file, content_id);
            Box::new(opened) as Box<dyn FileContent>
        }))
    }

    async fn list(&self, tenant: &str, range: FolderRange) -> io::Result<Vec<FolderEntry>> {
        let range = &range;
        self.0
            .read(|connection| async move { listing::list(&connection, tenant, range).await })
            .await
            .map_err(told)
    }

    async fn usage(&self, tenant: &str) -> io::Result<FileUsage> {
        self.0
            .read(|connection| async move { usage(&connection, tenant).await })
            .await
            .map_err(told)
    }

    async fn begin(&self, tenant: &str) -> io::Result<Box<dyn FileWriter>> {
        Ok(Box::new(Writing::new(Arc::clone(&self.0), tenant)))
    }

    async fn delete(&self, tenant: &str, path: &FilePath) -> io::Result<bool> {
        self.0
            .write(|connection| async move {
                let Some((file, content_id)) = find(&connection, tenant, path).await? else {
                    return Ok(false);
                };
                let gone = "DELETE FROM files WHERE tenant = $1 AND path = $2";
                let gone = connection.execute(gone, &[&tenant, &path.as_str()]).await;
                gone.map_err(failed("deleting a file"))?;
                change_usage(&connection, tenant, -1, -signed(file.size)).await?;
                leave(&connection, &[content_id]).await?;
                Ok(true)
            })
            .await
            .map_err(told)
    }

    async fn delete_all(&self, tenant: &str) -> io::Result<()> {
        self.0
            .write(|connection| async move {
                for table in ["files", "file_usage"] {
                    let sql = format!("DELETE FROM {table} WHERE tenant = $1");
                    let gone = connection.execute(&sql, &[&tenant]).await;
                    gone.map_err(failed("deleting a tenant's files"))?;
                }
                let left = "UPDATE file_contents SET kept_until_ms = 0 WHERE tenant = $1";
                let left = connection.execute(left, &[&tenant]).await;
                left.map_err(failed("deleting a tenant's files")).map(drop)
            })
            .await
            .map_err(told)?;
        clearing::clear(&self.0).await.map_err(told)
    }

    async fn delete_expired(&self, now_ms: EpochMs) -> io::Result<u64> {
        let mut deleted = 0;
        loop {
            let some = self
                .0
                .write(|connection| async move { delete_expired(&connection, now_ms).await })
                .await
                .map_err(told)?;
            deleted += some;
            if some == 0 {
                break;
            }
        }
        clearing::clear(&self.0).await.map_err(told)?;
        Ok(deleted)
    }

    async fn tenants(&self) -> io::Result<Vec<String>> {
        self.0
            .read(|connection| async move {
                let sql = "SELECT tenant FROM file_usage WHERE files > 0 ORDER BY tenant";
                let rows = connection.query(sql, &[]).await;
                let rows = rows.map_err(failed("looking for tenants with files"))?;
                rows.iter().map(|row| get(row, "tenant")).collect()
            })
            .await
            .map_err(told)
    }
}

/// Deletes some files that have expired.
async fn delete_expired(connection: &Connection, now_ms: EpochMs) -> Result<u64, StoreError> {
    let failed = failed("deleting files that have expired");
    let sql = "DELETE FROM files WHERE (tenant, path) IN (
                   SELECT tenant, path FROM files WHERE expires_at_ms <= $1 ORDER BY expires_at_ms LIMIT $2)
               RETURNING tenant, size, content_id";
    let gone = connection
        .query(sql, &[&signed(now_ms), &DELETED_AT_ONCE])
        .await
        .map_err(&failed)?;
    let mut contents = Vec::with_capacity(gone.len());
    for row in &gone {
        let (tenant, size): (String, i64) = (get(row, "tenant")?, get(row, "size")?);
        change_usage(connection, &tenant, -1, -size).await?;
        contents.push(get(row, "content_id")?);
    }
    leave(connection, &contents).await?;
    Ok(gone.len() as u64)
}
