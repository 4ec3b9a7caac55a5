//! Reading a component's artifact for a worker.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{EngineError, WorkerState};
use headwater_model::hash::ArtifactHash;
use headwater_store::Store;
use serde_json::{Map, Value};

/// An artifact's bytes, for a worker that is to run it.
pub(crate) async fn artifact(store: &dyn Store, hash: &ArtifactHash) -> Result<Bytes, EngineError> {
    let unavailable = |reason: String| EngineError::Unavailable {
        context: "loading the component".to_owned(),
        reason,
    };
    let bytes = store
        .artifact(hash)
        .await
        .map_err(|error| unavailable(error.to_string()))?;
    bytes.ok_or_else(|| {
        unavailable(format!(
            "the component's code (artifact {}) is missing from the store; save the component again",
            hash.as_str()
        ))
    })
}

/// The needs of a fresh worker whose key-value map is no source's: its code, and the map that it begins with.
pub(crate) struct ArtifactState {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) artifact_hash: ArtifactHash,
    pub(crate) key_values: Map<String, Value>,
}

#[async_trait]
impl WorkerState for ArtifactState {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        artifact(&*self.store, &self.artifact_hash).await
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        Ok(self.key_values.clone())
    }
}
