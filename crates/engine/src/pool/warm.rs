//! Workers that are ready and belong to no source.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    api::EngineError,
    worker::{Worker, WorkerLaunch},
};

/// Processes that are started at a time: more would only make each slower.
const CONCURRENT_STARTS: usize = 4;
/// The time to wait when a worker cannot be started.
const RETRY: Duration = Duration::from_secs(1);
/// The head start of a worker that was taken before its replacement is started, if another one is ready: a caller waits
/// for its first run, and none for the replacement.
const HEAD_START: Duration = Duration::from_millis(250);

/// The warm workers.
pub(super) struct WarmWorkers {
    launch: Arc<WorkerLaunch>,
    wanted: usize,
    ready: Mutex<VecDeque<Arc<Worker>>>,
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
            .filter(|worker| worker.is_open())
            .count()
    }

    /// A warm worker, or a new one when there is none; it ends if the guard is dropped.
    ///
    /// # Errors
    /// A process could not be started.
    pub(super) async fn take(&self) -> Result<(Arc<Worker>, DropGuard), EngineError> {
        let guarded = |worker: Arc<Worker>| {
            let guard = worker.end_on_drop();
            (worker, guard)
        };
        let worker = self.take_ready();
        self.taken.notify_one();
        if let Some(worker) = worker {
            return Ok(guarded(worker));
        }
        let closed = || EngineError::WorkerLost("the engine is shutting down".into());
        let _permit = self.starts.acquire().await.map_err(|_| closed())?;
        // One may have become ready in the meantime.
        if let Some(worker) = self.take_ready() {
            return Ok(guarded(worker));
        }
        Worker::start(&self.launch).await.map(guarded)
    }

    /// Stops starting workers and returns the ready ones.
    pub(super) async fn close(&self) -> Vec<Arc<Worker>> {
        // Starting a worker needs a permit; none are left after this.
        let all = u32::try_from(CONCURRENT_STARTS).unwrap_or(u32::MAX);
        if let Ok(permits) = self.starts.acquire_many(all).await {
            self.starts.close();
            drop(permits);
        }
        self.ready.lock().drain(..).collect()
    }

    fn take_ready(&self) -> Option<Arc<Worker>> {
        let mut ready = self.ready.lock();
        // The kernel may have ended one, for want of memory, before anybody has heard of it.
        std::iter::from_fn(|| ready.pop_front())
            .find(|worker| worker.is_open() && worker.is_alive())
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
                while self.len() < self.wanted {
                    let Ok(_permit) = self.starts.acquire().await else {
                        return;
                    };
                    match Worker::start(&self.launch).await {
                        Ok(worker) => self.ready.lock().push_back(worker),
                        Err(error) => {
                            tracing::error!(%error, "a warm worker cannot be started");
                            tokio::time::sleep(RETRY).await;
                        }
                    }
                }
                self.ready.lock().retain(|worker| worker.is_open());
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
        for worker in self.ready.get_mut().drain(..) {
            worker.dismiss();
        }
    }
}
