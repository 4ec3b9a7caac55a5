//! The number of runs that a worker has at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Runs of a worker at a time: each may have a connection or two, and files, of which a process has a thousand.
const RUNS_AT_A_TIME: usize = 256;

/// The turns of one worker.
#[derive(Debug)]
pub(super) struct Turns {
    left: Arc<Semaphore>,
}

/// The right to be one of a worker's runs; given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for Turns {
    fn default() -> Self {
        let left = Arc::new(Semaphore::new(RUNS_AT_A_TIME));
        Self { left }
    }
}

impl Turns {
    /// Waits for one.
    pub(super) async fn next(&self) -> Turn {
        Turn {
            _permit: Arc::clone(&self.left).acquire_owned().await.ok(),
        }
    }
}
