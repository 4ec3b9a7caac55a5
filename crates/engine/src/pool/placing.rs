//! Placing components in workers: beside others or alone, in their tenant's turn, with everything that they need.

use std::{path::PathBuf, sync::Arc};

use super::{FLUSH_TIMEOUT, Pool, artifacts, placement::Placement, slot::Slot};
use crate::{
    api::{EngineError, WorkerSpec},
    fair_queue::Full,
    worker::Worker,
};

/// Gives the place up on drop, unless it is kept.
struct PlacementGuard<'a> {
    placement: &'a Placement,
    is_kept: bool,
}

impl Drop for PlacementGuard<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.placement.give_up_if_idle();
        }
    }
}

fn too_many(Full: Full) -> EngineError {
    EngineError::Busy("too many sources start at once".into())
}

impl Pool {
    /// A place for the component, which its worker has been sent: in a shared worker, or in one of its own.
    ///
    /// # Errors
    /// No worker could be started, or the component's code or data could not be read.
    pub(super) async fn placed(
        &self,
        slot: &Slot,
        spec: &WorkerSpec,
    ) -> Result<Placement, EngineError> {
        let Some(shared_worker) = self.shared.shared_worker(spec) else {
            return self.placed_in_new_worker(slot, spec).await;
        };
        let mut shared = self.unless_leaving(slot, shared_worker.lock()).await?;
        if let Some(worker) = shared.upgrade().filter(|worker| worker.is_open()) {
            return self.placed_beside(slot, spec, worker).await;
        }
        let placement = self.placed_in_new_worker(slot, spec).await?;
        *shared = Arc::downgrade(&placement.worker);
        Ok(placement)
    }

    async fn placed_in_new_worker(
        &self,
        slot: &Slot,
        spec: &WorkerSpec,
    ) -> Result<Placement, EngineError> {
        let tenant = slot.tenant();
        let both = async {
            let place = self
                .shares
                .take(tenant, || self.slots.make_room(tenant))
                .await;
            let permit = self.queue.acquire(tenant).await;
            permit.map(|permit| (place, permit))
        };
        let (place, permit) = self.unless_leaving(slot, both).await?.map_err(too_many)?;
        let (code, worker) = tokio::join!(self.artifacts.unpacked(spec), self.warm.take());
        // One that saw anything of this tenant never goes to another.
        let (worker, abandoned) = worker?;
        let placement = self.load(worker, code?, spec).await?;
        abandoned.disarm();
        placement.hold(permit, Some(place));
        Ok(placement)
    }

    /// A place in a worker that has other components.
    async fn placed_beside(
        &self,
        slot: &Slot,
        spec: &WorkerSpec,
        worker: Arc<Worker>,
    ) -> Result<Placement, EngineError> {
        let permit = self.unless_leaving(slot, self.queue.acquire(slot.tenant()));
        let permit = permit.await?.map_err(too_many)?;
        let code = self.artifacts.unpacked(spec).await?;
        let placement = self.load(worker, code, spec).await?;
        placement.hold(permit, None);
        Ok(placement)
    }

    /// Has the worker load a component, whose code is unpacked there.
    async fn load(
        &self,
        worker: Arc<Worker>,
        code: PathBuf,
        spec: &WorkerSpec,
    ) -> Result<Placement, EngineError> {
        let component = worker.add_component();
        let placement = Placement { worker, component };
        let mut guard = PlacementGuard {
            placement: &placement,
            is_kept: false,
        };
        let folder = placement.worker.folder().code(component);
        artifacts::link(code, folder).await?;
        self.hand_over(&placement, spec).await?;
        guard.is_kept = true;
        drop(guard);
        Ok(placement)
    }

    /// Sends a worker the component to load. Only a few key-value maps are read, framed and written at a time: each is in
    /// memory several times over meanwhile.
    async fn hand_over(&self, placement: &Placement, spec: &WorkerSpec) -> Result<(), EngineError> {
        let Placement { worker, component } = placement;
        let _permit = self.maps.acquire().await;
        let key_values = spec.state.key_values().await?;
        worker.load(&self.launch, *component, &spec.env, &key_values)?;
        drop(key_values);
        // A worker that does not read its input must not keep the others waiting.
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, worker.flushed()).await;
        Ok(())
    }

    /// The result of the future, unless the slot or the pool is closed meanwhile.
    async fn unless_leaving<T>(
        &self,
        slot: &Slot,
        waited_for: impl Future<Output = T>,
    ) -> Result<T, EngineError> {
        tokio::select! {
            done = waited_for => Ok(done),
            () = slot.leaving() => Err(EngineError::WorkerLost("what it runs was ended or changed".into())),
            () = self.closing.cancelled() => Err(EngineError::WorkerLost("the engine is shut down".into())),
        }
    }
}
