//! Events that came before: by the idempotency key of their trigger, each value starts one run
//! (docs/guide/workflows.md, "Events that come twice").
//!
//! The value is taken in the store before the run begins, for that run: whoever goes on with the run after a crash has
//! it too.

use std::{sync::Arc, time::Duration};

use headwater_model::id::InvocationId;
use headwater_store::{Lease, RunKey};
use headwater_workflow::run::{RunEnd, State};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::Actor;
use crate::{
    chore::Chore,
    error::PlatformError,
    workflows::{
        admission::Keys,
        held::{Taken, key_text},
    },
};

/// The time that a value counts.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The time for which a run that cannot go on waits.
const PUT_OFF: Duration = Duration::from_secs(60);

impl Actor {
    /// Takes the value of a run's idempotency key, unless it has none.
    pub(super) fn take_key(&mut self, id: &InvocationId, answer: &RawValue, keys: Keys) {
        let Some(run) = self.runs.get_mut(id) else {
            return;
        };
        let text = key_text(answer);
        let trigger = run.claimed.trigger_id().map(str::to_owned);
        let (Some(trigger), false) = (trigger, text.is_empty() || answer.get() == "null") else {
            run.head.keys = Some(keys);
            return self.admit_held();
        };
        let (context, run) = (Arc::clone(&self.context), id.clone());
        let now_ms = context.core.env.now_ms();
        let key = RunKey {
            workflow: self.id.clone(),
            trigger,
            hash: hex::encode(Sha256::digest(text.as_bytes())),
            run_id: id.clone(),
            expires_at_ms: now_ms + KEPT,
        };
        self.held.taking.push(Box::pin(async move {
            let is_first = context.core.store.take_run_key(key, now_ms).await;
            Taken {
                run,
                keys,
                is_first,
            }
        }));
    }

    /// The store said whether the value is the run's.
    pub(super) fn key_taken(&mut self, taken: Taken) {
        let Taken {
            run: id,
            keys,
            is_first,
        } = taken;
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        match is_first {
            Ok(true) => run.head.keys = Some(keys),
            Ok(false) => self.turn_away(&id),
            Err(error) => {
                tracing::warn!(workflow_id = %self.id, run_id = %id, error = error.in_full(), "cannot take an idempotency key; the run is looked at again");
                self.give_back(&id);
            }
        }
        self.admit_held();
    }

    /// Ends a run that never began, without a record.
    fn turn_away(&mut self, id: &InvocationId) {
        self.held.runs.retain(|held| held != id);
        self.context.responders.turn_away(id);
        let now_ms = self.context.core.env.now_ms();
        if let (Some(run), Some(lease)) = (self.runs.get_mut(id), &self.lease) {
            run.standing = State::Ended(RunEnd::Succeeded { reason: None });
            let commit = run.commit_of_none(lease, now_ms);
            self.commits.push(commit);
        }
    }

    /// Gives a run that is held back to the store, to be claimed again.
    pub(super) fn give_back(&mut self, id: &InvocationId) {
        self.held.runs.retain(|held| held != id);
        let Some(run) = self.runs.remove(id) else {
            return;
        };
        self.release(run.claimed.lease);
    }

    /// Gives the lease of a run back that cannot go on, to be claimed again after a while.
    pub(super) async fn put_off(&mut self, lease: &Lease, error: &PlatformError) {
        tracing::error!(workflow_id = %self.id, run_id = %lease.invocation_id, %error, "a run cannot go on; it waits");
        let core = &self.context.core;
        // Once the node stops, others have it at once.
        let goes_on = !core.stopping.is_cancelled();
        let later_ms = goes_on.then(|| core.env.now_ms() + PUT_OFF);
        core.give_back(lease, later_ms).await;
    }

    /// Gives a lease back: whoever claims next has its run.
    pub(super) fn release(&self, lease: Lease) {
        let context = Arc::clone(&self.context);
        self.context.core.tasks.spawn(async move {
            context.core.give_back(&lease, None).await;
            context.core.nudges.nudge(Chore::Queue);
        });
    }
}
