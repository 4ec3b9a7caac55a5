//! Components that share a worker: the decision, and the workers that are shared.
//!
//! Not responsible for the things that components in one worker have in common: `runtime/tests/shared_worker_test.ts`
//! tells them.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use crate::{api::WorkerSpec, worker::Worker};

/// The decision with whom a component shares its worker: with those of its tenant for which the answer is the same text,
/// or with nobody. It is asked whenever the component needs a worker.
pub type Sharing = fn(&WorkerSpec) -> Option<String>;

/// Every source has a worker of its own.
pub(crate) fn apart(_: &WorkerSpec) -> Option<String> {
    None
}

/// Workers remembered before those that are gone are looked for.
const BERTHS_SWEPT_FROM: usize = 64;

/// The worker that some components share, if there is one; locked by whoever gives it a component or replaces it.
pub(super) type Berth = tokio::sync::Mutex<Weak<Worker>>;

/// The tenant, and the answer of [`Sharing`].
type BerthName = (Arc<str>, String);

/// The workers that are shared.
pub(super) struct SharedWorkers {
    sharing: Sharing,
    berths: Mutex<HashMap<BerthName, Arc<Berth>>>,
}

impl SharedWorkers {
    pub(super) fn new(sharing: Sharing) -> Self {
        Self {
            sharing,
            berths: Mutex::default(),
        }
    }

    /// The berth of the worker that the component shares; `None` for one that has a worker of its own.
    pub(super) fn berth(&self, spec: &WorkerSpec) -> Option<Arc<Berth>> {
        let name = (self.sharing)(spec)?;
        let mut berths = self.berths.lock();
        if berths.len() >= BERTHS_SWEPT_FROM {
            berths.retain(|_, berth| is_used(berth));
        }
        let key = (Arc::clone(&spec.tenant), name);
        Some(Arc::clone(berths.entry(key).or_default()))
    }
}

fn is_used(berth: &Arc<Berth>) -> bool {
    let has_worker = || match berth.try_lock() {
        Ok(worker) => worker.strong_count() > 0,
        Err(_) => true,
    };
    Arc::strong_count(berth) > 1 || has_worker()
}
