//! Upkeep behind the trait. The server looks after its files itself.

use async_trait::async_trait;
use headwater_store::{StoreError, Upkeep};

use crate::{connection::failed, store::PostgresStore};

#[async_trait]
impl Upkeep for PostgresStore {
    async fn check_writing(&self) -> Result<(), StoreError> {
        // A server that is read-only, or on standby, answers everything but writes.
        self.write_locking(|connection| async move {
            let written = connection.execute("UPDATE schema_version SET version = version", &[]);
            written.await.map_err(failed("writing")).map(drop)
        })
        .await
    }

    async fn consolidate(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
