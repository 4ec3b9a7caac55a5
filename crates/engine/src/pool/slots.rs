//! The slots of all sources, and their workers. Not responsible for choosing workers (`placing.rs`) or ending idle
//! ones (`upkeep.rs`).

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use super::slot::Slot;
use crate::{
    api::{EngineError, WorkerOwner, WorkerSpec},
    worker::Worker,
};

/// The slots, until they are closed.
#[derive(Default)]
pub(super) struct Slots {
    by_owner: Mutex<HashMap<WorkerOwner, Arc<Slot>>>,
    /// Every worker that was put into a slot, with its tenant; those that are over are dropped as they are met.
    workers: Mutex<Vec<(Arc<str>, Arc<Worker>)>>,
    closed: AtomicBool,
}

impl Slots {
    /// The slot of a source, which is created if there is none.
    ///
    /// # Errors
    /// The slots are closed.
    pub(super) fn of(&self, spec: &WorkerSpec) -> Result<Arc<Slot>, EngineError> {
        let owner = &spec.owner;
        let mut slots = self.by_owner.lock();
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

    /// The slot of a source, if it has one.
    pub(super) fn get(&self, owner: &WorkerOwner) -> Option<Arc<Slot>> {
        self.by_owner.lock().get(owner).cloned()
    }

    /// Every slot with its source.
    pub(super) fn all(&self) -> Vec<(WorkerOwner, Arc<Slot>)> {
        self.by_owner
            .lock()
            .iter()
            .map(|(source, slot)| (source.clone(), slot.clone()))
            .collect()
    }

    /// Drops a slot that is closed, unless another has its place.
    pub(super) fn forget(&self, owner: &WorkerOwner, slot: &Arc<Slot>) {
        let mut slots = self.by_owner.lock();
        if slots
            .get(owner)
            .is_some_and(|current| Arc::ptr_eq(current, slot))
        {
            slots.remove(owner);
        }
    }

    /// Adds a worker that is about to be in a slot of this tenant.
    pub(super) fn add_worker(&self, tenant: &Arc<str>, worker: &Arc<Worker>) {
        let entry = (Arc::clone(tenant), Arc::clone(worker));
        self.workers.lock().push(entry);
    }

    /// Workers that are not over, each with its tenant.
    pub(super) fn workers_by_tenant(&self) -> Vec<(Arc<str>, Arc<Worker>)> {
        let mut workers = self.workers.lock();
        workers.retain(|(_, worker)| worker.is_open());
        workers.clone()
    }

    /// The same without the tenants.
    pub(super) fn workers(&self) -> Vec<Arc<Worker>> {
        let workers = self.workers_by_tenant().into_iter();
        workers.map(|(_, worker)| worker).collect()
    }

    /// Ends the tenant's longest idle worker.
    pub(super) fn make_room(&self, tenant: &Arc<str>) {
        let workers = self.workers_by_tenant();
        let own = workers.into_iter().filter(|(whose, _)| whose == tenant);
        let idle = own.filter_map(|(_, worker)| Some((worker.idle_since()?, worker)));
        if let Some((_, worker)) = idle.min_by_key(|(since, _)| *since) {
            worker.dismiss_if_idle();
        }
    }

    /// Takes out every slot, and refuses new ones.
    pub(super) fn close(&self) -> Vec<Arc<Slot>> {
        self.closed.store(true, Ordering::Release);
        self.by_owner.lock().drain().map(|(_, slot)| slot).collect()
    }
}
