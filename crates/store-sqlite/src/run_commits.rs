//! The commits of runs that a store has written, counted for whoever waits for them, and the last one that a node is
//! to learn of: what is done after it happens in a node that is as good as killed.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// The count of commits of runs since the store was opened.
pub struct RunCommits {
    written: watch::Sender<u64>,
    last: AtomicU64,
}

impl Default for RunCommits {
    fn default() -> Self {
        Self {
            written: watch::Sender::new(0),
            last: AtomicU64::new(u64::MAX),
        }
    }
}

impl RunCommits {
    /// The commits written so far.
    pub fn written(&self) -> watch::Receiver<u64> {
        self.written.subscribe()
    }

    /// Makes the commit of that number the last one: it is written, and its caller never learns of it.
    pub fn halt_at(&self, number: u64) {
        self.last.store(number, Ordering::SeqCst);
    }

    /// Counts a commit that is durable.
    pub(crate) async fn count(&self) {
        let mut number = 0;
        self.written.send_modify(|written| {
            *written += 1;
            number = *written;
        });
        if number >= self.last.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}
