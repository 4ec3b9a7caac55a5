//! The node's workers: warm ones that belong to no source yet, and those of the sources that run.
//!
//! Responsible for: which worker an invocation gets, which components share one, and how long workers live. Not for:
//! the session of a worker with its host (`worker.rs`), or admission of runs, which callers bound.

mod artifacts;
mod config;
mod memory;
mod placement;
mod placing;
mod shares;
mod sharing;
mod slot;
mod slots;
mod upkeep;
mod warm;

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    api::{EngineError, Invocation, RunSink, WorkerOwner, WorkerSpec},
    fair_queue::FairQueue,
    worker::WorkerLaunch,
};
use artifacts::ArtifactCache;
pub(crate) use config::PoolConfig;
pub use config::WorkerRoom;
use shares::Shares;
pub use sharing::Isolation;
use sharing::SharedWorkers;
use slots::Slots;
use upkeep::Upkeep;
use warm::WarmWorkers;

/// Workers that receive their code at a time; tenants take turns.
const MADE_READY_AT_A_TIME: usize = 4;
/// Key-value maps that are read and handed over at a time.
const MAPS_AT_A_TIME: usize = 2;
/// The time that a worker may take to read its input, on a machine under load.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// The pool.
pub(crate) struct Pool {
    launch: Arc<WorkerLaunch>,
    artifacts: ArtifactCache,
    warm: Arc<WarmWorkers>,
    slots: Arc<Slots>,
    shares: Arc<Shares>,
    shared: Arc<SharedWorkers>,
    room: WorkerRoom,
    queue: FairQueue,
    /// Turns to load key-value maps.
    maps: Semaphore,
    upkeep: Arc<Upkeep>,
    closing: CancellationToken,
}

/// The numbers of workers and runs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PoolCounts {
    pub(crate) warm_workers: usize,
    pub(crate) source_workers: usize,
    pub(crate) runs: usize,
}

impl Pool {
    /// Starts keeping warm workers.
    pub(crate) fn start(config: PoolConfig, launch: WorkerLaunch) -> Arc<Self> {
        let launch = Arc::new(launch);
        let closing = CancellationToken::new();
        let slots = Arc::<Slots>::default();
        let shares = Arc::new(Shares::new(config.workers_per_tenant));
        let shared = Arc::new(SharedWorkers::new(config.isolation));
        Arc::new(Self {
            artifacts: ArtifactCache::new(config.artifacts_dir.clone()),
            warm: WarmWorkers::start(Arc::clone(&launch), config.warm_workers, closing.clone()),
            room: config.room,
            shared: Arc::clone(&shared),
            queue: FairQueue::new(MADE_READY_AT_A_TIME, usize::MAX),
            maps: Semaphore::new(MAPS_AT_A_TIME),
            upkeep: Upkeep::start(
                config,
                Arc::clone(&slots),
                Arc::clone(&shares),
                shared,
                closing.clone(),
            ),
            launch,
            slots,
            shares,
            closing,
        })
    }

    /// Starts a run in the source's place in a worker, giving it one if need be.
    ///
    /// # Errors
    /// No worker could be had; nothing of the component has run.
    pub(crate) async fn invoke(
        &self,
        spec: &WorkerSpec,
        invocation: &Invocation,
        sink: &RunSink,
    ) -> Result<(), EngineError> {
        loop {
            let slot = self.slots.of(spec)?;
            if let Some(placement) = slot.placement(&spec.artifact_hash)
                && placement.invoke(invocation, sink).await?
            {
                return Ok(());
            }
            let Some(mut owner) = slot.own().await else {
                // Evicted while we waited: the source has another slot by now, or none.
                continue;
            };
            if let Some(placement) = slot.placement(&spec.artifact_hash) {
                let invoked = placement.invoke(invocation, sink);
                if self.unless_leaving(&slot, invoked).await?? {
                    return Ok(());
                }
            }
            // The writes of a dying worker's runs have to arrive before the next one gets the state.
            self.unless_leaving(&slot, owner.wait_for_draining())
                .await?;
            self.shared
                .judge(&spec.owner, slot.last_placement().as_ref());
            let placement = self.placed(&slot, spec).await?;
            owner.replace(&spec.artifact_hash, placement.clone());
            let invoked = placement.invoke(invocation, sink);
            if self.unless_leaving(&slot, invoked).await?? {
                return Ok(());
            }
        }
    }

    /// Has the owner's worker, if it has one, remove the `/tmp` of a run.
    pub(crate) fn forget_tmp(&self, owner: &WorkerOwner, tmp: &str) {
        let slot = self.slots.get(owner);
        let workers = slot.map(|slot| slot.live()).unwrap_or_default();
        workers.iter().for_each(|worker| worker.forget_tmp(tmp));
    }

    /// Removes the source from its workers unless it has runs. Whether it has none any more.
    pub(crate) async fn release(&self, owner: &WorkerOwner) -> bool {
        let Some(slot) = self.slots.get(owner) else {
            return true;
        };
        let Some(owned) = slot.own().await else {
            return true;
        };
        if !owned.give_up_if_idle() {
            return false;
        }
        owned.close().await;
        self.slots.forget(owner, &slot);
        true
    }

    /// Removes the source from its workers, and waits for those that end with it.
    pub(crate) async fn evict(&self, owner: &WorkerOwner) {
        self.shared.forget(owner);
        let Some(slot) = self.slots.get(owner) else {
            return;
        };
        if let Some(owned) = slot.own_to_close().await {
            owned.close().await;
            self.slots.forget(owner, &slot);
        }
    }

    /// Ends every worker and waits until they and their folders are gone.
    pub(crate) async fn shutdown(&self) {
        let slots = self.slots.close();
        self.closing.cancel();
        let mut workers = self.warm.close().await;
        for slot in slots {
            if let Some(owner) = slot.own().await {
                workers.extend(owner.close_without_waiting());
            }
        }
        for worker in &workers {
            worker.dismiss();
        }
        // Also workers still starting: dropping their start kills them. One whose process is not spawned yet leaves
        // its folder to the next start.
        self.launch.lives.close();
        self.launch.lives.wait().await;
    }

    pub(crate) fn counts(&self) -> PoolCounts {
        let workers = self.slots.workers();
        PoolCounts {
            warm_workers: self.warm.len(),
            source_workers: workers.len(),
            runs: workers.iter().map(|worker| worker.runs()).sum(),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.closing.cancel();
        for worker in self.slots.workers() {
            worker.dismiss();
        }
    }
}
