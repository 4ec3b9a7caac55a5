//! Following the changes of the things that a caller may see.

use std::sync::Arc;

use futures::{Stream, StreamExt as _, stream};
use headwater_model::time::EpochMs;
use tokio::sync::broadcast;

use crate::{caller::Caller, changes::Change, platform::Platform};

/// A caller who listens.
struct Listener {
    caller: Caller,
    missed: Vec<Change>,
    coming: broadcast::Receiver<Change>,
}

impl Platform {
    /// Whether the node is about to stop: streams end then, and go on when it is back.
    pub fn is_stopping(&self) -> bool {
        self.core.stopping.is_cancelled()
    }

    /// The things that change, of those that the caller may see: since a moment, at which a page was read, and from now
    /// on. The stream ends when the node stops. It costs nothing but memory: each change names its owner.
    pub fn changes(
        self: &Arc<Self>,
        caller: &Caller,
        since_ms: EpochMs,
    ) -> impl Stream<Item = Change> + Send + use<> {
        let (mut missed, coming) = self.core.changes.listen(since_ms);
        missed.reverse();
        let listener = Listener {
            caller: caller.clone(),
            missed,
            coming,
        };
        let changes = stream::unfold(listener, |mut listener| async move {
            let change = listener.next().await?;
            Some((change, listener))
        });
        let stopped = self.core.stopping.clone().cancelled_owned();
        changes.boxed().take_until(stopped)
    }
}

impl Listener {
    async fn next(&mut self) -> Option<Change> {
        loop {
            let change = match self.missed.pop() {
                Some(change) => change,
                None => match self.coming.recv().await {
                    Ok(change) => change,
                    Err(broadcast::error::RecvError::Lagged(_)) => Change::Much,
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
            };
            if change
                .owner()
                .is_none_or(|owner| self.caller.may_see(owner))
            {
                return Some(change);
            }
        }
    }
}
