//! The moment at which the next retry is due: waiters for it are woken if an earlier one comes up.
//!
//! Nothing is kept per delivery or webhook; the store knows them all, in the order in which they are due.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use headwater_model::time::EpochMs;
use headwater_store::{Progress, Store, StoreError};

/// The smallest step from one moment to the next.
const MS: Duration = Duration::from_millis(1);

/// The moment up to which due retries have been looked at, and the next look.
#[derive(Default)]
pub(super) struct Retries {
    passed_ms: AtomicU64,
    wakes_at_ms: AtomicU64,
}

impl Retries {
    /// Begins to look for retries that have become due since then; returns that moment.
    fn begin(&self) -> EpochMs {
        // A retry noted from now on may be missed by this look.
        self.wakes_at_ms.store(u64::MAX, Ordering::SeqCst);
        EpochMs(self.passed_ms.load(Ordering::SeqCst))
    }

    /// Everything that was due up to that moment is under way; the next look is at the other one.
    fn end(&self, passed_ms: EpochMs, wakes_at_ms: EpochMs) {
        self.passed_ms.store(passed_ms.0, Ordering::SeqCst);
        self.wakes_at_ms.store(wakes_at_ms.0, Ordering::SeqCst);
    }

    /// Whether somebody has to be woken for a retry that is due then.
    pub(super) fn is_earlier(&self, due_ms: EpochMs) -> bool {
        due_ms.0 < self.wakes_at_ms.load(Ordering::SeqCst)
    }

    /// One look for retries that have become due.
    pub(super) async fn look(
        &self,
        store: &dyn Store,
        now_ms: EpochMs,
        batch: u32,
    ) -> Result<Progress, StoreError> {
        let after_ms = self.begin();
        let step = store.retries_due(after_ms, now_ms, batch).await?;
        let passed_ms = match (step.more, step.next_due_ms) {
            // Others may be due at that very moment; only a whole batch of the same one is passed with it.
            (true, Some(last_ms)) if last_ms > after_ms + MS => last_ms.minus(MS),
            (true, Some(last_ms)) => last_ms,
            _ => now_ms,
        };
        let wakes_at_ms = match step.more {
            true => now_ms,
            false => step.next_due_ms.unwrap_or(EpochMs(u64::MAX)),
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
        assert_eq!(retries.begin(), EpochMs(0));
        assert!(
            retries.is_earlier(EpochMs(1_000)),
            "the look may have missed it"
        );
        retries.end(EpochMs(500), EpochMs(1_000));
        assert!(retries.is_earlier(EpochMs(999)));
        assert!(!retries.is_earlier(EpochMs(1_000)) && !retries.is_earlier(EpochMs(2_000)));
        assert_eq!(retries.begin(), EpochMs(500));
        retries.end(EpochMs(1_000), EpochMs(u64::MAX));
        assert!(
            retries.is_earlier(EpochMs(1_000_000)),
            "nobody waits for anything"
        );
    }
}
