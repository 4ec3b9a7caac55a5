//! Upkeep that a store does for itself: telling whether it can still write, and leaving its files whole.

use async_trait::async_trait;

use crate::error::StoreError;

/// The condition of a store.
#[async_trait]
pub trait Upkeep {
    /// Whether what is to be written gets to disk. After a write that failed, a small one is tried; while that fails
    /// too, the answer is why.
    async fn check_writing(&self) -> Result<(), StoreError>;

    /// Brings everything into the store's main file, so that a copy of it alone is whole. Called at a clean stop;
    /// what is written afterwards is as durable as ever, but may be beside that file.
    async fn consolidate(&self) -> Result<(), StoreError>;
}
