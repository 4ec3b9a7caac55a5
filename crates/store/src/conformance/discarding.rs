//! Deliveries that are given up by hand.

use headwater_model::{id::DeliveryId, time::EpochMs, webhook::DeliveryState};

use super::{
    Factory,
    deliveries::{RETRY, record, waiting},
    fixture::*,
};
use crate::{AfterAttempt, Replay};

/// The holder of a lease learns that it is lost.
pub async fn an_attempt_of_a_discarded_delivery_is_refused(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let id = &claimed[0].lease.delivery_id;
    assert!(store.discard_delivery(id, T0).await.unwrap());
    let results = end_all(&*store, &webhook, &claimed, AfterAttempt::Delivered, T0).await;
    assert!(results[0].is_err());
    let found = store.delivery(id).await.unwrap().unwrap();
    assert_eq!(found.state, DeliveryState::Discarded);
    assert_eq!((found.next_attempt_at_ms, found.attempts.len()), (None, 0));
}

/// Whether it was pending or dead; what has been delivered is not discarded.
pub async fn a_discarded_delivery_is_attempted_only_after_a_retry(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3", "4"]).await;
    let claimed = claim_some(&*store, &webhook, epoch, T0, 3).await;
    let attempts = vec![
        attempted(&claimed[0], AfterAttempt::Dead, T0),
        attempted(&claimed[1], RETRY, T0),
        attempted(&claimed[2], AfterAttempt::Delivered, T0),
    ];
    record(&*store, &webhook, attempts).await;
    let mut ids: Vec<DeliveryId> = Vec::new();
    for one in deliveries_of(&*store, &webhook, None).await {
        ids.insert(0, one.id);
    }
    for (id, may_be) in ids.iter().zip([true, true, false, true]) {
        for _ in 0..2 {
            let discarded = store.discard_delivery(id, T0 + MS).await.unwrap();
            assert_eq!(discarded, may_be, "{id}");
        }
    }
    assert_conflict(
        store
            .discard_delivery(&DeliveryId::new(T0, entropy()), T0)
            .await,
    );
    let store = factory.reopen(store).await;
    let discarded = texts_in(&*store, &webhook, DeliveryState::Discarded).await;
    assert_eq!(discarded, ["4", "2", "1"]);
    let later = T0 + 60 * MINUTE;
    assert!(
        claim_deliveries(&*store, &webhook, epoch, later)
            .await
            .is_empty()
    );
    let all = Replay {
        since_ms: EpochMs(0),
        until_ms: EpochMs(u64::MAX),
        delivered: false,
        now_ms: later,
    };
    assert_eq!(store.replay(&webhook.id, &all, 10).await.unwrap().done, 0);
    for id in [&ids[1], &ids[3]] {
        store.retry_delivery(id, later).await.unwrap();
    }
    let claimed = claim_deliveries(&*store, &webhook, epoch, later).await;
    assert_eq!(delivered_texts(&claimed), ["2", "4"]);
    assert!(
        claimed.iter().all(|one| one.attempts == 0),
        "a new schedule"
    );
    let results = end_all(&*store, &webhook, &claimed, AfterAttempt::Delivered, later).await;
    assert!(results.iter().all(Result::is_ok));
    let discarded = texts_in(&*store, &webhook, DeliveryState::Discarded).await;
    assert_eq!(discarded, ["1"]);
}

/// Then they are deleted, and nothing before.
pub async fn discarded_deliveries_are_kept_as_long_as_dead_ones(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2"]).await;
    let ids: Vec<_> = deliveries_of(&*store, &webhook, None).await;
    store.discard_delivery(&ids[1].id, T0).await.unwrap();
    store.discard_delivery(&ids[0].id, T0 + MS).await.unwrap();
    assert_eq!(trim_all_deliveries(&*store, 0, T0, 10).await, 0);
    assert_eq!(trim_all_deliveries(&*store, 0, T0 + MS, 10).await, 1);
    let left = texts_in(&*store, &webhook, DeliveryState::Discarded).await;
    assert_eq!(left, ["2"]);
}
