//! What is done about workers that nobody asks for: ending idle ones, and keeping to the memory.

use std::{cmp::Reverse, sync::Weak, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Pool;

/// How often memory is looked at, and idle workers, at the latest.
const LOOK: Duration = Duration::from_secs(1);
/// And how often at most.
const SHORTEST_LOOK: Duration = Duration::from_millis(20);

/// Looks after the pool until it is closed.
pub(super) async fn look_after(pool: Weak<Pool>, closing: CancellationToken) {
    loop {
        let Some(current) = pool.upgrade() else {
            return;
        };
        let pause = current.config.idle.clamp(SHORTEST_LOOK, LOOK);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = current.grown.notified() => {}
            () = closing.cancelled() => return,
        }
        current.end_idle_workers(Instant::now());
        current.keep_to_memory();
    }
}

impl Pool {
    fn end_idle_workers(&self, now: Instant) {
        let slots: Vec<_> = self
            .slots
            .lock()
            .iter()
            .map(|(source, slot)| (source.clone(), slot.clone()))
            .collect();
        for (source, slot) in slots {
            // Who owns it is about to give it a run.
            let Some(owner) = slot.try_own() else {
                continue;
            };
            owner.dismiss_former();
            for worker in slot.live() {
                let idle = worker
                    .idle_since()
                    .map(|since| now.saturating_duration_since(since));
                if idle.is_some_and(|idle| idle >= self.config.idle) {
                    worker.dismiss_if_idle();
                }
            }
            if owner.is_empty() {
                owner.close_without_waiting();
                self.forget(&source, &slot);
            }
        }
    }

    /// Ends workers that are too large, and the longest idle ones while all together are.
    fn keep_to_memory(&self) {
        let mut workers: Vec<_> = self
            .source_workers()
            .into_iter()
            .map(|worker| (worker.memory(), worker))
            .collect();
        let limit = self.config.worker_memory_bytes;
        for (memory, worker) in &workers {
            if *memory > limit {
                worker.dismiss_for_memory(format!(
                    "the component's process holds more than {} MiB",
                    limit >> 20
                ));
            }
        }
        let mut total: u64 = workers.iter().map(|(memory, _)| memory).sum();
        workers
            .sort_by_key(|(_, worker)| Reverse(worker.idle_since().map(|since| since.elapsed())));
        for (memory, worker) in workers {
            if total <= self.config.memory_bytes {
                return;
            }
            if worker.dismiss_if_idle() {
                total -= memory;
            }
        }
    }
}
