//! Workers that are ready and belong to no source.
//!
//! Evaluating the platform package takes longer than all else before a component's first run, so some of them have done
//! that: for what workers were last taken for. Such a worker only goes to a component that imports the same module,
//! whose code has run in it. One at least is plain, and fits every component.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    api::EngineError,
    shared_modules::SharedModule,
    worker::{Worker, WorkerLaunch},
};

/// Processes that are started at a time: more would only make each slower.
const CONCURRENT_STARTS: usize = 4;
/// The time to wait when a worker cannot be started.
const RETRY: Duration = Duration::from_secs(1);
/// The head start of a worker that was taken before its replacement is started, if another one is ready: a caller waits
/// for its first run, and none for the replacement.
const HEAD_START: Duration = Duration::from_millis(250);

/// The module that a worker has evaluated; `None` for a plain one.
type Kind = Option<SharedModule>;

struct Ready {
    worker: Arc<Worker>,
    kind: Kind,
}

/// The warm workers.
pub(super) struct WarmWorkers {
    launch: Arc<WorkerLaunch>,
    wanted: usize,
    ready: Mutex<VecDeque<Ready>>,
    /// The modules that workers were last taken for, the latest first.
    taken_for: Mutex<VecDeque<SharedModule>>,
    taken: Notify,
    starts: Semaphore,
    closing: CancellationToken,
}

impl WarmWorkers {
    /// Keeps `wanted` workers ready until `closing` is cancelled.
    pub(super) fn start(
        launch: Arc<WorkerLaunch>,
        wanted: usize,
        closing: CancellationToken,
    ) -> Arc<Self> {
        let warm = Arc::new(Self {
            launch,
            wanted,
            ready: Mutex::default(),
            taken_for: Mutex::default(),
            taken: Notify::new(),
            starts: Semaphore::new(CONCURRENT_STARTS),
            closing,
        });
        tokio::spawn(Arc::clone(&warm).refill());
        warm
    }

    pub(super) fn len(&self) -> usize {
        self.ready
            .lock()
            .iter()
            .filter(|ready| ready.worker.is_open())
            .count()
    }

    /// A worker with that much heap for a component that imports this module, if any: a warm one, or a new one when none
    /// fits. It ends if the guard is dropped.
    ///
    /// # Errors
    /// A process could not be started.
    pub(super) async fn take(
        &self,
        heap_mib: u32,
        shared_module: Option<&SharedModule>,
    ) -> Result<(Arc<Worker>, DropGuard), EngineError> {
        let guarded = |worker: Arc<Worker>| {
            let guard = worker.end_on_drop();
            (worker, guard)
        };
        let closed = |_| EngineError::WorkerLost("the engine is shutting down".into());
        if heap_mib != self.launch.limits.heap_mib {
            let _permit = self.starts.acquire().await.map_err(closed)?;
            let worker = Worker::start(&self.launch, heap_mib, shared_module).await;
            return worker.map(guarded);
        }
        if let Some(module) = shared_module {
            let mut taken_for = self.taken_for.lock();
            taken_for.push_front(module.clone());
            taken_for.truncate(self.wanted.saturating_sub(1));
        }
        let worker = self.take_ready(shared_module);
        self.taken.notify_one();
        if let Some(worker) = worker {
            return Ok(guarded(worker));
        }
        let _permit = self.starts.acquire().await.map_err(closed)?;
        // One may have become ready in the meantime.
        if let Some(worker) = self.take_ready(shared_module) {
            return Ok(guarded(worker));
        }
        let worker = Worker::start(&self.launch, heap_mib, None).await;
        worker.map(guarded)
    }

    /// Stops starting workers and returns the ready ones.
    pub(super) async fn close(&self) -> Vec<Arc<Worker>> {
        // Starting a worker needs a permit; none are left after this.
        let all = u32::try_from(CONCURRENT_STARTS).unwrap_or(u32::MAX);
        if let Ok(permits) = self.starts.acquire_many(all).await {
            self.starts.close();
            drop(permits);
        }
        self.ready
            .lock()
            .drain(..)
            .map(|ready| ready.worker)
            .collect()
    }

    /// The first ready worker that has evaluated this module, or else the first plain one.
    fn take_ready(&self, shared_module: Option<&SharedModule>) -> Option<Arc<Worker>> {
        let mut ready = self.ready.lock();
        // The kernel may have ended one, for want of memory, before anybody has heard of it.
        ready.retain(|ready| ready.worker.is_open() && ready.worker.is_alive());
        let of_kind = |kind| move |ready: &Ready| ready.kind.as_ref() == kind;
        let fitting = ready.iter().position(of_kind(shared_module));
        let fitting = fitting.or_else(|| ready.iter().position(of_kind(None)));
        ready.remove(fitting?).map(|ready| ready.worker)
    }

    /// The kind of a worker that is missing. If there are enough, but not of the right kinds, one is ended.
    fn missing(&self) -> Option<Kind> {
        let mut wanted = Vec::from_iter(self.taken_for.lock().iter().cloned().map(Some));
        wanted.resize(self.wanted, None);
        let mut ready = self.ready.lock();
        ready.retain(|ready| ready.worker.is_open());
        let mut surplus = Vec::from_iter(0..ready.len());
        wanted.retain(|kind| {
            let found = surplus.iter().position(|at| ready[*at].kind == *kind);
            found.map(|found| surplus.remove(found)).is_none()
        });
        // The plain one comes first: it fits every component.
        let missing = wanted.pop()?;
        if let Some(at) = surplus.first().filter(|_| ready.len() >= self.wanted) {
            ready.remove(*at).inspect(|ready| ready.worker.dismiss());
        }
        Some(missing)
    }

    /// Waits until a worker that was taken is to be replaced.
    async fn needed(&self) {
        self.taken.notified().await;
        let head_start = tokio::time::sleep(HEAD_START);
        tokio::pin!(head_start);
        while self.len() > 0 {
            tokio::select! {
                () = &mut head_start => return,
                () = self.taken.notified() => {}
            }
        }
    }

    /// One at a time: runs need the processor more than spare workers do.
    async fn refill(self: Arc<Self>) {
        let refilling = async {
            loop {
                while let Some(kind) = self.missing() {
                    let Ok(_permit) = self.starts.acquire().await else {
                        return;
                    };
                    let heap_mib = self.launch.limits.heap_mib;
                    match Worker::start(&self.launch, heap_mib, kind.as_ref()).await {
                        Ok(worker) => self.ready.lock().push_back(Ready { worker, kind }),
                        Err(error) => {
                            tracing::error!(%error, "a warm worker cannot be started");
                            tokio::time::sleep(RETRY).await;
                        }
                    }
                }
                self.needed().await;
            }
        };
        tokio::select! {
            () = refilling => {}
            () = self.closing.cancelled() => {}
        }
    }
}

impl Drop for WarmWorkers {
    fn drop(&mut self) {
        for Ready { worker, .. } in self.ready.get_mut().drain(..) {
            worker.dismiss();
        }
    }
}
