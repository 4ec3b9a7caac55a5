//! The queue of invocations and the timers behind the trait.

use std::sync::Arc;

use async_trait::async_trait;
use futures::try_join;
use headwater_model::{
    id::{InvocationId, RunnableId},
    time::EpochMs,
};
use headwater_store::{
    Backlog, Claimed, Conflict, Lease, LeaseTerm, NewInvocation, NodeEpoch, Progress, RunCommit,
    RunnableLease, StoreError, WorkLimit, WorkQueue,
};

use crate::{
    backlog, claim_turn, database::Transaction, emitters::Locked, invocations, living,
    store::PostgresStore, timers,
};

#[async_trait]
impl WorkQueue for PostgresStore {
    async fn enqueue(
        &self,
        invocation: NewInvocation,
        lease: Option<(RunnableLease, LeaseTerm)>,
    ) -> Result<Option<Lease>, StoreError> {
        self.grouped.enqueue((invocation, lease)).await
    }

    async fn claim(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: WorkLimit,
    ) -> Result<Vec<Claimed>, StoreError> {
        if term.epoch != lease.epoch {
            return Err(Conflict::LeaseLost.into());
        }
        let leases = &[lease];
        self.write_locking(|connection| async move {
            let runnable = &lease.runnable;
            let (held, ()) = try_join!(
                Locked::leased(&connection, leases),
                claim_turn::wait(&connection, runnable.as_str()),
            )?;
            held.under(lease)?;
            // As it is after the waiting.
            match invocations::claimable(&connection, runnable, limit.has_begun).await? {
                Some(which) => {
                    invocations::claim(&connection, runnable, which, term, now_ms, limit).await
                }
                None => Ok(Vec::new()),
            }
        })
        .await
    }

    async fn release_claim(
        &self,
        runnable: &RunnableId,
        term: LeaseTerm,
    ) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            // The lost one may still be at its commit.
            claim_turn::wait(&connection, runnable.as_str()).await?;
            invocations::release_claim(&connection, runnable, term).await
        })
        .await
    }

    async fn claim_one(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: EpochMs,
        id: &InvocationId,
    ) -> Result<Option<Claimed>, StoreError> {
        if term.epoch != lease.epoch {
            return Err(Conflict::LeaseLost.into());
        }
        let leases = &[lease];
        self.write_locking(|connection| async move {
            let runnable = &lease.runnable;
            let (held, ()) = try_join!(
                Locked::leased(&connection, leases),
                claim_turn::wait(&connection, runnable.as_str()),
            )?;
            held.under(lease)?;
            invocations::claim_one(&connection, runnable, term, now_ms, id).await
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
        let after = after.map(RunnableId::as_str).unwrap_or_default();
        self.read(|connection| async move {
            let others = living::besides(&connection, epoch, now_ms).await?;
            invocations::runnables_with_work(&connection, epoch, &others, now_ms, after, limit)
                .await
        })
        .await
    }

    async fn backlog(&self, now_ms: EpochMs) -> Result<Backlog, StoreError> {
        self.read(|connection| async move { backlog::read(&connection, now_ms).await })
            .await
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            invocations::extend(&connection, leases, expires_at_ms).await
        })
        .await
    }

    async fn next_due(&self, after_ms: EpochMs) -> Result<Option<EpochMs>, StoreError> {
        self.read(|connection| async move { invocations::next_due(&connection, after_ms).await })
            .await
    }

    async fn release(&self, lease: &Lease, due_at_ms: Option<EpochMs>) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            invocations::release(&connection, lease, due_at_ms).await
        })
        .await
    }

    async fn commit_runs(&self, commits: Arc<[RunCommit]>) -> Vec<Result<(), StoreError>> {
        self.grouped.commit(commits).await
    }

    async fn fire_timers(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let due = |connection| async move { timers::next_due(&connection).await };
        let step = |connection| async move { timers::fire(&connection, now_ms, limit).await };
        self.progress_if_due(Transaction::Appending, now_ms, due, step)
            .await
    }
}
