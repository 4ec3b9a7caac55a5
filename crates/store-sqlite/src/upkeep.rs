//! The condition of the database: whether writes succeed, and where what was written is.

use async_trait::async_trait;
use headwater_store::{StoreError, Upkeep};
use parking_lot::Mutex;
use rusqlite::Connection;

use crate::{SqliteStore, connection, connection::failed};

/// The bytes that have to fit before a full disk counts as having room again: the next request may not be a small one.
const PROBE_BYTES: u32 = 1024 * 1024;

/// Whether the last write succeeded. Told by the writer; asked by who wants to know whether the node is well.
#[derive(Default)]
pub(crate) struct Health {
    failure: Mutex<Option<String>>,
}

impl Health {
    /// Notes how a write went. The first failure and the first success after it are logged, with their cause.
    pub(crate) fn note(&self, written: Result<(), &str>) {
        let mut failure = self.failure.lock();
        match (written, failure.is_some()) {
            (Ok(()), true) => tracing::info!("the store can be written again"),
            (Err(cause), false) => {
                tracing::error!(
                    cause,
                    "the store cannot be written; nothing is accepted until it can"
                );
            }
            (Ok(()), false) | (Err(_), true) => {}
        }
        *failure = written.err().map(str::to_owned);
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.failure.lock().is_some()
    }
}

#[async_trait]
impl Upkeep for SqliteStore {
    async fn check_writing(&self) -> Result<(), StoreError> {
        match self.health.is_failing() {
            true => {
                self.write(|connection| probe(connection, Some(PROBE_BYTES)))
                    .await?;
                self.write(|connection| probe(connection, None)).await
            }
            false => Ok(()),
        }
    }

    async fn consolidate(&self) -> Result<(), StoreError> {
        let Some(path) = self.path.clone() else {
            return Ok(());
        };
        // The writer's own connection is in transactions; one beside it waits for it.
        let consolidated = tokio::task::spawn_blocking(move || {
            let connection = connection::writing(&path)?;
            checkpoint(&connection, "TRUNCATE")
        });
        consolidated
            .await
            .map_err(|error| StoreError::unavailable("consolidating the store", error))?
    }
}

/// Writes so many bytes that nobody reads, or frees them again.
fn probe(connection: &Connection, bytes: Option<u32>) -> Result<(), StoreError> {
    connection
        .execute("UPDATE node SET probe = zeroblob(?1)", [bytes])
        .map_err(failed("probing whether the store can be written"))
        .map(drop)
}

/// Copies what was written into the main file; `PASSIVE` as far as nobody has to wait for it.
pub(crate) fn checkpoint(connection: &Connection, mode: &str) -> Result<(), StoreError> {
    let is_busy: bool = connection
        .query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |row| {
            row.get(0)
        })
        .map_err(failed("consolidating the store"))?;
    match is_busy && mode != "PASSIVE" {
        true => Err(StoreError::unavailable(
            "consolidating the store",
            "somebody else is using it",
        )),
        false => Ok(()),
    }
}
