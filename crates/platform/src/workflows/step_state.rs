//! The key-value maps of steps (`$.service.db`): each step of a workflow has one, kept across runs and deployments.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{EngineError, KvChange, WorkerState};
use headwater_model::{hash::ArtifactHash, id::WorkflowId};
use headwater_store::{KvWrite, Store};
use serde_json::{Map, Value};

use crate::artifact::artifact;

/// Between a step's namespace and its key: no namespace has it.
const SEPARATOR: char = '/';

/// The needs of a fresh worker for a step with a map.
pub(super) struct StepState {
    pub(super) store: Arc<dyn Store>,
    pub(super) artifact_hash: ArtifactHash,
    pub(super) workflow: WorkflowId,
    pub(super) namespace: String,
}

#[async_trait]
impl WorkerState for StepState {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        artifact(&*self.store, &self.artifact_hash).await
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        let loaded = self.store.key_values(&self.workflow.clone().into()).await;
        let all = loaded.map_err(|error| EngineError::Unavailable {
            context: "loading the key-value map of a step".to_owned(),
            reason: error.to_string(),
        })?;
        let own = all.into_iter().filter_map(|(key, value)| {
            let (namespace, key) = key.split_once(SEPARATOR)?;
            (namespace == self.namespace).then(|| (key.to_owned(), value))
        });
        Ok(own.collect())
    }
}

/// A change of a step's map, as the workflow's map has it.
pub(super) fn write(namespace: &str, change: KvChange) -> KvWrite {
    KvWrite {
        key: format!("{namespace}{SEPARATOR}{}", change.key),
        value: change.value,
    }
}
