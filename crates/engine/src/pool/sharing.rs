//! Components that share a worker: the rule, the workers that are shared, and the sources that have to be apart.
//!
//! Not responsible for the state that components in one worker have in common, which
//! `runtime/tests/shared_worker_test.ts` lists, nor for placing them (`placing.rs`).

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::placement::Placement;
use crate::{
    api::{WorkerOwner, WorkerSpec},
    worker::{Trouble, Worker},
};

/// The sources that may share a worker; never those of two owners (docs/guide/running-many-sources.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// All sources of one owner.
    Owner,
    /// Sources of one owner with the same code.
    #[default]
    Component,
    /// None: each source has a worker of its own.
    Source,
}

/// Entries kept before those of ended workers are removed.
const SWEPT_FROM: usize = 64;

/// The worker that some components share, if there is one; locked while a component is added to it or it is replaced.
pub(super) type SharedWorker = tokio::sync::Mutex<Weak<Worker>>;

/// The tenant, and the code if only sources with the same code share a worker.
type ShareKey = (Arc<str>, String);

/// The reason why a source has a worker of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Apart {
    /// It may have harmed a worker that it shared. If a run of its own does no harm, it goes back.
    OnTrial,
    /// It did.
    ForGood,
}

/// The workers that are shared.
pub(super) struct SharedWorkers {
    isolation: Isolation,
    workers: Mutex<HashMap<ShareKey, Arc<SharedWorker>>>,
    apart: Mutex<HashMap<WorkerOwner, Apart>>,
}

impl SharedWorkers {
    pub(super) fn new(isolation: Isolation) -> Self {
        Self {
            isolation,
            workers: Mutex::default(),
            apart: Mutex::default(),
        }
    }

    /// The worker that the component shares; `None` for one that has a worker of its own.
    pub(super) fn shared_worker(&self, spec: &WorkerSpec) -> Option<Arc<SharedWorker>> {
        let code = match (&spec.owner, self.isolation) {
            (WorkerOwner::Step { deployment, .. }, _) => deployment.as_str().to_owned(),
            (_, Isolation::Source) => return None,
            (_, Isolation::Component) => spec.artifact_hash.as_str().to_owned(),
            (_, Isolation::Owner) => String::new(),
        };
        if spec.is_isolated || self.apart.lock().contains_key(&spec.owner) {
            return None;
        }
        let mut workers = self.workers.lock();
        if workers.len() >= SWEPT_FROM {
            workers.retain(|_, shared_worker| is_used(shared_worker));
        }
        let key = (Arc::clone(&spec.tenant), code);
        Some(Arc::clone(workers.entry(key).or_default()))
    }

    /// Decides, before the owner gets its next place, whether it has to be apart: by its part in harm to the worker that
    /// it had until now. Without a former place there is nothing new to know.
    pub(super) fn judge(&self, owner: &WorkerOwner, former: Option<&Placement>) {
        let Some(former) = former else { return };
        let trouble = former.trouble();
        let mut apart = self.apart.lock();
        match (apart.get(owner), trouble) {
            (Some(Apart::OnTrial) | None, Some(Trouble::Caused)) => {
                tell_apart(owner);
                apart.insert(owner.clone(), Apart::ForGood);
            }
            (None, Some(Trouble::MayHaveCaused)) => {
                apart.insert(owner.clone(), Apart::OnTrial);
            }
            (Some(Apart::OnTrial), None) => {
                apart.remove(owner);
            }
            (Some(Apart::ForGood), _) | (Some(Apart::OnTrial), Some(_)) | (None, None) => {}
        }
    }

    /// Whether the owner has a worker of its own only until it is known that it does no harm.
    pub(super) fn is_on_trial(&self, owner: &WorkerOwner) -> bool {
        self.apart.lock().get(owner) == Some(&Apart::OnTrial)
    }

    /// Forgets the owner's past: its code or its state is another from now on.
    pub(super) fn forget(&self, owner: &WorkerOwner) {
        self.apart.lock().remove(owner);
    }
}

/// Says in the log that the owner is apart from now on.
fn tell_apart(owner: &WorkerOwner) {
    match owner {
        WorkerOwner::Source(id) => tracing::info!(
            source_id = %id,
            "a source gets a worker of its own, because it held up or ended the one that it shared"
        ),
        WorkerOwner::Call(id) => tracing::info!(
            invocation_id = %id,
            "a call gets a worker of its own, because it held up or ended the one that it shared"
        ),
        WorkerOwner::Step { deployment, .. } => tracing::info!(
            deployment_id = %deployment,
            "a step gets a worker of its own, because it held up or ended the one that it shared"
        ),
    }
}

fn is_used(shared_worker: &Arc<SharedWorker>) -> bool {
    let has_worker = || match shared_worker.try_lock() {
        Ok(worker) => worker.strong_count() > 0,
        Err(_) => true,
    };
    Arc::strong_count(shared_worker) > 1 || has_worker()
}
