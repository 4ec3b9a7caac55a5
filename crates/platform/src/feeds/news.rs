//! News: events of all emitters in the order of appending, for those who show the newest of everything. Readers are told
//! that the log has grown, and read it on from the position that they have.

use std::{sync::Arc, time::Duration};

use futures::{Stream, stream};
use headwater_store::{Appended, LogPosition, Store, StoreError};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{Feeds, STEP, readers::Watcher};

/// The shortest time between two readings of one reader.
const EVERY: Duration = Duration::from_millis(250);

/// Events that were appended one after the other.
pub(crate) struct Appendings {
    pub(crate) events: Vec<Appended>,
    /// The position from which to go on.
    pub(crate) up_to: LogPosition,
}

impl Feeds {
    /// Everything that the log has after a position, and everything that is appended from then on, each once and never
    /// empty. The stream ends when the node stops, or when the store cannot be read.
    ///
    /// # Errors
    /// The store does not answer.
    pub(crate) async fn appendings(
        &self,
        after: LogPosition,
    ) -> Result<impl Stream<Item = Appendings> + Send + use<>, StoreError> {
        let watcher = self.readers.watch();
        self.begin_tail().await?;
        let reading = Reading {
            store: Arc::clone(&self.core.store),
            grown: watcher.grown(),
            _watcher: watcher,
            after,
            is_at_end: false,
            read_at: Instant::now(),
        };
        let stopped = self.core.stopping.clone().cancelled_owned();
        let appendings = stream::unfold(reading, Reading::step);
        Ok(futures::StreamExt::take_until(
            Box::pin(appendings),
            stopped,
        ))
    }
}

struct Reading {
    store: Arc<dyn Store>,
    grown: watch::Receiver<()>,
    _watcher: Watcher,
    after: LogPosition,
    is_at_end: bool,
    /// When it was read last.
    read_at: Instant,
}

impl Reading {
    async fn step(mut self) -> Option<(Appendings, Self)> {
        loop {
            if self.is_at_end {
                self.grown.changed().await.ok()?;
                sleep_until(self.read_at + EVERY).await;
            }
            self.read_at = Instant::now();
            // Before the reading: whatever grows after it is read next time.
            self.grown.mark_unchanged();
            let tail = match self.store.tail(self.after, STEP).await {
                Ok(tail) => tail,
                Err(error) => {
                    tracing::warn!(%error, "the newest events have to wait for the store");
                    return None;
                }
            };
            self.after = tail.up_to;
            self.is_at_end = tail.events.is_empty();
            if !self.is_at_end {
                let appendings = Appendings {
                    events: tail.events,
                    up_to: tail.up_to,
                };
                return Some((appendings, self));
            }
        }
    }
}
