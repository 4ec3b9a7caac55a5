//! The node's workers: warm ones that belong to no source yet, and those of the sources that run.
//!
//! Responsible for: which worker an invocation gets, which components share one, and how long workers live. Not for: what goes on
//! between a worker and its host (`worker.rs`), or whether a run should start at all: callers bound that.

mod artifacts;
mod placement;
mod placing;
mod shares;
mod sharing;
mod slot;
mod upkeep;
mod warm;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{
    api::{EngineError, Invocation, RunSink, WorkerOwner, WorkerSpec},
    turns::Turns,
    worker::{Worker, WorkerLaunch},
};
use artifacts::ArtifactCache;
use shares::Shares;
use sharing::SharedWorkers;
pub use sharing::Sharing;
pub(crate) use sharing::apart;
use slot::Slot;
use warm::WarmWorkers;

/// Workers that get their code at a time, in turns of their tenants.
const MADE_READY_AT_A_TIME: usize = 4;
/// Key-value maps that are read and handed over at a time.
const MAPS_AT_A_TIME: usize = 2;
/// The time that a worker may take to read what it is told, on a machine under load.
const TOLD_WITHIN: Duration = Duration::from_secs(10);

/// The number of workers, and their time.
#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    /// Workers that are kept ready for sources that have none.
    pub(crate) warm_workers: usize,
    /// Memory of all workers together, beyond which idle ones are ended.
    pub(crate) memory_bytes: u64,
    /// Workers that the sources of one tenant may have.
    pub(crate) workers_per_tenant: usize,
    /// Memory of one worker, beyond which it is ended whatever it does.
    pub(crate) worker_memory_bytes: u64,
    /// Disk that one worker's temporary files may take, beyond which it is ended whatever it does.
    pub(crate) worker_tmp_bytes: u64,
    /// The time that a source's worker waits for the next invocation.
    pub(crate) idle: Duration,
    /// The folder in which code is unpacked, once per archive.
    pub(crate) artifacts_dir: PathBuf,
}

/// The pool.
pub(crate) struct Pool {
    config: PoolConfig,
    launch: Arc<WorkerLaunch>,
    artifacts: ArtifactCache,
    warm: Arc<WarmWorkers>,
    slots: Mutex<HashMap<WorkerOwner, Arc<Slot>>>,
    shares: Shares,
    shared: SharedWorkers,
    turns: Turns,
    /// Turns to load key-value maps.
    maps: Semaphore,
    /// A source got a worker: memory has to be looked at.
    grown: Notify,
    closed: AtomicBool,
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
    pub(crate) fn start(config: PoolConfig, launch: WorkerLaunch, sharing: Sharing) -> Arc<Self> {
        let launch = Arc::new(launch);
        let closing = CancellationToken::new();
        let pool = Arc::new(Self {
            artifacts: ArtifactCache::new(config.artifacts_dir.clone()),
            warm: WarmWorkers::start(Arc::clone(&launch), config.warm_workers, closing.clone()),
            shares: Shares::new(config.workers_per_tenant),
            shared: SharedWorkers::new(sharing),
            turns: Turns::new(MADE_READY_AT_A_TIME, usize::MAX),
            maps: Semaphore::new(MAPS_AT_A_TIME),
            config,
            launch,
            slots: Mutex::default(),
            grown: Notify::new(),
            closed: AtomicBool::new(false),
            closing,
        });
        tokio::spawn(upkeep::look_after(
            Arc::downgrade(&pool),
            pool.closing.clone(),
        ));
        tokio::spawn(upkeep::look_after_disk(
            Arc::downgrade(&pool),
            pool.closing.clone(),
        ));
        pool
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
            let slot = self.slot(spec)?;
            if let Some(placement) = slot.placement(&spec.artifact_hash)
                && placement.invoke(invocation, sink)?
            {
                return Ok(());
            }
            let Some(mut owner) = slot.own().await else {
                // Evicted while we waited: the source has another slot by now, or none.
                continue;
            };
            if let Some(placement) = slot.placement(&spec.artifact_hash)
                && placement.invoke(invocation, sink)?
            {
                return Ok(());
            }
            // The deeds of a dying worker's runs have to be known before the next one is given the state.
            owner.wait_for_dying().await;
            let placement = self.placed(&slot, spec).await?;
            owner.replace(&spec.artifact_hash, placement.clone());
            self.grown.notify_one();
            if placement.invoke(invocation, sink)? {
                return Ok(());
            }
        }
    }

    /// Takes the source out of its workers, and waits until those that end thereby are gone.
    pub(crate) async fn evict(&self, owner: &WorkerOwner) {
        let slot = self.slots.lock().get(owner).cloned();
        let Some(slot) = slot else {
            return;
        };
        if let Some(owned) = slot.own_to_close().await {
            owned.close().await;
            self.forget(owner, &slot);
        }
    }

    /// Ends every worker and waits until they and their folders are gone.
    pub(crate) async fn shutdown(&self) {
        self.closed.store(true, Ordering::Release);
        self.closing.cancel();
        let slots: Vec<_> = self.slots.lock().drain().map(|(_, slot)| slot).collect();
        let mut workers = self.warm.close().await;
        for slot in slots {
            if let Some(owner) = slot.own().await {
                workers.extend(owner.close_without_waiting());
            }
        }
        for worker in &workers {
            worker.dismiss();
        }
        for worker in workers {
            worker.removed().await;
        }
    }

    pub(crate) fn counts(&self) -> PoolCounts {
        let workers = self.source_workers();
        PoolCounts {
            warm_workers: self.warm.len(),
            source_workers: workers.len(),
            runs: workers.iter().map(|worker| worker.runs()).sum(),
        }
    }

    fn slot(&self, spec: &WorkerSpec) -> Result<Arc<Slot>, EngineError> {
        let owner = &spec.owner;
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get(owner) {
            return Ok(Arc::clone(slot));
        }
        if self.closed.load(Ordering::Acquire) {
            return Err(EngineError::WorkerLost("the engine is shut down".into()));
        }
        let slot = Arc::new(Slot::of(Arc::clone(&spec.tenant)));
        slots.insert(owner.clone(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Drops a slot that is closed, unless another has its place.
    fn forget(&self, owner: &WorkerOwner, slot: &Arc<Slot>) {
        let mut slots = self.slots.lock();
        if slots
            .get(owner)
            .is_some_and(|current| Arc::ptr_eq(current, slot))
        {
            slots.remove(owner);
        }
    }

    /// Workers that are not over, each with its tenant.
    fn workers_by_tenant(&self) -> Vec<(Arc<str>, Arc<Worker>)> {
        let slots = self.slots.lock();
        let live = slots.values().flat_map(|slot| {
            let workers = slot.live().into_iter();
            workers.map(|worker| (Arc::clone(slot.tenant()), worker))
        });
        // Of those that share a worker each has it.
        let distinct: HashMap<_, _> = live
            .map(|(tenant, worker)| (Arc::as_ptr(&worker), (tenant, worker)))
            .collect();
        distinct.into_values().collect()
    }

    fn source_workers(&self) -> Vec<Arc<Worker>> {
        let workers = self.workers_by_tenant().into_iter();
        workers.map(|(_, worker)| worker).collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.closing.cancel();
        for worker in self.source_workers() {
            worker.dismiss();
        }
    }
}
