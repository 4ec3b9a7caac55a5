//! One source in the pool: its place in a worker, and the right to change it.

use std::{mem, sync::Arc};

use headwater_model::hash::ArtifactHash;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::placement::Placement;
use crate::worker::Worker;

/// A source's place. Invocations read it; only its owner may change it.
pub(super) struct Slot {
    tenant: Arc<str>,
    places: Mutex<Places>,
    /// Whether the slot is open: a closed one has left the pool, and must not get a worker.
    ownership: tokio::sync::Mutex<Closed>,
    /// Cancelled when its owner must not wait for others any longer, because the slot is to be closed.
    leaving: CancellationToken,
}

#[derive(Default)]
struct Closed(bool);

#[derive(Default)]
struct Places {
    current: Option<(ArtifactHash, Placement)>,
    /// Places of former code that still has runs.
    former: Vec<Placement>,
}

/// The right to change a slot.
pub(super) struct Owner<'a> {
    slot: &'a Slot,
    closed: tokio::sync::MutexGuard<'a, Closed>,
}

impl Slot {
    /// An empty one, of a source of that tenant.
    pub(super) fn of(tenant: Arc<str>) -> Self {
        Self {
            tenant,
            places: Mutex::default(),
            ownership: tokio::sync::Mutex::default(),
            leaving: CancellationToken::new(),
        }
    }

    /// The owner of the source.
    pub(super) fn tenant(&self) -> &Arc<str> {
        &self.tenant
    }

    /// The place, if it has this code.
    pub(super) fn placement(&self, artifact_hash: &ArtifactHash) -> Option<Placement> {
        let places = self.places.lock();
        let current = places.current.as_ref();
        let (_, placement) = current.filter(|(hash, _)| hash == artifact_hash)?;
        Some(placement.clone())
    }

    /// The last place, be its worker over or not.
    pub(super) fn last_placement(&self) -> Option<Placement> {
        let places = self.places.lock();
        places
            .current
            .as_ref()
            .map(|(_, placement)| placement.clone())
    }

    /// Waits for the right to change the slot; `None` when it has left the pool.
    pub(super) async fn own(&self) -> Option<Owner<'_>> {
        let closed = self.ownership.lock().await;
        (!closed.0).then_some(Owner { slot: self, closed })
    }

    /// The same for closing it: an owner that waits for its tenant's turn gives up.
    pub(super) async fn own_to_close(&self) -> Option<Owner<'_>> {
        self.leaving.cancel();
        self.own().await
    }

    /// Waits until the slot is to be closed.
    pub(super) async fn leaving(&self) {
        self.leaving.cancelled().await;
    }

    /// The right to change the slot, if it is free.
    pub(super) fn try_own(&self) -> Option<Owner<'_>> {
        let closed = self.ownership.try_lock().ok()?;
        (!closed.0).then_some(Owner { slot: self, closed })
    }

    /// Workers that are not over, of former code too.
    pub(super) fn live(&self) -> Vec<Arc<Worker>> {
        let places = self.places.lock();
        let workers = places.all().map(|placement| &placement.worker);
        workers.filter(|worker| worker.is_open()).cloned().collect()
    }
}

impl Places {
    fn all(&self) -> impl Iterator<Item = &Placement> {
        self.current
            .iter()
            .map(|(_, placement)| placement)
            .chain(&self.former)
    }
}

impl Owner<'_> {
    /// Puts a place into the slot. One with other code is given up as soon as it has no runs.
    pub(super) fn replace(&mut self, artifact_hash: &ArtifactHash, placement: Placement) {
        let mut places = self.slot.places.lock();
        places.former.retain(|former| former.worker.is_open());
        let current = (artifact_hash.clone(), placement);
        if let Some((_, former)) = places.current.replace(current)
            && !former.give_up_if_idle()
        {
            places.former.push(former);
        }
    }

    /// Waits for places that take no more runs to end the ones they have.
    pub(super) async fn wait_for_draining(&self) {
        let placements = Vec::from_iter(self.slot.places.lock().all().cloned());
        for placement in placements {
            placement.drained().await;
        }
    }

    /// Gives up places of former code that has no runs left.
    pub(super) fn give_up_former(&self) {
        let mut places = self.slot.places.lock();
        places.former.retain(|former| !former.give_up_if_idle());
    }

    /// Gives all places up, unless one has runs.
    pub(super) fn give_up_if_idle(&self) -> bool {
        self.give_up_former();
        let places = self.slot.places.lock();
        places.former.is_empty()
            && (places.current.as_ref()).is_none_or(|(_, current)| current.give_up_if_idle())
    }

    /// Whether no worker is left.
    pub(super) fn is_empty(&self) -> bool {
        let places = self.slot.places.lock();
        places.all().all(|placement| !placement.worker.is_open())
    }

    /// Gives the places up, waits until the workers that end thereby are gone, and closes the slot.
    pub(super) async fn close(self) {
        // The slot stays owned meanwhile: a source never has its next worker before this one is gone.
        let slot = self.slot;
        let mut closed = self.closed;
        let placements = slot.take_all();
        placements.iter().for_each(Placement::give_up);
        for Placement { worker, .. } in placements {
            if !worker.is_open() {
                worker.gone().await;
            }
        }
        closed.0 = true;
    }

    /// Closes the slot and hands out its workers.
    pub(super) fn close_without_waiting(mut self) -> Vec<Arc<Worker>> {
        self.closed.0 = true;
        let placements = self.slot.take_all();
        placements.into_iter().map(|one| one.worker).collect()
    }
}

impl Slot {
    fn take_all(&self) -> Vec<Placement> {
        let places = mem::take(&mut *self.places.lock());
        places.all().cloned().collect()
    }
}
