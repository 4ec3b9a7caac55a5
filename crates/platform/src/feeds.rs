//! Feeds: readers that follow an emitter's events as they come.
//!
//! ```text
//!  log ──► tail (one per node, while somebody reads) ──► queue of each reader of the emitter ──► stream
//!   └────► replay: what came after the event that a reader had last ─────────────────────────────┘
//! ```
//!
//! The tail waits for nobody. A reader that leaves too much waiting loses its place: its stream ends,
//! and it may come again with the last event it has. So retention waits for the tail alone. Those who show the newest of
//! all emitters are told by the tail that there is more, and read it themselves.

mod batch;
mod follow;
mod news;
mod readers;

use std::{sync::Arc, time::Duration};

use headwater_model::id::EmitterId;
use headwater_store::{ApiKey, LogPosition, Progress, StoreError};

pub(crate) use self::news::Appendings;
use self::readers::Readers;
pub use self::{batch::Portion, follow::Follow};
use crate::{chore::Chore, core::Core};

/// Events per step of the tail.
const STEP: u32 = 500;
/// After a step that found events. Under load more of them come together, and readers are woken less often.
const PACE: Duration = Duration::from_millis(10);

/// The feeds of this node.
pub(crate) struct Feeds {
    core: Arc<Core>,
    readers: Arc<Readers>,
    /// Held while the tail begins and while events are trimmed: none is trimmed for want of a tail that
    /// has begun meanwhile.
    pub(crate) trimming: tokio::sync::Mutex<()>,
}

impl Feeds {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            readers: Arc::default(),
            trimming: tokio::sync::Mutex::default(),
        }
    }

    /// Up to where readers have been given the log; `None` while nobody reads.
    pub(crate) fn read_up_to(&self) -> Option<LogPosition> {
        self.readers.read_up_to()
    }

    /// Closes the streams of readers that lost access; those that still have it reconnect.
    pub(crate) fn disconnect(&self, lost_access: impl Fn(&ApiKey) -> bool) {
        self.readers.disconnect(lost_access);
    }

    /// Ends the streams of an emitter that is gone.
    pub(crate) fn end(&self, emitter: &EmitterId) {
        self.readers.end(emitter);
    }

    /// One step of the tail: appended events go to the readers of their emitter.
    pub(crate) async fn read_tail(&self) -> Result<Progress, StoreError> {
        let Some(after) = self.readers.next_step() else {
            return Ok(Progress::default());
        };
        let tail = self.core.store.tail(after, STEP).await?;
        let found = tail.events.len() as u64;
        self.readers.hand_out(tail.events, tail.up_to);
        if found > 0 {
            tokio::time::sleep(PACE).await;
        }
        Ok(Progress {
            done: found,
            more: found > 0,
            ..Progress::default()
        })
    }

    /// Makes sure that the tail reads along from the log's end, or from before it.
    async fn begin_tail(&self) -> Result<LogPosition, StoreError> {
        let _nothing_is_trimmed = self.trimming.lock().await;
        let end = self.core.store.log_end().await?;
        self.readers.begin_at(end);
        // An event appended meanwhile may have nudged a tail that had not begun.
        self.core.nudges.nudge(Chore::Tail);
        Ok(end)
    }
}
