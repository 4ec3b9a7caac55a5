//! The state that lives beside the event log: key-value maps and dedupe state.

use async_trait::async_trait;
use headwater_model::{dedupe, id::RunnableId};
use serde_json::{Map, Value};

use crate::error::StoreError;

/// `$.service.db` and dedupe state. Writing happens in [`crate::WorkQueue::commit_runs`] only.
#[async_trait]
pub trait KeyValue {
    /// The whole map of a source or workflow.
    async fn key_values(&self, runnable: &RunnableId) -> Result<Map<String, Value>, StoreError>;

    /// The dedupe state of a source or workflow; `None` before the first event.
    async fn dedupe_state(
        &self,
        runnable: &RunnableId,
    ) -> Result<Option<dedupe::State>, StoreError>;
}
