//! Recording the attempts of one webhook.

use std::sync::Arc;

use headwater_model::id::WebhookId;
use headwater_store::{AttemptRecord, DisabledWebhook, StoreError};

use crate::{
    actor::{Batches, store_returns},
    core::Core,
};

/// A batch that the store has answered.
pub(super) struct Recorded {
    /// Each with the reason why it was not recorded, if so.
    pub(super) attempts: Vec<(AttemptRecord, Result<(), String>)>,
    /// If the webhook was to be disabled with it: whether it was.
    pub(super) disabled: Option<bool>,
}

/// The attempts that are still to be recorded.
pub(super) struct Records {
    core: Arc<Core>,
    webhook_id: WebhookId,
    batches: Batches<AttemptRecord, Recorded>,
}

impl Records {
    pub(super) fn new(core: Arc<Core>, webhook_id: WebhookId) -> Self {
        Self {
            core,
            webhook_id,
            batches: Batches::default(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.batches.is_idle()
    }

    /// Whether the next batch takes in everything that waits.
    pub(super) fn fit_one_batch(&self) -> bool {
        self.batches.fit_one_batch()
    }

    pub(super) fn push(&mut self, record: AttemptRecord) {
        self.batches.push(record);
    }

    /// Whether a batch can be started.
    pub(super) fn can_start(&self) -> bool {
        self.batches.can_start()
    }

    /// Starts the next batch. `renew` puts the latest lease into each record.
    pub(super) fn start(
        &mut self,
        renew: impl FnMut(&mut AttemptRecord),
        disabled: Option<DisabledWebhook>,
    ) {
        let (core, id) = (Arc::clone(&self.core), self.webhook_id.clone());
        self.batches.start(|mut records| {
            records.iter_mut().for_each(renew);
            async move { record(&core, &id, records, disabled).await }
        });
    }

    /// Waits for the batch in flight; forever if there is none.
    pub(super) async fn next(&mut self) -> Recorded {
        self.batches.written().await
    }
}

/// Records; as long as the store is unavailable, tries again, because the attempts have happened.
async fn record(
    core: &Core,
    id: &WebhookId,
    records: Vec<AttemptRecord>,
    disabled: Option<DisabledWebhook>,
) -> Recorded {
    let now_ms = core.env.now_ms();
    loop {
        let step = core
            .store
            .record_attempts(id, records.clone(), disabled.clone(), now_ms);
        let refused = match step.await {
            Ok(recorded) => {
                return Recorded {
                    attempts: records
                        .into_iter()
                        .zip(error_texts(recorded.results))
                        .collect(),
                    disabled: disabled.map(|_| recorded.disabled),
                };
            }
            Err(StoreError::Unavailable { .. }) if !core.stopping.is_cancelled() => {
                tracing::error!(webhook_id = %id, "recording of attempts waits for the store");
                store_returns(&core.stopping).await;
                continue;
            }
            Err(error) => error.to_string(),
        };
        let refused = |record| (record, Err(refused.clone()));
        return Recorded {
            attempts: records.into_iter().map(refused).collect(),
            disabled: disabled.map(|_| false),
        };
    }
}

/// Results with errors as text, for the log.
fn error_texts(results: Vec<Result<(), StoreError>>) -> impl Iterator<Item = Result<(), String>> {
    let results = results.into_iter();
    results.map(|result| result.map_err(|error| error.to_string()))
}
