//! The node's workers: warm ones that belong to no source yet, and one per source that runs.
//!
//! Responsible for: which worker an invocation gets, and how long workers live. Not for: what goes on
//! between a worker and its host (`worker.rs`), or whether a run should start at all: callers bound that.

mod artifacts;
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
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    api::{EngineError, Invocation, RunSink, WorkerOwner, WorkerSpec},
    worker::{Worker, WorkerLaunch},
};
use artifacts::ArtifactCache;
use slot::Slot;
use warm::WarmWorkers;

/// How many workers, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    /// Workers that are kept ready for sources that have none.
    pub(crate) warm_workers: usize,
    /// Memory of all workers together, beyond which idle ones are ended.
    pub(crate) memory_bytes: u64,
    /// Memory of one worker, beyond which it is ended whatever it does.
    pub(crate) worker_memory_bytes: u64,
    /// Disk that one worker's temporary files may take, beyond which it is ended whatever it does.
    pub(crate) worker_tmp_bytes: u64,
    /// How long a source's worker waits for the next invocation.
    pub(crate) idle: Duration,
    /// Where code is unpacked, once per archive.
    pub(crate) artifacts_dir: PathBuf,
}

/// The pool.
pub(crate) struct Pool {
    config: PoolConfig,
    launch: Arc<WorkerLaunch>,
    artifacts: ArtifactCache,
    warm: Arc<WarmWorkers>,
    slots: Mutex<HashMap<WorkerOwner, Arc<Slot>>>,
    /// A source got a worker: memory has to be looked at.
    grown: Notify,
    closed: AtomicBool,
    closing: CancellationToken,
}

/// What there is of what.
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
        let pool = Arc::new(Self {
            artifacts: ArtifactCache::new(config.artifacts_dir.clone()),
            warm: WarmWorkers::start(Arc::clone(&launch), config.warm_workers, closing.clone()),
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

    /// Starts a run in the source's worker, giving it one if need be.
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
            let slot = self.slot(&spec.owner)?;
            if let Some(worker) = slot.worker(&spec.artifact_hash)
                && worker.invoke(invocation, sink)?
            {
                return Ok(());
            }
            let Some(mut owner) = slot.own().await else {
                // Evicted while we waited: the source has another slot by now, or none.
                continue;
            };
            if let Some(worker) = slot.worker(&spec.artifact_hash)
                && worker.invoke(invocation, sink)?
            {
                return Ok(());
            }
            // What a dying worker's runs did has to be known before the next one is given the state.
            owner.wait_for_dying().await;
            let worker = self.prepared_worker(spec).await?;
            owner.replace(&spec.artifact_hash, Arc::clone(&worker));
            self.grown.notify_one();
            if worker.invoke(invocation, sink)? {
                return Ok(());
            }
        }
    }

    /// Ends the source's workers and waits until they are gone.
    pub(crate) async fn evict(&self, owner: &WorkerOwner) {
        let slot = self.slots.lock().get(owner).cloned();
        let Some(slot) = slot else {
            return;
        };
        if let Some(owned) = slot.own().await {
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

    fn slot(&self, owner: &WorkerOwner) -> Result<Arc<Slot>, EngineError> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get(owner) {
            return Ok(Arc::clone(slot));
        }
        if self.closed.load(Ordering::Acquire) {
            return Err(EngineError::WorkerLost("the engine is shut down".into()));
        }
        let slot = Arc::<Slot>::default();
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

    /// A worker with the source's code and state, told to load it.
    async fn prepared_worker(&self, spec: &WorkerSpec) -> Result<Arc<Worker>, EngineError> {
        let code = self.artifacts.unpacked(spec);
        let (code, worker, key_values) =
            tokio::join!(code, self.warm.take(), spec.state.key_values());
        // One that saw anything of this source never goes to another.
        let (worker, abandoned) = worker?;
        artifacts::link(code?, worker.folder().code()).await?;
        worker.load(&self.launch, &spec.env, &key_values?)?;
        abandoned.disarm();
        Ok(worker)
    }

    fn source_workers(&self) -> Vec<Arc<Worker>> {
        self.slots
            .lock()
            .values()
            .flat_map(|slot| slot.live())
            .collect()
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
