//! Background work: timers, release of scheduled events, dispatch, due deliveries, the tail of feeds, deletion,
//! retention, leftovers, the use of keys, data stores, files.
//!
//! Each loop is one idempotent step of the store, run on a period and on a nudge, in bounded
//! batches. Nudges may be lost; then the period does it.

use std::{sync::Arc, time::Duration};

use headwater_model::{
    id::{RunnableId, WebhookId},
    time::EpochMs,
};
use headwater_store::{KeptRuns, Progress, StoreError};

use crate::{chore::Chore, platform::Platform, runner::Command};

/// Items per step.
const BATCH: u32 = 500;
/// A loop without a nudge or a due time looks again after this.
const PERIOD: Duration = Duration::from_secs(5);
/// The time between two steps that fired timers, unless a timer changes meanwhile. Ticks that come close together are
/// fired together: a write, a wake-up and a turn of the worker cost several times as much for one tick as for one of many.
const TIMERS_APART: Duration = Duration::from_millis(100);
/// The time that a loop waits after an error of the store.
const AFTER_ERROR: Duration = Duration::from_secs(1);

impl Platform {
    pub(crate) fn start_background(self: &Arc<Self>) {
        for chore in Chore::ALL {
            let platform = Arc::clone(self);
            self.core
                .tasks
                .spawn(async move { platform.repeat(chore).await });
        }
    }

    async fn repeat(self: Arc<Self>, chore: Chore) {
        while !self.core.stopping.is_cancelled() {
            let nudged = self.core.nudges.nudged(chore);
            if chore == Chore::Dispatch {
                self.couriers.wait_behind_claims().await;
            }
            let wait = match self.step(chore).await {
                Ok(progress) => self.finish(chore, progress),
                Err(error) => {
                    self.core.metrics.failed(chore);
                    tracing::error!(
                        chore = chore.name(),
                        error = error.in_full(),
                        "background work waits for the store"
                    );
                    AFTER_ERROR
                }
            };
            tokio::select! {
                () = nudged => {}
                () = tokio::time::sleep(wait) => {}
                () = self.core.stopping.cancelled() => {}
            }
        }
    }

    async fn step(self: &Arc<Self>, chore: Chore) -> Result<Progress, StoreError> {
        let now_ms = self.core.env.now_ms();
        match chore {
            Chore::Timers => self.core.store.fire_timers(now_ms, BATCH).await,
            Chore::Release => self.core.store.release_scheduled(now_ms, BATCH).await,
            Chore::Dispatch => {
                let queued_max = self.core.config.queued_events_per_owner;
                self.core.store.dispatch(now_ms, BATCH, queued_max).await
            }
            Chore::Tail => self.feeds.read_tail().await,
            Chore::Deliveries => self.webhooks_with_work(now_ms).await,
            Chore::Retries => self.couriers.look_for_retries(BATCH).await,
            Chore::Retention => {
                let steps = [
                    self.core.store.run_deletions(BATCH).await?,
                    self.trim().await?,
                    self.trim_runs().await?,
                    self.core.store.expire_runs(now_ms, BATCH).await?,
                    self.couriers.trim_deliveries(BATCH).await?,
                    self.expire_audit().await?,
                ];
                Ok(Progress {
                    done: steps.iter().map(|step| step.done).sum(),
                    more: steps.iter().any(|step| step.more),
                    ..Progress::default()
                })
            }
            Chore::Queue => Ok(Progress {
                woken: self.runnables_with_work(now_ms).await?,
                next_due_ms: self.core.store.next_due(now_ms).await?,
                ..Progress::default()
            }),
            Chore::DataStores => self.core.store.sweep_records(now_ms, BATCH).await,
            Chore::Files => Ok(Progress {
                done: self.files.sweep().await,
                ..Progress::default()
            }),
            // Boxed: it deploys and deletes.
            Chore::Leftovers => Box::pin(self.settle_leftovers()).await,
            Chore::Heartbeat => self.leases.heartbeat().await,
            Chore::Sends => self.sends.step().await,
            Chore::KeyUses => {
                self.key_uses.write().await?;
                Ok(Progress::default())
            }
        }
    }

    async fn settle_leftovers(self: &Arc<Self>) -> Result<Progress, StoreError> {
        let (sources, workflows) =
            tokio::join!(self.settle_left_sources(), self.finish_workflow_deletions());
        Ok(Progress {
            done: sources? + workflows?,
            ..Progress::default()
        })
    }

    /// One step of dispatch for whoever cannot wait for the loop.
    pub(crate) async fn dispatch_step(self: &Arc<Self>) -> Result<(), StoreError> {
        let progress = self.step(Chore::Dispatch).await?;
        self.finish(Chore::Dispatch, progress);
        Ok(())
    }

    async fn runnables_with_work(&self, now_ms: EpochMs) -> Result<Vec<RunnableId>, StoreError> {
        let mut found: Vec<RunnableId> = Vec::new();
        loop {
            let step = self
                .core
                .store
                .runnables_with_work(self.core.epoch, now_ms, found.last(), BATCH)
                .await?;
            let is_last = step.len() < BATCH as usize;
            found.extend(step);
            if is_last {
                return Ok(found);
            }
        }
    }

    /// All webhooks with deliveries that no courier has, found in bounded steps.
    async fn webhooks_with_work(&self, now_ms: EpochMs) -> Result<Progress, StoreError> {
        let mut found = Progress::default();
        let mut after: Option<WebhookId> = None;
        loop {
            let step = self
                .core
                .store
                .webhooks_with_work(now_ms, after.as_ref(), BATCH);
            let step = step.await?;
            after = step.woken_webhooks.iter().max().cloned();
            found.woken_webhooks.extend(step.woken_webhooks);
            let due = found.next_due_ms.into_iter().chain(step.next_due_ms);
            found.next_due_ms = due.min();
            if !step.more {
                return Ok(found);
            }
        }
    }

    async fn trim(&self) -> Result<Progress, StoreError> {
        let _no_tail_begins = self.feeds.trimming.lock().await;
        let (keep, read_up_to) = (self.core.config.retained_events, self.feeds.read_up_to());
        self.core.store.trim(keep, BATCH, read_up_to).await
    }

    async fn trim_runs(&self) -> Result<Progress, StoreError> {
        let config = &self.core.config;
        let keep = KeptRuns {
            successes: config.retained_runs,
            failures: config.retained_failed_runs,
        };
        self.core.store.trim_runs(keep, BATCH).await
    }

    /// Tells those that got work.
    pub(super) fn wake(self: &Arc<Self>, runnables: &[RunnableId], webhooks: &[WebhookId]) {
        for runnable in runnables {
            match runnable {
                RunnableId::Source(id) => self.runners.send(id, Command::Claim),
                RunnableId::Workflow(id) => self.workflows.wake(id),
            }
        }
        for id in webhooks {
            self.couriers.wake(id);
        }
    }

    /// Wakes those that got work and returns the time to wait.
    fn finish(self: &Arc<Self>, chore: Chore, progress: Progress) -> Duration {
        self.wake(&progress.woken, &progress.woken_webhooks);
        self.core.metrics.done(chore, progress.done);
        if chore == Chore::Dispatch {
            self.quotas.note_undispatched(progress.behind);
        }
        if chore == Chore::Release && progress.done > 0 {
            self.core.nudges.nudge(Chore::Dispatch);
        }
        if progress.more {
            return Duration::ZERO;
        }
        let until_due = progress
            .next_due_ms
            .map(|due_ms| due_ms.since(self.core.env.now_ms()));
        let wait = until_due.map_or(PERIOD, |span| self.core.env.lasting(span).min(PERIOD));
        match chore == Chore::Timers && progress.done > 0 {
            true => wait.max(self.core.env.lasting(TIMERS_APART)),
            false => wait,
        }
    }
}
