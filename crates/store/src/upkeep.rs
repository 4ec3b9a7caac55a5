//! Upkeep that a store does for itself: telling whether it can still write, and leaving its files whole.

use async_trait::async_trait;

use crate::error::StoreError;

/// The condition of a store.
#[async_trait]
pub trait Upkeep {
    /// Whether what is to be written gets to disk. After a write that failed, the answer is why, until one of some size
    /// has succeeded, which is tried now and then, however often this is asked.
    async fn check_writing(&self) -> Result<(), StoreError>;

    /// Brings everything into the store's main file, so that a copy of it alone is whole. Called at a clean stop;
    /// what is written afterwards is as durable as ever, but may be beside that file.
    async fn consolidate(&self) -> Result<(), StoreError>;
}
