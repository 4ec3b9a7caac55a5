//! Upkeep of a store: whether it can still write, and consolidating its files.

use async_trait::async_trait;

use crate::error::StoreError;

/// The condition of a store.
#[async_trait]
pub trait Upkeep {
    /// Whether writes reach the disk. After a failed write, the answer is the cause, until a larger write has
    /// succeeded; the store tries one from time to time, however often this is called.
    async fn check_writing(&self) -> Result<(), StoreError>;

    /// Moves everything into the store's main file, so that a copy of that file is complete. Called at a clean stop;
    /// later writes are as durable as ever, but may be in a file beside it.
    async fn consolidate(&self) -> Result<(), StoreError>;
}
