//! The way of components into workers: beside others or alone, in their tenant's turn, with everything that they need.

use std::{path::PathBuf, sync::Arc};

use super::{Pool, TOLD_WITHIN, artifacts, placement::Placement, slot::Slot};
use crate::{
    api::{EngineError, WorkerSpec},
    turns::Full,
    worker::Worker,
};

/// Gives a place up when dropped, unless it is kept.
struct Tentative<'a> {
    placement: &'a Placement,
    is_kept: bool,
}

impl Drop for Tentative<'_> {
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
    /// A place for the component, told to load it: in the worker that it shares, or in one of its own.
    ///
    /// # Errors
    /// No worker could be had, or what it needs.
    pub(super) async fn placed(
        &self,
        slot: &Slot,
        spec: &WorkerSpec,
    ) -> Result<Placement, EngineError> {
        let Some(berth) = self.shared.berth(spec) else {
            return self.placed_in_new_worker(slot, spec).await;
        };
        let mut shared = self.unless_leaving(slot, berth.lock()).await?;
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
            let turn = self.turns.take(tenant).await;
            turn.map(|turn| (place, turn))
        };
        let (place, turn) = self.unless_leaving(slot, both).await?.map_err(too_many)?;
        let (code, worker) = tokio::join!(self.artifacts.unpacked(spec), self.warm.take());
        // One that saw anything of this tenant never goes to another.
        let (worker, abandoned) = worker?;
        let placement = self.load(worker, code?, spec).await?;
        abandoned.disarm();
        placement.hold(turn, Some(place));
        Ok(placement)
    }

    /// A place in a worker that has other components.
    async fn placed_beside(
        &self,
        slot: &Slot,
        spec: &WorkerSpec,
        worker: Arc<Worker>,
    ) -> Result<Placement, EngineError> {
        let turn = self.unless_leaving(slot, self.turns.take(slot.tenant()));
        let turn = turn.await?.map_err(too_many)?;
        let code = self.artifacts.unpacked(spec).await?;
        let placement = self.load(worker, code, spec).await?;
        placement.hold(turn, None);
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
        let mut tentative = Tentative {
            placement: &placement,
            is_kept: false,
        };
        let folder = placement.worker.folder().code(component);
        artifacts::link(code, folder).await?;
        self.hand_over(&placement, spec).await?;
        tentative.is_kept = true;
        drop(tentative);
        Ok(placement)
    }

    /// Tells a worker what to load. A key-value map is read, made a frame and written before many others are: each is in
    /// memory several times over meanwhile.
    async fn hand_over(&self, placement: &Placement, spec: &WorkerSpec) -> Result<(), EngineError> {
        let Placement { worker, component } = placement;
        let _turn = self.maps.acquire().await;
        let key_values = spec.state.key_values().await?;
        worker.load(&self.launch, *component, &spec.env, &key_values)?;
        drop(key_values);
        // One that does not read what it is told must not keep the others waiting.
        let _ = tokio::time::timeout(TOLD_WITHIN, worker.told()).await;
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
