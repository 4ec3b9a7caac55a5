//! Recording the attempts of one webhook: one batch at a time, and what ends meanwhile is the next.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use headwater_model::id::WebhookId;
use headwater_store::{AttemptRecord, DisabledWebhook, Store, StoreError};
use tokio_util::sync::CancellationToken;

/// Attempts per batch.
const BATCH: usize = 256;
/// How long to wait when the store is unavailable.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// A batch that the store has answered.
pub(super) struct Recorded {
    pub(super) attempts: Vec<(AttemptRecord, Result<(), StoreError>)>,
    /// If the webhook was to be disabled with it: whether it was.
    pub(super) disabled: Option<bool>,
}

/// The attempts that are still to be recorded.
pub(super) struct Records {
    store: Arc<dyn Store>,
    webhook_id: WebhookId,
    waiting: VecDeque<AttemptRecord>,
    in_flight: Option<BoxFuture<'static, Recorded>>,
    /// Cancelled when waiting for a store that is gone would hold up the node's end.
    stopping: CancellationToken,
}

impl Records {
    pub(super) fn new(
        store: Arc<dyn Store>,
        webhook_id: WebhookId,
        stopping: CancellationToken,
    ) -> Self {
        Self {
            store,
            webhook_id,
            waiting: VecDeque::new(),
            in_flight: None,
            stopping,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_none()
    }

    /// Whether the next batch takes in everything that waits.
    pub(super) fn fit_one_batch(&self) -> bool {
        self.waiting.len() <= BATCH
    }

    pub(super) fn push(&mut self, record: AttemptRecord) {
        self.waiting.push_back(record);
    }

    /// Whether a batch can be started.
    pub(super) fn can_start(&self) -> bool {
        self.in_flight.is_none() && !self.waiting.is_empty()
    }

    /// Starts the next batch. `renew` puts the latest lease into each record.
    pub(super) fn start(
        &mut self,
        mut renew: impl FnMut(&mut AttemptRecord),
        disabled: Option<DisabledWebhook>,
        now_ms: u64,
    ) {
        let count = self.waiting.len().min(BATCH);
        let mut records: Vec<AttemptRecord> = self.waiting.drain(..count).collect();
        records.iter_mut().for_each(&mut renew);
        let (store, id) = (Arc::clone(&self.store), self.webhook_id.clone());
        let stopping = self.stopping.clone();
        self.in_flight = Some(Box::pin(async move {
            let batch = (records, disabled);
            record(&*store, &id, batch, now_ms, &stopping).await
        }));
    }

    /// Waits for the batch in flight; forever if there is none.
    pub(super) async fn next(&mut self) -> Recorded {
        let Some(batch) = &mut self.in_flight else {
            return std::future::pending().await;
        };
        let recorded = batch.await;
        self.in_flight = None;
        recorded
    }
}

/// Records; as long as the store is unavailable, tries again, because the attempts were made.
async fn record(
    store: &dyn Store,
    id: &WebhookId,
    (records, disabled): (Vec<AttemptRecord>, Option<DisabledWebhook>),
    now_ms: u64,
    stopping: &CancellationToken,
) -> Recorded {
    loop {
        let step = store.record_attempts(id, records.clone(), disabled.clone(), now_ms);
        let refused = match step.await {
            Ok(recorded) => {
                return Recorded {
                    attempts: records.into_iter().zip(recorded.results).collect(),
                    disabled: disabled.map(|_| recorded.disabled),
                };
            }
            Err(StoreError::Unavailable { .. }) if !stopping.is_cancelled() => {
                tracing::error!(webhook_id = %id, "attempts have to wait for the store to be recorded");
                tokio::select! {
                    () = tokio::time::sleep(RETRY_AFTER) => {}
                    () = stopping.cancelled() => {}
                }
                continue;
            }
            Err(error) => error.to_string(),
        };
        let refused = |record| (record, Err(StoreError::Conflict(refused.clone())));
        return Recorded {
            attempts: records.into_iter().map(refused).collect(),
            disabled: disabled.map(|_| false),
        };
    }
}
