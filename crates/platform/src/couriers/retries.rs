//! The moment at which the next retry is due: waiters for it are woken if an earlier one comes up.
//!
//! Nothing is kept per delivery or webhook; the store knows them all, in the order in which they are due.

use std::sync::atomic::{AtomicU64, Ordering};

use headwater_store::{Progress, Store, StoreError};

/// The moment up to which due retries have been looked at, and the next look.
#[derive(Default)]
pub(super) struct Retries {
    passed_ms: AtomicU64,
    wakes_at_ms: AtomicU64,
}

impl Retries {
    /// Begins to look for retries that have become due since then; returns that moment.
    fn begin(&self) -> u64 {
        // A retry noted from now on may be missed by this look.
        self.wakes_at_ms.store(u64::MAX, Ordering::SeqCst);
        self.passed_ms.load(Ordering::SeqCst)
    }

    /// Everything that was due up to that moment is under way; the next look is at the other one.
    fn end(&self, passed_ms: u64, wakes_at_ms: u64) {
        self.passed_ms.store(passed_ms, Ordering::SeqCst);
        self.wakes_at_ms.store(wakes_at_ms, Ordering::SeqCst);
    }

    /// Whether somebody has to be woken for a retry that is due then.
    pub(super) fn is_earlier(&self, due_ms: u64) -> bool {
        due_ms < self.wakes_at_ms.load(Ordering::SeqCst)
    }

    /// One look for retries that have become due.
    pub(super) async fn look(
        &self,
        store: &dyn Store,
        now_ms: u64,
        batch: u32,
    ) -> Result<Progress, StoreError> {
        let after_ms = self.begin();
        let step = store.retries_due(after_ms, now_ms, batch).await?;
        let passed_ms = match (step.more, step.next_due_ms) {
            // Others may be due at that very moment; only a whole batch of the same one is passed with it.
            (true, Some(last_ms)) if last_ms > after_ms + 1 => last_ms - 1,
            (true, Some(last_ms)) => last_ms,
            _ => now_ms,
        };
        let wakes_at_ms = match step.more {
            true => now_ms,
            false => step.next_due_ms.unwrap_or(u64::MAX),
        };
        self.end(passed_ms, wakes_at_ms);
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_earlier_retry_wakes_and_any_while_somebody_looks() {
        let retries = Retries::default();
        assert_eq!(retries.begin(), 0);
        assert!(retries.is_earlier(1_000), "the look may have missed it");
        retries.end(500, 1_000);
        assert!(retries.is_earlier(999));
        assert!(!retries.is_earlier(1_000) && !retries.is_earlier(2_000));
        assert_eq!(retries.begin(), 500);
        retries.end(1_000, u64::MAX);
        assert!(retries.is_earlier(1_000_000), "nobody waits for anything");
    }
}
