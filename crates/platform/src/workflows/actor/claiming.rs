//! Claiming runs, and taking them into memory.

use std::{mem, sync::Arc};

use headwater_store::{Claimed, StoreError, WorkLimit};

use super::{Actor, Claim, Loaded, RUNS_MAX};
use crate::{
    actor::insisted,
    workflows::{live::Committing, loading::ClaimedTogether},
};

/// Runs claimed at once, and bytes of their events and heads.
const CLAIMED: WorkLimit = WorkLimit {
    invocations: 64,
    bytes: 16 * 1024 * 1024,
    has_begun: false,
};

impl Actor {
    /// Runs in memory, or about to be.
    pub(super) fn in_memory(&self) -> usize {
        self.runs.len() + self.loading.len() + self.arrived.len()
    }

    /// Claims more runs if there may be more, and room.
    pub(super) fn claim(&mut self) {
        let in_memory = self.runs.len() + self.loading.len();
        let at_work = in_memory.saturating_sub(self.held.runs.len());
        if !self.more || self.stopping || !self.claiming.is_idle() || at_work >= RUNS_MAX {
            return;
        }
        self.more = false;
        self.before_claim = self.arrived.len();
        let limit = WorkLimit {
            has_begun: in_memory >= RUNS_MAX,
            ..CLAIMED
        };
        let (context, id) = (Arc::clone(&self.context), self.id.clone());
        let claims = self.claims.clone();
        let overdue = self.overdue();
        // The moment at which the other leases were looked at: however long the store takes, none of them has run out for it.
        let now_ms = self.context.core.env.now_ms();
        self.claiming.start(async move {
            let (core, store, workflow) = (&context.core, &context.core.store, &id.into());
            let (leases, overdue) = (&context.leases, &overdue);
            let claim = |term| async move {
                let lease = leases.of(workflow).await?;
                core.prolong(overdue).await?;
                let claimed = store.claim(&lease, term, now_ms, limit).await?;
                Ok((lease, claimed))
            };
            let give_back = |term| store.release_claim(workflow, term);
            claims.claim(core, claim, give_back).await
        });
    }

    pub(super) fn claimed(&mut self, claimed: Claim) {
        match claimed {
            Ok((lease, mut claimed)) => {
                self.more |= CLAIMED.is_reached_by(&claimed);
                self.lease = Some(lease);
                // While claims follow each other, these would wait for the last of them.
                claimed.extend(self.arrived.drain(..self.before_claim));
                claimed.sort_by_key(|run| run.queued_at_ms);
                self.take_in(claimed);
            }
            Err(StoreError::Conflict(conflict)) => {
                self.context.leases.forget(&self.id.clone().into());
                for run in mem::take(&mut self.arrived) {
                    self.release(run.lease);
                }
                tracing::debug!(workflow_id = %self.id, %conflict, "its runs cannot be claimed");
            }
            // The wait for it is over already.
            Err(StoreError::Unavailable { .. }) => self.more = true,
            Err(error) => {
                tracing::error!(workflow_id = %self.id, error = error.in_full(), "cannot claim runs");
            }
        }
    }

    /// Takes in the runs that came with their leases, once no claim is under way that may bring others before them. Those
    /// that come while others are read are read together.
    pub(super) fn take_in_arrived(&mut self) {
        let is_their_turn = !self.more && self.claiming.is_idle() && self.loading.is_empty();
        if is_their_turn && !self.arrived.is_empty() && !self.stopping {
            let arrived = mem::take(&mut self.arrived);
            self.take_in(arrived);
        }
    }

    /// Tells those who queue runs whether they may come with their leases.
    pub(super) fn tell_whether_open(&self) {
        let is_open = !self.more && !self.stopping && self.in_memory() < RUNS_MAX;
        let lease = self.lease.as_ref().filter(|_| is_open);
        let mut open = self.open.lock();
        if open.as_ref() != lease {
            *open = lease.cloned();
        }
    }

    /// Takes runs into memory. After a jump of the clock this node may have them already, under leases that ran out.
    fn take_in(&mut self, claimed: Vec<Claimed>) {
        let together = Arc::new(ClaimedTogether::of(&claimed));
        for run in claimed {
            let id = run.lease.invocation_id.clone();
            self.arrived
                .retain(|arrived| arrived.lease.invocation_id != id);
            if let Some(lease) = self.loading_leases.get_mut(&id) {
                *lease = run.lease;
                continue;
            }
            match self.runs.get_mut(&id) {
                Some(known) if known.claimed.lease.attempt >= run.lease.attempt => {}
                // Its wait is written, which this node has not been told yet.
                Some(known) if known.committing == Some(Committing::Rests) => {
                    let owner = known.deployed.workflow.owner.clone();
                    self.rests(&id);
                    self.rested.insert(id, owner);
                    self.load(run, &together);
                }
                Some(known) => known.claimed.lease = run.lease,
                None => self.load(run, &together),
            }
        }
    }

    fn load(&mut self, claimed: Claimed, together: &Arc<ClaimedTogether>) {
        let (context, id) = (Arc::clone(&self.context), self.id.clone());
        let together = Arc::clone(together);
        let run = claimed.lease.invocation_id.clone();
        let lease = claimed.lease.clone();
        self.loading_leases.insert(run.clone(), lease);
        self.loading.push_back(Box::pin(async move {
            let load = || context.load(&id, claimed.clone(), &together);
            let loaded = insisted(&context.core.stopping, load).await;
            (run, loaded.map(Box::new))
        }));
    }

    pub(super) async fn loaded(&mut self, (id, loaded): Loaded) {
        let is_last = self.loading.is_empty();
        let Some(lease) = self.loading_leases.remove(&id) else {
            return;
        };
        match loaded {
            Ok(mut run) => {
                run.claimed.lease = lease;
                self.runs.insert(id.clone(), run);
                self.admit(&id);
                if self.late.remove(&id) {
                    self.read_answers(id);
                }
            }
            Err(error) => {
                self.put_off(&lease, &error).await;
            }
        }
        if is_last {
            self.late.clear();
        }
    }
}
