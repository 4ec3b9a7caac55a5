//! The sources and workflows that this node owns: one lease each, taken once per life of the node and carried by every
//! write for them.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use headwater_model::id::RunnableId;
use headwater_store::{Conflict, NODE_TIMEOUT, Progress, RunnableLease, StoreError};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::core::Core;

/// The interval at which the node says that it lives: a fifth of the time after which others take over.
const HEARTBEAT: Duration = NODE_TIMEOUT.checked_div(5).unwrap();

/// The leases that this node holds. They hang on the node's life, so that holding many costs nothing.
pub(crate) struct Leases {
    core: Arc<Core>,
    /// The fence of each. There may be one per source, and the epoch of all is the node's.
    held: Mutex<HashMap<RunnableId, u64>>,
    /// Cancelled once the node's life has been ended by others, or may have been.
    lost: CancellationToken,
    /// The time of the last heartbeat that was kept, where other nodes would take over.
    kept_at: Option<Mutex<Instant>>,
}

impl Leases {
    /// `has_others`: whether other nodes take over from one that is silent.
    pub(crate) fn new(core: Arc<Core>, has_others: bool) -> Self {
        Self {
            core,
            held: Mutex::default(),
            lost: CancellationToken::new(),
            kept_at: has_others.then(|| Mutex::new(Instant::now())),
        }
    }

    /// The lease of a runnable, taken now if the node does not hold it yet.
    ///
    /// # Errors
    /// `Conflict` when the runnable is gone, when a living node holds it, or when this node was found dead.
    pub(crate) async fn of(&self, runnable: &RunnableId) -> Result<RunnableLease, StoreError> {
        let epoch = self.core.epoch;
        let held = self.held.lock().get(runnable).copied();
        if let Some(fence) = held {
            let runnable = runnable.clone();
            return Ok(RunnableLease {
                runnable,
                epoch,
                fence,
            });
        }
        let now_ms = self.core.env.now_ms();
        let lease = self.core.store.lease_runnable(runnable, epoch, now_ms);
        let lease = lease.await?;
        self.keep(lease.clone());
        Ok(lease)
    }

    /// Keeps a lease that came with something else.
    pub(crate) fn keep(&self, lease: RunnableLease) {
        debug_assert_eq!(lease.epoch, self.core.epoch, "a lease of this node");
        self.held.lock().insert(lease.runnable, lease.fence);
    }

    /// Forgets a lease that was lost, or whose runnable is gone.
    pub(crate) fn forget(&self, runnable: &RunnableId) {
        self.held.lock().remove(runnable);
    }

    /// The number of runnables that this node holds.
    pub(crate) fn held(&self) -> usize {
        self.held.lock().len()
    }

    /// Waits until others have found the node dead, or it was started elsewhere under its name.
    pub(crate) async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Sends heartbeats until dropped.
    pub(crate) async fn keep_alive(&self) {
        loop {
            if let Err(error) = self.heartbeat().await {
                tracing::warn!(%error, "cannot record the node's heartbeat");
            }
            tokio::time::sleep(self.core.env.lasting(HEARTBEAT)).await;
        }
    }

    fn note_kept(&self) {
        if let Some(kept_at) = &self.kept_at {
            *kept_at.lock() = Instant::now();
        }
    }

    /// Whether others count the node as dead by now, also if it cannot ask them.
    fn is_silent(&self) -> bool {
        let kept_at = self.kept_at.as_ref();
        kept_at.is_some_and(|kept_at| kept_at.lock().elapsed() >= NODE_TIMEOUT)
    }

    /// Records a heartbeat of the node.
    ///
    /// # Errors
    /// `Conflict` when others have found it dead.
    pub(crate) async fn heartbeat(&self) -> Result<Progress, StoreError> {
        let now_ms = self.core.env.now_ms();
        let beat = self.core.store.heartbeat(self.core.epoch, now_ms).await;
        match &beat {
            Ok(()) => self.note_kept(),
            Err(StoreError::Conflict(Conflict::LeaseLost)) => self.lost.cancel(),
            Err(_) if self.is_silent() => self.lost.cancel(),
            Err(_) => {}
        }
        beat?;
        Ok(Progress {
            next_due_ms: Some(now_ms + HEARTBEAT),
            ..Progress::default()
        })
    }
}
