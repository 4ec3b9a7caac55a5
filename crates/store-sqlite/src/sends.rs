//! Sends behind the trait.

use async_trait::async_trait;
use headwater_model::{id::InvocationId, time::EpochMs};
use headwater_store::{ClaimedSend, LeaseTerm, SendAttempt, SendRecord, Sends, StoreError};

use crate::{send_rows, store::SqliteStore};

#[async_trait]
impl Sends for SqliteStore {
    async fn claim_sends(
        &self,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<ClaimedSend>, StoreError> {
        self.write_unless(
            move |connection| {
                let next = send_rows::next_due(connection)?;
                Ok(next.is_none_or(|next| next > now_ms).then(Vec::new))
            },
            move |connection| send_rows::claim(connection, term, now_ms, limit),
        )
        .await
    }

    async fn release_send_claim(&self, term: LeaseTerm) -> Result<(), StoreError> {
        self.write(move |connection| send_rows::release_claim(connection, term))
            .await
    }

    async fn end_sends(&self, attempts: Vec<SendAttempt>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let mut attempts = attempts.iter();
            attempts.try_for_each(|attempt| send_rows::end(connection, attempt))
        })
        .await
    }

    async fn next_send_due(&self) -> Result<Option<EpochMs>, StoreError> {
        self.read(send_rows::next_due).await
    }

    async fn run_sends(&self, id: &InvocationId) -> Result<Vec<SendRecord>, StoreError> {
        let id = id.clone();
        self.read(move |connection| send_rows::of_run(connection, id.as_str()))
            .await
    }
}
