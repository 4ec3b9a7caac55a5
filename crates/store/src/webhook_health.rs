//! The health of webhooks: the attempts of late, as a list of webhooks shows them.
//!
//! Everything in it is read from deliveries that are kept anyway; nothing is counted for it when an attempt is recorded.

use async_trait::async_trait;
use headwater_model::{id::WebhookId, time::EpochMs};

use crate::error::StoreError;

/// The attempts of a webhook's newest deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecentAttempts {
    /// All of them.
    pub attempts: u32,
    /// Those that did not deliver.
    pub failures: u32,
    /// The latency that half of them did not exceed, in milliseconds; none without attempts.
    pub p50_ms: Option<u64>,
    /// The latency that 95 of 100 did not exceed.
    pub p95_ms: Option<u64>,
    /// The dispatch of the oldest delivery that was looked at, if there may be older ones within the time asked for.
    pub since_ms: Option<EpochMs>,
}

impl RecentAttempts {
    /// Those of attempts with their latencies in milliseconds and whether they delivered.
    pub fn of(mut attempts: Vec<(u64, bool)>, since_ms: Option<EpochMs>) -> Self {
        attempts.sort_unstable();
        let count = |found: usize| u32::try_from(found).unwrap_or(u32::MAX);
        let failures = attempts.iter().filter(|(_, has_delivered)| !has_delivered);
        // The nearest rank: the smallest latency that so many of a hundred do not exceed.
        let percentile = |percent: usize| {
            let rank = (attempts.len() * percent).div_ceil(100).max(1);
            attempts.get(rank - 1).map(|(latency_ms, _)| *latency_ms)
        };
        Self {
            attempts: count(attempts.len()),
            failures: count(failures.count()),
            p50_ms: percentile(50),
            p95_ms: percentile(95),
            since_ms,
        }
    }
}

/// The health of many webhooks in one read.
#[async_trait]
pub trait WebhooksHealth {
    /// The attempts of each of these webhooks' newest deliveries, in their order: of those dispatched at `since_ms` or
    /// later, the newest `limit`, in whatever state. The cost depends on the number of webhooks and on `limit` alone. A
    /// webhook that is not there has no attempts.
    /// MUST count every attempt of a delivery, also when it was made again
    /// (`conformance::webhook_health::health_has_the_attempts_of_the_newest_deliveries`).
    /// MUST say where it stopped when there may be more
    /// (`conformance::webhook_health::health_says_how_far_it_looked`).
    async fn webhooks_health(
        &self,
        ids: &[WebhookId],
        since_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<RecentAttempts>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_latencies_that_occurred() {
        assert_eq!(
            RecentAttempts::of(Vec::new(), None),
            RecentAttempts::default()
        );
        let hundred = (1..=100).map(|latency_ms| (latency_ms, latency_ms % 10 != 0));
        let found = RecentAttempts::of(hundred.rev().collect(), Some(EpochMs(7)));
        let wanted = RecentAttempts {
            attempts: 100,
            failures: 10,
            p50_ms: Some(50),
            p95_ms: Some(95),
            since_ms: Some(EpochMs(7)),
        };
        assert_eq!(found, wanted);
        let two = RecentAttempts::of(vec![(9, true), (1, true)], None);
        assert_eq!((two.p50_ms, two.p95_ms), (Some(1), Some(9)));
    }
}
