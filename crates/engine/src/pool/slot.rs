//! The place of one source in the pool: its worker, and who may give it another.

use std::{mem, sync::Arc};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::worker::Worker;

/// A source's place. Invocations look; whoever changes it has to own it.
pub(super) struct Slot {
    tenant: Arc<str>,
    workers: Mutex<Workers>,
    /// Whether the slot is open: a closed one has left the pool, and must not get a worker.
    ownership: tokio::sync::Mutex<Closed>,
    /// Cancelled when its owner must not wait for others any longer, because the slot is to be closed.
    leaving: CancellationToken,
}

#[derive(Default)]
struct Closed(bool);

#[derive(Default)]
struct Workers {
    current: Option<(String, Arc<Worker>)>,
    /// Workers with former code that still have runs.
    former: Vec<Arc<Worker>>,
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
            workers: Mutex::default(),
            ownership: tokio::sync::Mutex::default(),
            leaving: CancellationToken::new(),
        }
    }

    /// The owner of the source.
    pub(super) fn tenant(&self) -> &Arc<str> {
        &self.tenant
    }

    /// The worker, if it runs this code and takes runs.
    pub(super) fn worker(&self, artifact_hash: &str) -> Option<Arc<Worker>> {
        let workers = self.workers.lock();
        let (_, worker) = workers
            .current
            .as_ref()
            .filter(|(hash, _)| hash == artifact_hash)?;
        Some(Arc::clone(worker))
    }

    /// Waits for the right to change the slot; `None` when it has left the pool.
    pub(super) async fn own(&self) -> Option<Owner<'_>> {
        let closed = self.ownership.lock().await;
        (!closed.0).then_some(Owner { slot: self, closed })
    }

    /// The same for whoever closes it: an owner that waits for its tenant's turn gives it up.
    pub(super) async fn own_to_close(&self) -> Option<Owner<'_>> {
        self.leaving.cancel();
        self.own().await
    }

    /// Waits until the slot is to be closed.
    pub(super) async fn leaving(&self) {
        self.leaving.cancelled().await;
    }

    /// The right to change the slot, if nobody has it.
    pub(super) fn try_own(&self) -> Option<Owner<'_>> {
        let closed = self.ownership.try_lock().ok()?;
        (!closed.0).then_some(Owner { slot: self, closed })
    }

    /// Workers that are not over, of former code too.
    pub(super) fn live(&self) -> Vec<Arc<Worker>> {
        self.workers
            .lock()
            .all()
            .filter(|worker| worker.is_open())
            .cloned()
            .collect()
    }
}

impl Workers {
    fn all(&self) -> impl Iterator<Item = &Arc<Worker>> {
        self.current
            .iter()
            .map(|(_, worker)| worker)
            .chain(&self.former)
    }
}

impl Owner<'_> {
    /// Puts a worker into the slot. One with other code ends as soon as it has no runs.
    pub(super) fn replace(&mut self, artifact_hash: &str, worker: Arc<Worker>) {
        let mut workers = self.slot.workers.lock();
        workers.former.retain(|worker| worker.is_open());
        let former = workers.current.replace((artifact_hash.to_owned(), worker));
        if let Some((_, former)) = former
            && !former.dismiss_if_idle()
        {
            workers.former.push(former);
        }
    }

    /// Waits for workers that take no more runs, but whose runs may not have ended yet.
    pub(super) async fn wait_for_dying(&self) {
        let dying: Vec<_> = self
            .slot
            .workers
            .lock()
            .all()
            .filter(|worker| !worker.is_open())
            .cloned()
            .collect();
        for worker in dying {
            worker.gone().await;
        }
    }

    /// Ends workers of former code that have no runs left.
    pub(super) fn dismiss_former(&self) {
        let mut workers = self.slot.workers.lock();
        workers.former.retain(|worker| !worker.dismiss_if_idle());
    }

    /// Whether no worker is left.
    pub(super) fn is_empty(&self) -> bool {
        self.slot
            .workers
            .lock()
            .all()
            .all(|worker| !worker.is_open())
    }

    /// Ends the workers, waits until they are gone, and closes the slot.
    pub(super) async fn close(self) {
        // The slot stays owned meanwhile: a source never has its next worker before this one is gone.
        let slot = self.slot;
        let mut closed = self.closed;
        let workers = slot.take_all();
        for worker in &workers {
            worker.dismiss();
        }
        for worker in workers {
            worker.gone().await;
        }
        closed.0 = true;
    }

    /// Closes the slot and hands out its workers.
    pub(super) fn close_without_waiting(mut self) -> Vec<Arc<Worker>> {
        self.closed.0 = true;
        self.slot.take_all()
    }
}

impl Slot {
    fn take_all(&self) -> Vec<Arc<Worker>> {
        let workers = mem::take(&mut *self.workers.lock());
        workers.all().cloned().collect()
    }
}
