//! The component that evaluates the expressions of blocks: one without any code of its own.

use std::sync::OnceLock;

use async_trait::async_trait;
use bytes::Bytes;
use headwater_engine::{Artifact, EngineError, WorkerState};
use serde_json::{Map, Value};

/// The artifact of the evaluator, which every worker has room for.
pub(super) fn artifact() -> &'static Artifact {
    static ARTIFACT: OnceLock<Artifact> = OnceLock::new();
    ARTIFACT.get_or_init(Artifact::without_code)
}

/// The needs of a fresh worker for expressions.
pub(super) struct EvaluatorState;

#[async_trait]
impl WorkerState for EvaluatorState {
    async fn artifact(&self) -> Result<Bytes, EngineError> {
        Ok(artifact().bytes.clone())
    }

    async fn key_values(&self) -> Result<Map<String, Value>, EngineError> {
        Ok(Map::new())
    }
}
