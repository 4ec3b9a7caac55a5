//! Following the changes of the things that a caller may see.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::{Stream, StreamExt as _, stream};
use headwater_model::time::EpochMs;
use tokio::{sync::broadcast, time::Instant};

use crate::{caller::Caller, changes::Change, error::PlatformError, platform::Platform};

/// How long an answer counts to whether the caller may see a thing.
const ACCESS_LASTS: Duration = Duration::from_secs(30);
/// Things whose access is remembered.
const REMEMBERED: usize = 1_000;

/// A caller who listens.
struct Listener {
    platform: Arc<Platform>,
    caller: Caller,
    missed: Vec<Change>,
    coming: broadcast::Receiver<Change>,
    access: HashMap<String, bool>,
    asked_at: Instant,
}

impl Platform {
    /// The things that change, of those that the caller may see: since a moment, at which a page was read, and from now
    /// on. The stream ends when the node stops.
    pub fn changes(
        self: &Arc<Self>,
        caller: &Caller,
        since_ms: EpochMs,
    ) -> impl Stream<Item = Change> + Send + use<> {
        let (mut missed, coming) = self.core.changes.listen(since_ms);
        missed.reverse();
        let listener = Listener {
            platform: Arc::clone(self),
            caller: caller.clone(),
            missed,
            coming,
            access: HashMap::new(),
            asked_at: Instant::now(),
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
            if self.may_see(&change).await {
                return Some(change);
            }
        }
    }

    /// Whether the caller may see the thing; asked once in a while. A thing that is gone was seen before.
    async fn may_see(&mut self, change: &Change) -> bool {
        let key = match change {
            Change::Source(id) => id.to_string(),
            Change::Run { workflow_id, .. } => workflow_id.to_string(),
            Change::Webhook(id) => id.to_string(),
            Change::Much => return true,
        };
        if self.asked_at.elapsed() >= ACCESS_LASTS || self.access.len() >= REMEMBERED {
            self.access.clear();
            self.asked_at = Instant::now();
        }
        if let Some(may) = self.access.get(&key) {
            return *may;
        }
        let found = self.look(change).await;
        // A store that does not answer forbids nothing: the page that is read again asks it.
        let may = !matches!(found, Err(PlatformError::NotFound { .. }));
        self.access.insert(key, may);
        may
    }

    async fn look(&self, change: &Change) -> Result<(), PlatformError> {
        let (platform, caller) = (&self.platform, &self.caller);
        match change {
            Change::Source(id) => platform.visible_source(caller, id).await.map(drop),
            Change::Run { workflow_id, .. } => platform
                .visible_workflow(caller, workflow_id)
                .await
                .map(drop),
            Change::Webhook(id) => platform.webhook(caller, id).await.map(drop),
            Change::Much => Ok(()),
        }
    }
}
