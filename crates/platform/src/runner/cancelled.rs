//! Cancelled runs of sources: those that no runner has in its hands are ended here.

use std::time::Duration;

use headwater_model::{
    id::{InvocationId, RunnableId},
    outcome::Outcome,
};
use headwater_store::{
    Conflict, Dropped, EndedRun, InvocationEnd, RunCommit, RunFacts, RunOutcome, RunVersion,
    Source, StoreError, Usage,
};
use tokio::time::sleep;

use super::{
    Runners,
    command::{Command, RunnerHandle},
    found::Found,
    invocation::QueuedInvocation,
    run_report::RunReport,
};
use crate::{actor::CANCELLED, changes::Change, error::PlatformError};

/// Looks for a run that goes from hand to hand.
const LOOKS: u32 = 20;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Runners {
    /// Cancels a run that was queued, whether it waits in the store or in memory, or is under way. Harmless for one that
    /// has ended. Continues if the caller goes away.
    ///
    /// # Errors
    /// The store cannot be written; `Unavailable` when the run is nowhere to be found for too long.
    pub(crate) async fn cancel(
        &self,
        source: &Source,
        id: &InvocationId,
    ) -> Result<(), PlatformError> {
        let (runners, source, id) = (self.clone(), source.clone(), id.clone());
        let cancelled = async move {
            for _ in 0..LOOKS {
                if runners.is_cancelled(&source, &id).await? {
                    return Ok(());
                }
                sleep(LOOK_AGAIN).await;
            }
            Err(PlatformError::Unavailable(format!(
                "run `{id}` is being handed over; cancel it again in a moment"
            )))
        };
        self.context.core.to_the_end(cancelled).await
    }

    /// Looks for the run once. False: somebody is about to have it.
    async fn is_cancelled(
        &self,
        source: &Source,
        id: &InvocationId,
    ) -> Result<bool, PlatformError> {
        let residents = &self.context.residents;
        let found = match residents.find(&source.id, |runner| RunnerHandle(runner.clone())) {
            Some(runner) => runner.ask(|found| Command::Cancel(id.clone(), found)).await,
            None => None,
        };
        match found.unwrap_or(Found::Nowhere) {
            Found::Ended => return Ok(true),
            Found::UnderWay(committed) => return Ok(committed.await.is_ok()),
            Found::Waiting(invocation) => {
                if invocation.is_admitted {
                    let quotas = &self.context.quotas;
                    quotas.give_invocation_back(&source.owner.user_id);
                }
                self.end_unstarted(source, *invocation).await?;
                return Ok(true);
            }
            Found::Nowhere => {}
        }
        let core = &self.context.core;
        let lease = self.context.leases.of(&source.id.clone().into()).await?;
        let (term, now_ms) = (core.lease_term(), core.env.now_ms());
        match core.store.claim_one(&lease, term, now_ms, id).await? {
            Some(claimed) => {
                self.end_unstarted(source, claimed.into()).await?;
                Ok(true)
            }
            None => Ok(core.store.open_run(id).await?.is_none()),
        }
    }

    /// Records the end of a run that no code of this node has begun.
    async fn end_unstarted(
        &self,
        source: &Source,
        invocation: QueuedInvocation,
    ) -> Result<(), PlatformError> {
        let core = &self.context.core;
        let runnable = RunnableId::from(source.id.clone());
        let now_ms = core.env.now_ms();
        let commit = RunCommit {
            lease: self.context.leases.of(&runnable).await?,
            run_id: invocation.invocation_id.clone(),
            invocation: invocation.lease.clone().map(InvocationEnd::ended),
            events: Vec::new(),
            dedupe: None,
            kv_writes: Vec::new(),
            usage: Usage::default(),
            progress: None,
            ended: Some(EndedRun {
                version: RunVersion::Component(source.spec.component_id.clone()),
                trigger: invocation.trigger.into(),
                replay_of: None,
                queued_at_ms: invocation.queued_at_ms,
                started_at_ms: now_ms,
                ended_at_ms: now_ms,
                outcome: RunOutcome::Cancelled,
                error: Some(CANCELLED.to_owned()),
                emitted: 0,
                dropped: Dropped::default(),
                has_scheduled: false,
                origin: invocation.origin.clone(),
                facts: RunFacts {
                    starts: invocation.starts(),
                    ..RunFacts::default()
                },
            }),
            unrecorded: 0,
            now_ms,
        };
        let committed = core.store.commit_runs([commit].into()).await.pop();
        if let Err(error) = committed.unwrap_or(Err(Conflict::LeaseLost.into())) {
            self.give_back(source, &invocation).await;
            return Err(StoreError::into(error));
        }
        let outcome = Outcome::Cancelled {
            message: CANCELLED.to_owned(),
        };
        core.metrics.ran(invocation.trigger.into(), &outcome);
        core.tell(Change::of_source(source));
        tell_waiter(invocation, outcome);
        Ok(())
    }

    /// Lets the runner have work again whose end could not be written.
    async fn give_back(&self, source: &Source, invocation: &QueuedInvocation) {
        if let Some(lease) = &invocation.lease {
            self.context.core.give_back(lease, None).await;
            self.send(&source.id, Command::Claim);
        }
    }
}

fn tell_waiter(invocation: QueuedInvocation, outcome: Outcome) {
    if let Some(report) = invocation.reply.end(&outcome) {
        let _ = report.send(RunReport {
            invocation_id: invocation.invocation_id,
            outcome,
            events: 0,
            logs: Vec::new(),
        });
    }
}
