//! The sources and workflows that this node owns: one lease each, taken once per life of the node and carried by every
//! write for them.

use std::{collections::HashMap, sync::Arc, time::Duration};

use headwater_model::id::RunnableId;
use headwater_store::{Conflict, NODE_TIMEOUT, Progress, RunnableLease, StoreError};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::core::Core;

/// The interval at which the node says that it lives: a fifth of the time after which others take over.
const HEARTBEAT: Duration = NODE_TIMEOUT.checked_div(5).unwrap();
/// The silence after which a node ends its work: it has ended before others take over.
const SILENT_AFTER: Duration = NODE_TIMEOUT
    .checked_sub(Duration::from_millis(500))
    .unwrap();

/// The leases that this node holds. They hang on the node's life, so that holding many costs nothing.
pub(crate) struct Leases {
    core: Arc<Core>,
    /// The fence of each. There may be one per source, and the epoch of all is the node's.
    held: Mutex<HashMap<RunnableId, u64>>,
    /// Cancelled once the node's life has been ended by others, or may have been.
    lost: CancellationToken,
    /// The moment at which the last heartbeat that was kept was sent, where other nodes would take over.
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

    /// Waits until others have found the node dead or are about to, or it was started elsewhere under its name.
    pub(crate) async fn lost(&self) {
        tokio::select! {
            () = self.lost.cancelled() => {}
            () = self.silence() => {
                tracing::warn!("no heartbeat of this node was kept for so long that others may take over");
                self.lost.cancel();
            }
        }
    }

    /// Waits until the node has been silent for too long, whether or not a heartbeat is under way.
    async fn silence(&self) {
        let Some(kept_at) = &self.kept_at else {
            return std::future::pending().await;
        };
        loop {
            let silent_at = *kept_at.lock() + SILENT_AFTER;
            if Instant::now() >= silent_at {
                return;
            }
            tokio::time::sleep_until(silent_at).await;
        }
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

    /// Records a heartbeat of the node.
    ///
    /// # Errors
    /// `Conflict` when others have found it dead.
    pub(crate) async fn heartbeat(&self) -> Result<Progress, StoreError> {
        let (begun_at, now_ms) = (Instant::now(), self.core.env.now_ms());
        let beat = self.core.store.heartbeat(self.core.epoch, now_ms).await;
        match &beat {
            Ok(()) => {
                if let Some(kept_at) = &self.kept_at {
                    *kept_at.lock() = begun_at;
                }
            }
            Err(StoreError::Conflict(Conflict::LeaseLost)) => self.lost.cancel(),
            Err(_) => {}
        }
        beat?;
        Ok(Progress {
            next_due_ms: Some(now_ms + HEARTBEAT),
            ..Progress::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use tokio::time::timeout;

    use super::*;
    use crate::testing::{HandClock, NoEngine, T0, config, core, memory};

    async fn leases(has_others: bool) -> Leases {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let core = core(memory(), Arc::new(NoEngine), config(), clock).await;
        Leases::new(core, has_others)
    }

    /// A heartbeat that is under way does not count: it may never be answered.
    #[tokio::test(start_paused = true)]
    async fn a_silent_node_ends_its_work_before_others_take_over() {
        let leases = leases(true).await;
        let lost = timeout(NODE_TIMEOUT, leases.lost()).await;
        assert!(lost.is_ok());
        *leases.kept_at.as_ref().unwrap().lock() = Instant::now();
        let lost = timeout(Duration::ZERO, leases.lost()).await;
        assert!(lost.is_ok(), "for good");
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_whose_heartbeats_are_kept_goes_on() {
        let leases = leases(true).await;
        let kept_at = leases.kept_at.as_ref().unwrap();
        let beats = async {
            for _ in 0..10 {
                *kept_at.lock() = Instant::now();
                tokio::time::sleep(NODE_TIMEOUT / 2).await;
            }
        };
        tokio::select! {
            () = leases.lost() => panic!("it was heard of"),
            () = beats => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_without_others_is_never_too_silent() {
        let leases = leases(false).await;
        assert!(timeout(NODE_TIMEOUT * 100, leases.lost()).await.is_err());
    }
}
