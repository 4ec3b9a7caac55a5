//! Components that share a worker: the decision, and the workers that are shared.
//!
//! Not responsible for the state that components in one worker have in common, which
//! `runtime/tests/shared_worker_test.ts` lists.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use crate::{api::WorkerSpec, worker::Worker};

/// The rule for sharing workers: components of one tenant with the same key share one; `None` gives a component its
/// own. Called whenever a component needs a worker.
pub type Sharing = fn(&WorkerSpec) -> Option<String>;

/// Every source has a worker of its own.
pub(crate) fn unshared(_: &WorkerSpec) -> Option<String> {
    None
}

/// Entries kept before those of ended workers are removed.
const SWEPT_FROM: usize = 64;

/// The worker that some components share, if there is one; locked while a component is added to it or it is replaced.
pub(super) type SharedWorker = tokio::sync::Mutex<Weak<Worker>>;

/// The tenant, and the answer of [`Sharing`].
type ShareKey = (Arc<str>, String);

/// The workers that are shared.
pub(super) struct SharedWorkers {
    sharing: Sharing,
    workers: Mutex<HashMap<ShareKey, Arc<SharedWorker>>>,
}

impl SharedWorkers {
    pub(super) fn new(sharing: Sharing) -> Self {
        Self {
            sharing,
            workers: Mutex::default(),
        }
    }

    /// The worker that the component shares; `None` for one that has a worker of its own.
    pub(super) fn shared_worker(&self, spec: &WorkerSpec) -> Option<Arc<SharedWorker>> {
        let name = (self.sharing)(spec)?;
        let mut workers = self.workers.lock();
        if workers.len() >= SWEPT_FROM {
            workers.retain(|_, shared_worker| is_used(shared_worker));
        }
        let key = (Arc::clone(&spec.tenant), name);
        Some(Arc::clone(workers.entry(key).or_default()))
    }
}

fn is_used(shared_worker: &Arc<SharedWorker>) -> bool {
    let has_worker = || match shared_worker.try_lock() {
        Ok(worker) => worker.strong_count() > 0,
        Err(_) => true,
    };
    Arc::strong_count(shared_worker) > 1 || has_worker()
}
