//! Reading a component's artifact for a worker.

use bytes::Bytes;
use headwater_engine::EngineError;
use headwater_model::hash::ArtifactHash;
use headwater_store::Store;

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
