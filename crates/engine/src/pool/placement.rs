//! A component in a worker. Not responsible for placing it (`placing.rs`), nor for its owner (`slot.rs`).

use std::{sync::Arc, time::Duration};

use super::shares::Place;
use crate::{
    api::{EngineError, Invocation, RunSink},
    fair_queue::Permit,
    worker::{ComponentNumber, Trouble, Worker},
};

/// The longest time that a permit is held while a component loads.
const PERMIT_HOLD_MAX: Duration = Duration::from_millis(500);

/// A component in a worker.
#[derive(Clone)]
pub(super) struct Placement {
    pub(super) worker: Arc<Worker>,
    pub(super) component: ComponentNumber,
}

impl Placement {
    /// Starts a run. `false` when the component takes no more there: it may have held up others.
    ///
    /// # Errors
    /// The invocation cannot be made a frame.
    pub(super) async fn invoke(
        &self,
        invocation: &Invocation,
        sink: &RunSink,
    ) -> Result<bool, EngineError> {
        let turn = tokio::select! {
            turn = self.worker.turn() => turn,
            () = self.worker.gone() => return Ok(false),
        };
        self.worker.part_if_harmful(self.component);
        self.worker.invoke(self.component, invocation, sink, turn)
    }

    /// Keeps the permit until the component is loaded, and the worker's place until the worker is gone.
    pub(super) fn hold(&self, permit: Permit, place: Option<Place>) {
        let Self { worker, component } = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = worker.loaded(component) => {}
                () = worker.gone() => {}
                () = tokio::time::sleep(PERMIT_HOLD_MAX) => {}
            }
            drop(permit);
            if let Some(place) = place {
                worker.gone().await;
                drop(place);
            }
        });
    }

    /// The component's part in harm to the worker, if it may have had one.
    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.worker.trouble(self.component)
    }

    /// Waits, if the component takes no more runs there, until it has none.
    pub(super) async fn drained(&self) {
        self.worker.drained(self.component).await;
    }

    /// Gives the place up unless it has runs, and returns whether it did.
    pub(super) fn give_up_if_idle(&self) -> bool {
        self.worker.unload_if_idle(self.component)
    }

    /// Gives the place up. Its runs end, and the worker with them if there are any.
    pub(super) fn give_up(&self) {
        self.worker.unload(self.component);
    }
}
