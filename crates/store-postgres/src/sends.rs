//! Sends behind the trait.

use async_trait::async_trait;
use headwater_model::{id::InvocationId, time::EpochMs};
use headwater_store::{ClaimedSend, LeaseTerm, SendAttempt, SendRecord, Sends, StoreError};

use crate::{send_rows, store::PostgresStore};

#[async_trait]
impl Sends for PostgresStore {
    async fn claim_sends(
        &self,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<ClaimedSend>, StoreError> {
        self.write_unless(
            |connection| async move {
                let next = send_rows::next_due(&connection).await?;
                Ok(next.is_none_or(|next| next > now_ms).then(Vec::new))
            },
            |connection| async move { send_rows::claim(&connection, term, now_ms, limit).await },
        )
        .await
    }

    async fn release_send_claim(&self, term: LeaseTerm) -> Result<(), StoreError> {
        self.write_locking(
            |connection| async move { send_rows::release_claim(&connection, term).await },
        )
        .await
    }

    async fn end_sends(&self, attempts: Vec<SendAttempt>) -> Result<(), StoreError> {
        let attempts = &attempts;
        self.write(|connection| async move {
            for attempt in attempts {
                send_rows::end(&connection, attempt).await?;
            }
            Ok(())
        })
        .await
    }

    async fn next_send_due(&self) -> Result<Option<EpochMs>, StoreError> {
        self.read(|connection| async move { send_rows::next_due(&connection).await })
            .await
    }

    async fn run_sends(&self, id: &InvocationId) -> Result<Vec<SendRecord>, StoreError> {
        self.read(|connection| async move { send_rows::of_run(&connection, id.as_str()).await })
            .await
    }
}
