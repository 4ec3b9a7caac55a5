//! Upkeep of workers: ending idle ones, and enforcing the limits of memory and disk.

use std::{collections::HashMap, sync::Arc, time::Duration};

use headwater_model::outcome::Limit;
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    config::PoolConfig,
    memory::{Bounds, Idle, next_to_end},
    shares::Shares,
    sharing::SharedWorkers,
    slots::Slots,
};

/// The longest period between checks of memory: a component can allocate gigabytes in a second.
const LOOK: Duration = Duration::from_millis(250);
/// The shortest such period.
const SHORTEST_LOOK: Duration = Duration::from_millis(20);
/// Looks for idle workers in the time after which one is ended: each costs something for every source that has a place.
const IDLE_LOOKS: u32 = 50;
/// The longest period between them.
const LONGEST_IDLE_LOOK: Duration = Duration::from_secs(5);
/// The shortest period between checks of temporary files.
const DISK_LOOK: Duration = Duration::from_secs(1);
/// The fraction of a processor that these checks may use: one part in so many.
const DISK_LOOK_SHARE: u32 = 50;

/// Looks after the workers that sources have.
pub(super) struct Upkeep {
    config: PoolConfig,
    slots: Arc<Slots>,
    shares: Arc<Shares>,
    shared: Arc<SharedWorkers>,
    nudged: Notify,
}

impl Upkeep {
    /// Looks after workers until `closing` is cancelled.
    pub(super) fn start(
        config: PoolConfig,
        slots: Arc<Slots>,
        shares: Arc<Shares>,
        shared: Arc<SharedWorkers>,
        closing: CancellationToken,
    ) -> Arc<Self> {
        let upkeep = Arc::new(Self {
            config,
            slots,
            shares,
            shared,
            nudged: Notify::new(),
        });
        tokio::spawn(Arc::clone(&upkeep).look_after(closing.clone()));
        tokio::spawn(Arc::clone(&upkeep).look_after_disk(closing));
        upkeep
    }

    /// Triggers a check of memory, because there is one more worker.
    pub(super) fn nudge(&self) {
        self.nudged.notify_one();
    }

    /// Looks after idle workers, memory and shares.
    async fn look_after(self: Arc<Self>, closing: CancellationToken) {
        let pause = self.config.idle.clamp(SHORTEST_LOOK, LOOK);
        let idle_pause = (self.config.idle / IDLE_LOOKS).clamp(SHORTEST_LOOK, LONGEST_IDLE_LOOK);
        let mut looked_for_idle_ones = Instant::now();
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.nudged.notified() => {}
                () = closing.cancelled() => return,
            }
            let now = Instant::now();
            if now.saturating_duration_since(looked_for_idle_ones) >= idle_pause {
                looked_for_idle_ones = now;
                self.end_idle_workers(now);
            }
            self.keep_to_memory();
            self.keep_to_shares();
        }
    }

    /// Looks after the disk that workers use.
    async fn look_after_disk(self: Arc<Self>, closing: CancellationToken) {
        let mut pause = DISK_LOOK;
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = closing.cancelled() => return,
            }
            let upkeep = Arc::clone(&self);
            let started = Instant::now();
            // No checks once the runtime is shutting down.
            let _ = tokio::task::spawn_blocking(move || upkeep.keep_to_disk()).await;
            pause = DISK_LOOK.max(started.elapsed() * DISK_LOOK_SHARE);
        }
    }

    fn keep_to_disk(&self) {
        let limit = self.config.worker_tmp_bytes;
        for worker in self.slots.workers() {
            if worker.tmp_exceeds(limit) {
                let message = format!(
                    "the component's files in /tmp take more than {} MiB",
                    limit >> 20
                );
                worker.dismiss_for_excess(Limit::Output, message);
            }
        }
    }

    fn end_idle_workers(&self, now: Instant) {
        for (source, slot) in self.slots.all() {
            // Its owner is about to give it a run.
            let Some(owner) = slot.try_own() else {
                continue;
            };
            owner.give_up_former();
            let is_on_trial = self.shared.is_on_trial(&source);
            for worker in slot.live() {
                // A run without harm is enough.
                let limit = match is_on_trial && worker.components() == 1 {
                    true => Duration::ZERO,
                    false => self.config.idle,
                };
                let idle = worker
                    .idle_since()
                    .map(|since| now.saturating_duration_since(since));
                if idle.is_some_and(|idle| idle >= limit) {
                    worker.dismiss_if_idle();
                }
            }
            if owner.is_empty() {
                self.shared.judge(&source, slot.last_placement().as_ref());
                owner.close_without_waiting();
                self.slots.forget(&source, &slot);
            }
        }
    }

    /// Ends idle workers of tenants that wait for a place.
    fn keep_to_shares(&self) {
        for (tenant, waiting) in self.shares.waiting() {
            for _ in 0..waiting {
                self.slots.make_room(&tenant);
            }
        }
    }

    /// Ends workers that are too large and, while the total is too large, idle ones.
    fn keep_to_memory(&self) {
        let workers: Vec<_> = self
            .slots
            .workers_by_tenant()
            .into_iter()
            .map(|(tenant, worker)| (tenant, worker.memory(), worker))
            .collect();
        let mut held: HashMap<Arc<str>, u64> = HashMap::new();
        let now = Instant::now();
        for (tenant, memory, worker) in &workers {
            worker.take_pulse(now);
            *held.entry(Arc::clone(tenant)).or_default() += memory;
            let limit = worker.memory_max();
            if *memory > limit {
                let message = format!(
                    "the component's process holds more than {} MiB",
                    limit >> 20
                );
                worker.dismiss_for_excess(Limit::Memory, message);
            }
        }
        let bounds = Bounds {
            all: self.config.memory_bytes,
            rested: self.config.rested_memory_bytes,
        };
        let idle = workers.into_iter().filter_map(|(tenant, memory, worker)| {
            let idle = now.saturating_duration_since(worker.idle_since()?);
            Some(Idle {
                tenant,
                memory,
                idle,
                worker,
            })
        });
        let mut idle: Vec<_> = idle.collect();
        while let Some(place) = next_to_end(&idle, &held, bounds) {
            let ended = idle.remove(place);
            if ended.worker.dismiss_if_idle() {
                held.entry(ended.tenant)
                    .and_modify(|held| *held -= ended.memory);
            }
        }
    }
}
