//! The writes of an actor, in batches: one is in flight, and items that come meanwhile form the next.
//! So order holds without waiting for each write, and a busy actor shares its durable writes.

use std::{collections::VecDeque, time::Duration};

use tokio_util::sync::CancellationToken;

use super::InFlight;
use crate::error::PlatformError;

/// Items per batch.
const BATCH: usize = 256;
/// The time to wait if the store is unavailable.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Items that wait, and the batch that is being written; `R` is the store's answer.
pub(crate) struct Batches<T, R> {
    waiting: VecDeque<T>,
    in_flight: InFlight<R>,
}

impl<T, R> Default for Batches<T, R> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            in_flight: InFlight::default(),
        }
    }
}

impl<T, R> Batches<T, R> {
    /// Adds an item at the end.
    pub(crate) fn push(&mut self, item: T) {
        self.waiting.push_back(item);
    }

    /// Whether nothing waits and nothing is being written.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_idle()
    }

    /// The items that wait for the next batch.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &T> {
        self.waiting.iter()
    }

    /// Whether a batch is being written.
    pub(crate) fn is_writing(&self) -> bool {
        !self.in_flight.is_idle()
    }

    /// Whether a batch can be started.
    pub(crate) fn can_start(&self) -> bool {
        !self.waiting.is_empty() && self.in_flight.is_idle()
    }

    /// Whether the next batch has room for everything that waits.
    pub(crate) fn fit_one_batch(&self) -> bool {
        self.waiting.len() <= BATCH
    }

    /// Starts writing the next batch, if one can be started: `write` turns it into work.
    pub(crate) fn start<W>(&mut self, write: impl FnOnce(Vec<T>) -> W)
    where
        W: Future<Output = R> + Send + 'static,
    {
        if self.can_start() {
            let count = self.waiting.len().min(BATCH);
            let batch = self.waiting.drain(..count).collect();
            self.in_flight.start(write(batch));
        }
    }

    /// Waits for the batch in flight; forever if there is none.
    pub(crate) async fn written(&mut self) -> R {
        self.in_flight.ended().await
    }
}

/// Asks the store, again as long as it is unavailable, and fails then only because the node is stopping: for what an actor
/// cannot go on without.
///
/// # Errors
/// Those of `ask`.
pub(crate) async fn insisted<T, F>(
    stopping: &CancellationToken,
    ask: impl Fn() -> F,
) -> Result<T, PlatformError>
where
    F: Future<Output = Result<T, PlatformError>>,
{
    loop {
        match ask().await {
            Err(error @ PlatformError::Unavailable(_)) => {
                tracing::warn!(%error, "the store is asked again");
                if !store_returns(stopping).await {
                    return Err(error);
                }
            }
            asked => return asked,
        }
    }
}

/// Waits a while for a store that is unavailable. False: the node is stopping, and nobody waits any more.
pub(crate) async fn store_returns(stopping: &CancellationToken) -> bool {
    tokio::select! {
        () = tokio::time::sleep(RETRY_AFTER) => true,
        () = stopping.cancelled() => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_comes_meanwhile_makes_the_next_batch() {
        let mut batches = Batches::default();
        (0..BATCH + 2).for_each(|item| batches.push(item));
        assert!(!batches.fit_one_batch());
        batches.start(|batch| async move { batch.len() });
        batches.push(0);
        assert!(!batches.can_start(), "one at a time");
        assert_eq!(batches.written().await, BATCH);
        batches.start(|batch| async move { batch.len() });
        assert_eq!(batches.written().await, 3);
        assert!(batches.is_idle());
    }
}
