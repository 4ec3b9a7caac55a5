//! The health of webhooks: the attempts of their newest deliveries.

use headwater_model::{id::WebhookId, time::EpochMs};

use super::{
    Factory,
    deliveries::{RETRY, record, waiting, waiting_of},
    fixture::*,
};
use crate::{AfterAttempt, AttemptRecord, ClaimedDelivery, RecentAttempts, Store, Webhook};

async fn health(
    store: &dyn Store,
    webhook: &Webhook,
    since_ms: EpochMs,
    limit: u32,
) -> RecentAttempts {
    let ids = std::slice::from_ref(&webhook.id);
    let mut found = store.webhooks_health(ids, since_ms, limit).await.unwrap();
    assert_eq!(found.len(), 1, "one for each");
    found.remove(0)
}

fn taking(latency_ms: u64, claimed: &ClaimedDelivery, after: AfterAttempt) -> AttemptRecord {
    let mut record = attempted(claimed, after, T0);
    record.attempt.latency_ms = latency_ms;
    record
}

/// Attempts count in every state; one that is made again has the attempts of both times.
pub async fn health_has_the_attempts_of_the_newest_deliveries(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &["1", "2", "3", "4"]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    let none = health(&*store, &webhook, EpochMs(0), 9).await;
    assert_eq!(none, RecentAttempts::default(), "not attempted yet");
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let attempts = vec![
        taking(10, &claimed[0], AfterAttempt::Delivered),
        taking(20, &claimed[1], AfterAttempt::Dead),
        taking(30, &claimed[2], RETRY),
    ];
    record(&*store, &webhook, attempts).await;
    let dead = &claimed[1].lease.delivery_id;
    store.retry_delivery(dead, T0 + MS).await.unwrap();
    let again = claim_deliveries(&*store, &webhook, epoch, T0 + MS).await;
    let again = again.iter().find(|one| one.lease.delivery_id == *dead);
    let attempts = vec![taking(40, again.unwrap(), AfterAttempt::Delivered)];
    record(&*store, &webhook, attempts).await;
    let wanted = RecentAttempts {
        attempts: 4,
        failures: 2,
        p50_ms: Some(20),
        p95_ms: Some(40),
        since_ms: None,
    };
    assert_eq!(health(&*store, &webhook, EpochMs(0), 9).await, wanted);
    let store = factory.reopen(store).await;
    let gone = WebhookId::new(T0, entropy());
    let ids = [other.id.clone(), webhook.id.clone(), gone];
    let found = store.webhooks_health(&ids, EpochMs(0), 9).await.unwrap();
    let nothing = RecentAttempts::default();
    assert_eq!(found, [nothing, wanted, nothing], "in their order");
}

/// At the limit, at the time asked for, or at neither.
pub async fn health_says_how_far_it_looked(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = waiting(&*store, epoch, &["1", "2"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let attempts = claimed.iter();
    let attempts = attempts.map(|one| taking(10, one, AfterAttempt::Dead));
    record(&*store, &webhook, attempts.collect()).await;
    let later = T0 + MINUTE;
    emit(&*store, &from, &["3"], later).await;
    store.dispatch(later, 100, u32::MAX).await.unwrap();
    let claimed = claim_deliveries(&*store, &webhook, epoch, later).await;
    let attempts = vec![taking(5, &claimed[0], AfterAttempt::Delivered)];
    record(&*store, &webhook, attempts).await;
    for (since_ms, limit, attempts, failures, stopped_at) in [
        (T0, 4, 3, 2, None),
        (T0, 3, 3, 2, Some(T0)),
        (T0, 2, 2, 1, Some(T0)),
        (T0, 1, 1, 0, Some(later)),
        (later, 2, 1, 0, None),
        (later + MS, 2, 0, 0, None),
    ] {
        let found = health(&*store, &webhook, since_ms, limit).await;
        let seen = (found.attempts, found.failures, found.since_ms);
        assert_eq!(
            seen,
            (attempts, failures, stopped_at),
            "{since_ms:?} {limit}"
        );
    }
}
