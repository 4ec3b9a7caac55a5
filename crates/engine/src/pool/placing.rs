//! Placing components in workers: beside others or alone, in their tenant's turn, with everything that they need.

use std::{path::PathBuf, sync::Arc};

use super::{FLUSH_TIMEOUT, Pool, artifacts, placement::Placement, slot::Slot};
use crate::{
    api::{EngineError, WorkerSpec},
    fair_queue::Full,
    worker::{Code, Worker},
};

/// A place in a worker that is given up on drop, unless it is kept.
struct NewPlacement {
    placement: Placement,
    is_kept: bool,
}

impl NewPlacement {
    fn of(worker: Arc<Worker>) -> Self {
        let component = worker.add_component();
        Self {
            placement: Placement { worker, component },
            is_kept: false,
        }
    }

    fn keep(mut self) -> Placement {
        self.is_kept = true;
        self.placement.clone()
    }
}

impl Drop for NewPlacement {
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
        if let Some(worker) = shared
            .upgrade()
            .filter(|worker| self.has_room(worker, spec))
        {
            let new = NewPlacement::of(worker);
            // Others need not wait until it is loaded.
            drop(shared);
            return self.placed_beside(slot, spec, new).await;
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
        let (tenant, heap_mib) = (slot.tenant(), self.heap_mib(spec));
        // One with more heap than others counts as several.
        let workers = heap_mib.div_ceil(self.launch.limits.heap_mib.max(1));
        let both = async {
            let place = self
                .shares
                .take(tenant, workers, || self.slots.make_room(tenant))
                .await;
            let permit = self.queue.acquire(tenant).await;
            permit.map(|permit| (place, permit))
        };
        let (place, permit) = self.unless_leaving(slot, both).await?.map_err(too_many)?;
        let unpacked = self.artifacts.unpacked(spec).await?;
        // One that saw anything of this tenant never goes to another.
        let (worker, abandoned) = self.warm.take(heap_mib, unpacked.shared.as_ref()).await?;
        let new = NewPlacement::of(worker);
        let code = self.code_in(&new.placement, unpacked.folder, spec).await?;
        self.hand_over(&new.placement, code, spec).await?;
        let placement = new.keep();
        abandoned.disarm();
        if let Some(shared) = &unpacked.shared {
            self.launch.sandbox.learn(shared);
        }
        self.slots.add_worker(tenant, &placement.worker);
        self.upkeep.nudge();
        placement.hold(permit, Some(place));
        Ok(placement)
    }

    /// A place in a worker that has other components.
    async fn placed_beside(
        &self,
        slot: &Slot,
        spec: &WorkerSpec,
        new: NewPlacement,
    ) -> Result<Placement, EngineError> {
        let permit = self.unless_leaving(slot, self.queue.acquire(slot.tenant()));
        let permit = permit.await?.map_err(too_many)?;
        let code = match new.placement.worker.factory(&spec.artifact_hash) {
            Some(code) => code,
            None => {
                let unpacked = self.artifacts.unpacked(spec).await?;
                self.code_in(&new.placement, unpacked.folder, spec).await?
            }
        };
        self.hand_over(&new.placement, code, spec).await?;
        let placement = new.keep();
        placement.hold(permit, None);
        Ok(placement)
    }

    /// Puts code that is unpacked there into the component's folder.
    async fn code_in(
        &self,
        placement: &Placement,
        unpacked: PathBuf,
        spec: &WorkerSpec,
    ) -> Result<Code, EngineError> {
        let Placement { worker, component } = placement;
        let folder = worker.folder().code(*component);
        let shared = self.launch.sandbox.shared_modules().to_owned();
        let is_factory = artifacts::link(unpacked, folder, shared).await?;
        let code = Code {
            folder_of: *component,
            is_factory,
        };
        worker.has_code(&spec.artifact_hash, code);
        Ok(code)
    }

    /// Whether a worker takes one more component.
    fn has_room(&self, worker: &Worker, spec: &WorkerSpec) -> bool {
        let needs_module = || worker.factory(&spec.artifact_hash).is_none();
        worker.is_open()
            && worker.heap_mib() == self.heap_mib(spec)
            && worker.components() < self.room.components
            && (worker.modules() < self.room.modules || !needs_module())
            && worker.last_memory() < worker.shared_memory_max()
    }

    /// The heap of the spec's worker.
    fn heap_mib(&self, spec: &WorkerSpec) -> u32 {
        spec.heap_mib.unwrap_or(self.launch.limits.heap_mib)
    }

    /// Sends a worker the component to load. Only a few key-value maps are read, framed and written at a time: each is in
    /// memory several times over meanwhile.
    async fn hand_over(
        &self,
        placement: &Placement,
        code: Code,
        spec: &WorkerSpec,
    ) -> Result<(), EngineError> {
        let Placement { worker, component } = placement;
        let _permit = self.maps.acquire().await;
        let key_values = spec.state.key_values().await?;
        worker.load(&self.launch, *component, code, &spec.env, &key_values)?;
        drop(key_values);
        // A worker that does not read its input must not keep the others waiting.
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, worker.flushed()).await;
        Ok(())
    }

    /// The result of the future, unless the slot or the pool is closed meanwhile.
    pub(super) async fn unless_leaving<T>(
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
