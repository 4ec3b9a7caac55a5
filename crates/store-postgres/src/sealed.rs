//! Sealed values of every owner behind the trait.

use async_trait::async_trait;
use headwater_store::{Resealed, SealedRecord, SealedRecords, StoreError};

use crate::{
    sealed_rows::{self, Place},
    store::PostgresStore,
};

#[async_trait]
impl SealedRecords for PostgresStore {
    async fn sealed_records(
        &self,
        after: Option<&SealedRecord>,
        limit: u32,
    ) -> Result<Vec<SealedRecord>, StoreError> {
        let after = &after.map(Place::of).unwrap_or_default();
        self.read(|connection| async move { sealed_rows::behind(&connection, after, limit).await })
            .await
    }

    async fn reseal(&self, records: Vec<Resealed>) -> Result<(), StoreError> {
        let records = &records;
        self.write(|connection| async move {
            for resealed in records {
                sealed_rows::write(&connection, resealed).await?;
            }
            Ok(())
        })
        .await
    }
}
