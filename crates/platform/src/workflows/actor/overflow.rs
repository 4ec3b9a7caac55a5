//! The bound of runs that wait: telling when all that may begin have, and cancelling the oldest where the workflow wants
//! that.

use std::sync::Arc;

use headwater_model::id::InvocationId;
use headwater_store::StoreError;
use headwater_workflow::definition::Overflow;
use tokio::sync::oneshot;

use super::{Actor, RUNS_MAX};

/// Runs that are cancelled at once.
const CANCELLED_AT_ONCE: u32 = 100;

impl Actor {
    /// Notes who waits until all runs that may begin have begun.
    pub(super) fn settle_for(&mut self, waiting: oneshot::Sender<()>) {
        self.more = true;
        self.held.settling.push(waiting);
    }

    /// Whether each run in the store has begun, or is known to wait.
    fn is_settled(&self) -> bool {
        let is_read = !self.more || self.in_memory() >= RUNS_MAX;
        let is_judged = |id: &InvocationId| {
            let run = self.runs.get(id);
            run.is_none_or(|run| run.head.keys.is_some())
        };
        is_read
            && self.claiming.is_idle()
            && self.loading.is_empty()
            && self.arrived.is_empty()
            && !self.held.is_judging()
            && self.held.beginning.is_empty()
            && self.held.runs.iter().all(is_judged)
    }

    /// Tells those who wait, and looks for runs that are too many.
    pub(super) fn settle(&mut self) {
        let has_work = !self.held.settling.is_empty() || self.held.may_overflow;
        if self.stopping || !has_work || !self.is_settled() {
            return;
        }
        for waiting in self.held.settling.drain(..) {
            let _ = waiting.send(());
        }
        self.held.may_overflow = false;
        let Some(queue) = self.settings_of_held().map(|settings| settings.queue) else {
            return;
        };
        if queue.overflow == Overflow::Oldest {
            let (context, id) = (Arc::clone(&self.context), self.id.clone());
            self.held.overflowing.start(async move {
                let store = &context.core.store;
                store
                    .waiting_beyond(&id, queue.size, CANCELLED_AT_ONCE)
                    .await
            });
        }
    }

    /// Cancels runs that are too many.
    pub(super) fn overflowed(&mut self, beyond: Result<Vec<InvocationId>, StoreError>) {
        let beyond = match beyond {
            Ok(beyond) => beyond,
            Err(error) => {
                tracing::warn!(workflow_id = %self.id, error = error.in_full(), "cannot look for runs that are too many");
                return;
            }
        };
        self.held.may_overflow = beyond.len() >= CANCELLED_AT_ONCE as usize;
        let Some(size) = self.settings_of_held().map(|settings| settings.queue.size) else {
            return;
        };
        for id in beyond {
            if self.held.runs.contains(&id) {
                self.cancel_held(
                    &id,
                    &format!("the queue was full: more than {size} runs waited"),
                );
            }
        }
    }

    /// Ends a run that is held back.
    pub(super) fn cancel_held(&mut self, id: &InvocationId, reason: &str) {
        self.held.runs.retain(|held| held != id);
        if let Some(run) = self.runs.get_mut(id) {
            run.tree.cancel(reason);
            run.is_admitted = true;
            run.is_dirty = true;
        }
        self.advance(id);
    }
}
