//! The texts of large values of a run, which lie in blobs beside its places.

use std::{collections::HashMap, sync::Arc};

use headwater_model::id::InvocationId;
use headwater_store::StoreError;
use headwater_workflow::run::{Blob, Kept};

use crate::{actor::store_returns, core::Core, error::PlatformError};

/// Texts of blobs of one run, by hash.
#[derive(Debug, Default)]
pub(super) struct BlobTexts(HashMap<String, Arc<str>>);

impl BlobTexts {
    /// Reads the texts of blobs; waits while the store is away, unless the node stops.
    ///
    /// # Errors
    /// The store cannot be read, or it does not have a blob.
    pub(super) async fn read(
        core: &Core,
        run: &InvocationId,
        blobs: Vec<Blob>,
    ) -> Result<Self, PlatformError> {
        let mut texts = HashMap::new();
        for blob in blobs {
            if texts.contains_key(&blob.hash) {
                continue;
            }
            let bytes = loop {
                match core.store.run_blob(run, &blob.hash).await {
                    Err(StoreError::Unavailable { .. }) if store_returns(&core.stopping).await => {}
                    read => break read?,
                }
            };
            let text = bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
            let text = text.ok_or_else(|| missing(&blob))?;
            texts.insert(blob.hash, Arc::from(text));
        }
        Ok(Self(texts))
    }

    /// The text of a blob.
    ///
    /// # Errors
    /// It was not read.
    pub(super) fn get(&self, blob: &Blob) -> Result<Arc<str>, PlatformError> {
        let text = self.0.get(&blob.hash);
        text.cloned().ok_or_else(|| missing(blob))
    }

    /// The text of a value.
    ///
    /// # Errors
    /// It is in a blob that was not read.
    pub(super) fn of(&self, kept: &Kept) -> Result<Arc<str>, PlatformError> {
        match kept {
            Kept::Here(text) => Ok(Arc::from(text.get())),
            Kept::Blob(blob) => self.get(blob),
        }
    }
}

fn missing(blob: &Blob) -> PlatformError {
    PlatformError::Conflict(format!(
        "the store lacks a value of {} bytes that this run keeps (SHA-256 {}): replay the run from the step that returned it",
        blob.bytes, blob.hash
    ))
}
