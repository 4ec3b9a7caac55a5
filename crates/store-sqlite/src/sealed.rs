//! Sealed values of every owner behind the trait.

use async_trait::async_trait;
use headwater_store::{Resealed, SealedRecord, SealedRecords, StoreError};

use crate::{
    sealed_rows::{self, Place},
    store::SqliteStore,
};

#[async_trait]
impl SealedRecords for SqliteStore {
    async fn sealed_records(
        &self,
        after: Option<&SealedRecord>,
        limit: u32,
    ) -> Result<Vec<SealedRecord>, StoreError> {
        let after = after.map(Place::of).unwrap_or_default();
        self.read(move |connection| sealed_rows::behind(connection, &after, limit))
            .await
    }

    async fn reseal(&self, records: Vec<Resealed>) -> Result<(), StoreError> {
        self.write(move |connection| {
            records
                .iter()
                .try_for_each(|resealed| sealed_rows::write(connection, resealed))
        })
        .await
    }
}
