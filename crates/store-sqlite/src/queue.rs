//! The queue of invocations and the timers behind the trait.

use std::sync::Arc;

use async_trait::async_trait;
use headwater_model::{
    id::{InvocationId, RunnableId},
    time::EpochMs,
};
use headwater_store::{
    Backlog, Claimed, Conflict, Lease, LeaseTerm, NewInvocation, NodeEpoch, Progress, RunCommit,
    RunnableLease, StoreError, WorkLimit, WorkQueue,
};

use crate::{
    backlog, emitters, invocation_claims, invocations, run_commit, store::SqliteStore, timers,
};

#[async_trait]
impl WorkQueue for SqliteStore {
    async fn enqueue(
        &self,
        invocation: NewInvocation,
        lease: Option<(RunnableLease, LeaseTerm)>,
    ) -> Result<Option<Lease>, StoreError> {
        let living = self.living.clone();
        self.write_statement(move |connection| {
            invocations::enqueue(connection, &living, &invocation, lease.as_ref())
        })
        .await
    }

    async fn claim(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: WorkLimit,
    ) -> Result<Vec<Claimed>, StoreError> {
        let (living, lease) = (self.living.clone(), lease.clone());
        self.write(move |connection| {
            emitters::held(connection, &living, &lease)?;
            match term.epoch == lease.epoch {
                true => invocation_claims::claim(connection, &lease.runnable, term, now_ms, limit),
                false => Err(Conflict::LeaseLost.into()),
            }
        })
        .await
    }

    async fn release_claim(
        &self,
        runnable: &RunnableId,
        term: LeaseTerm,
    ) -> Result<(), StoreError> {
        let runnable = runnable.clone();
        self.write(move |connection| invocation_claims::release(connection, &runnable, term))
            .await
    }

    async fn claim_one(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: EpochMs,
        id: &InvocationId,
    ) -> Result<Option<Claimed>, StoreError> {
        let (living, lease, id) = (self.living.clone(), lease.clone(), id.clone());
        self.write(move |connection| {
            emitters::held(connection, &living, &lease)?;
            match term.epoch == lease.epoch {
                true => {
                    invocation_claims::claim_one(connection, &lease.runnable, term, now_ms, &id)
                }
                false => Err(Conflict::LeaseLost.into()),
            }
        })
        .await
    }

    async fn runnables_with_work(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        after: Option<&RunnableId>,
        limit: u32,
    ) -> Result<Vec<RunnableId>, StoreError> {
        let after = after.map(ToString::to_string).unwrap_or_default();
        let others = self.living.besides(epoch, now_ms);
        self.read(move |connection| {
            invocations::runnables_with_work(connection, epoch, &others, now_ms, &after, limit)
        })
        .await
    }

    async fn backlog(&self, now_ms: EpochMs) -> Result<Backlog, StoreError> {
        self.read(move |connection| backlog::read(connection, now_ms))
            .await
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError> {
        let leases = leases.to_vec();
        self.write(move |connection| {
            let mut leases = leases.iter();
            leases.try_for_each(|lease| invocations::extend(connection, lease, expires_at_ms))
        })
        .await
    }

    async fn next_due(&self, after_ms: EpochMs) -> Result<Option<EpochMs>, StoreError> {
        self.read(move |connection| invocations::next_due(connection, after_ms))
            .await
    }

    async fn release(&self, lease: &Lease, due_at_ms: Option<EpochMs>) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(move |connection| invocations::release(connection, &lease, due_at_ms))
            .await
    }

    async fn commit_runs(&self, commits: Arc<[RunCommit]>) -> Vec<Result<(), StoreError>> {
        let count = commits.len();
        let living = self.living.clone();
        let written = self
            .write_parts(move |connection| run_commit::commit_all(connection, &living, &commits))
            .await;
        if written.is_ok() {
            self.run_commits.count().await;
        }
        match written {
            Ok(results) => results,
            Err(error) => {
                let message = error.to_string();
                (0..count)
                    .map(|_| Err(StoreError::unavailable("committing runs", message.clone())))
                    .collect()
            }
        }
    }

    async fn fire_timers(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let step = move |connection: &_| timers::fire(connection, now_ms, limit);
        self.progress_if_due(now_ms, timers::next_due, step).await
    }
}
