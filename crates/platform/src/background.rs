//! Background work: timers, release of scheduled events, dispatch, due deliveries, the tail of feeds, deletion,
//! retention, recovery, the use of keys, data stores.
//!
//! Each loop is one idempotent step of the store, run on a period and on a nudge, in bounded
//! batches. Nudges may be lost; then the period does it.

use std::{sync::Arc, time::Duration};

use headwater_model::id::SourceId;
use headwater_store::{Progress, StoreError};
use tokio::sync::Notify;

use crate::{platform::Platform, runner::Command};

/// Items per step.
const BATCH: u32 = 500;
/// A loop without a nudge or a due time looks again after this.
const PERIOD: Duration = Duration::from_secs(5);
/// How long a loop waits after an error of the store.
const AFTER_ERROR: Duration = Duration::from_secs(1);

/// Says that there may be work. May be lost.
#[derive(Default)]
pub(crate) struct Nudges {
    by_chore: [Notify; Chore::ALL.len()],
}

impl Nudges {
    /// Lets the chore look again soon.
    pub(crate) fn nudge(&self, chore: Chore) {
        self.by_chore[chore as usize].notify_one();
        // What dispatch has to pass on, readers wait for too.
        if chore == Chore::Dispatch {
            self.by_chore[Chore::Tail as usize].notify_one();
        }
    }
}

/// The loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Timers that are due become invocations.
    Timers,
    /// Scheduled events that are due leave `$in`.
    Release,
    /// Events go to who subscribed.
    Dispatch,
    /// Events go to who reads along.
    Tail,
    /// Deliveries to webhooks that are due and that nobody has: after a restart, or when a lease ran out.
    Deliveries,
    /// Deliveries to webhooks that are due again, each at its time.
    Retries,
    /// Deletions that were asked for, and events beyond retention.
    Retention,
    /// Invocations that nobody holds: after a restart, or when a lease ran out.
    Queue,
    /// When keys were last used.
    KeyUses,
    /// Records of data stores that have expired or were cleared.
    DataStores,
}

impl Chore {
    pub(crate) const ALL: [Self; 10] = [
        Self::Timers,
        Self::Release,
        Self::Dispatch,
        Self::Tail,
        Self::Deliveries,
        Self::Retries,
        Self::Retention,
        Self::Queue,
        Self::KeyUses,
        Self::DataStores,
    ];

    /// Its name in metrics and logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Timers => "timers",
            Self::Release => "release",
            Self::Dispatch => "dispatch",
            Self::Tail => "tail",
            Self::Deliveries => "deliveries",
            Self::Retries => "retries",
            Self::Retention => "retention",
            Self::Queue => "queue",
            Self::KeyUses => "key_uses",
            Self::DataStores => "data_stores",
        }
    }
}

impl Platform {
    pub(crate) fn start_background(self: &Arc<Self>) {
        for chore in Chore::ALL {
            let platform = Arc::clone(self);
            self.tasks
                .spawn(async move { platform.repeat(chore).await });
        }
        let platform = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Err(error) = platform.recover_sources().await {
                tracing::error!(%error, "what a former start left could not be settled");
            }
        });
    }

    async fn repeat(self: Arc<Self>, chore: Chore) {
        let nudge = &self.nudges.by_chore[chore as usize];
        while !self.stopping.is_cancelled() {
            let nudged = nudge.notified();
            let wait = match self.step(chore).await {
                Ok(progress) => self.finish(chore, progress),
                Err(error) => {
                    self.metrics.failed(chore);
                    tracing::error!(
                        chore = chore.name(),
                        error = error.in_full(),
                        "background work has to wait for the store"
                    );
                    AFTER_ERROR
                }
            };
            tokio::select! {
                () = nudged => {}
                () = tokio::time::sleep(wait) => {}
                () = self.stopping.cancelled() => {}
            }
        }
    }

    async fn step(&self, chore: Chore) -> Result<Progress, StoreError> {
        let now_ms = self.env.now_ms();
        match chore {
            Chore::Timers => self.store.fire_timers(now_ms, BATCH).await,
            Chore::Release => self.store.release_scheduled(now_ms, BATCH).await,
            Chore::Dispatch => {
                let queued_max = self.config.queued_events_per_owner;
                self.store.dispatch(now_ms, BATCH, queued_max).await
            }
            Chore::Tail => self.read_along().await,
            Chore::Deliveries => self.store.webhooks_with_work(now_ms).await,
            Chore::Retries => self.look_for_retries(BATCH).await,
            Chore::Retention => {
                let deleted = self.store.run_deletions(BATCH).await?;
                let trimmed = self.trim().await?;
                let deliveries = self.trim_deliveries(BATCH).await?;
                Ok(Progress {
                    done: deleted.done + trimmed.done + deliveries.done,
                    more: deleted.more || trimmed.more || deliveries.more,
                    ..Progress::default()
                })
            }
            Chore::Queue => Ok(Progress {
                woken: self.sources_with_work(now_ms).await?,
                ..Progress::default()
            }),
            Chore::DataStores => self.store.sweep_records(now_ms, BATCH).await,
            Chore::KeyUses => {
                self.write_key_uses().await?;
                Ok(Progress::default())
            }
        }
    }

    /// One step of dispatch for whoever cannot wait for the loop.
    pub(crate) async fn dispatch_step(self: &Arc<Self>) -> Result<(), StoreError> {
        let progress = self.step(Chore::Dispatch).await?;
        self.finish(Chore::Dispatch, progress);
        Ok(())
    }

    async fn sources_with_work(&self, now_ms: u64) -> Result<Vec<SourceId>, StoreError> {
        let mut found: Vec<SourceId> = Vec::new();
        loop {
            let step = self
                .store
                .sources_with_work(now_ms, found.last(), BATCH)
                .await?;
            let is_last = step.len() < BATCH as usize;
            found.extend(step);
            if is_last {
                return Ok(found);
            }
        }
    }

    async fn trim(&self) -> Result<Progress, StoreError> {
        let _no_tail_begins = self.feeds.trimming.lock().await;
        let (keep, read_up_to) = (self.config.retained_events, self.feeds.read_up_to());
        self.store.trim(keep, BATCH, read_up_to).await
    }

    /// Wakes who got work and tells how long to wait.
    fn finish(self: &Arc<Self>, chore: Chore, progress: Progress) -> Duration {
        for id in &progress.woken {
            self.tell_runner(id, Command::Claim);
        }
        self.metrics.done(chore, progress.done);
        for id in &progress.woken_webhooks {
            self.wake_courier(id);
        }
        if chore == Chore::Dispatch {
            self.runners.note_undispatched(progress.behind);
        }
        if chore == Chore::Release && progress.done > 0 {
            self.nudges.nudge(Chore::Dispatch);
        }
        if progress.more {
            return Duration::ZERO;
        }
        let until_due = progress
            .next_due_ms
            .map(|due_ms| due_ms.saturating_sub(self.env.now_ms()));
        until_due.map_or(PERIOD, |ms| {
            let wait = self.env.lasting(Duration::from_millis(ms));
            wait.min(PERIOD)
        })
    }
}
