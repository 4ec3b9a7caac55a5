//! Deliveries as they are listed, and made once more by hand.

use std::time::Duration;

use headwater_model::{
    id::{DeliveryId, WebhookId},
    page::{PageRequest, Position},
    time::EpochMs,
    webhook::{AttemptCause, DeliveryState},
};

use super::{
    Factory,
    deliveries::{RETRY, record, waiting, waiting_of},
    fixture::*,
};
use crate::{AfterAttempt, Replay, Webhook, WebhookBacklog};

fn replay(delivered: bool) -> Replay {
    Replay {
        since_ms: EpochMs(0),
        until_ms: EpochMs(u64::MAX),
        delivered,
        now_ms: T0,
    }
}

/// Newest first, all of them or those in one state; a cursor may be gone.
pub async fn deliveries_are_paged_both_ways(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &["0", "1"]).await;
    listening_webhook(&*store, &mine, &from).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let attempts = vec![
        attempted(&claimed[0], AfterAttempt::Delivered, T0),
        attempted(&claimed[1], AfterAttempt::Dead, T0),
    ];
    record(&*store, &webhook, attempts).await;
    emit(&*store, &from, &["2", "3", "4"], T0).await;
    dispatch_all(&*store, 10).await;
    let ids: Vec<DeliveryId> = deliveries_of(&*store, &webhook, None)
        .await
        .into_iter()
        .map(|one| one.id)
        .collect();
    for (state, position, total, wanted) in [
        (None, Position::First, 5, vec!["4", "3"]),
        (None, Position::After(ids[1].clone()), 5, vec!["2", "1"]),
        (None, Position::After(ids[3].clone()), 5, vec!["0"]),
        (None, Position::Before(ids[4].clone()), 5, vec!["2", "1"]),
        (None, Position::Before(ids[1].clone()), 5, vec!["4"]),
        (Some(DeliveryState::Dead), Position::First, 1, vec!["1"]),
        (
            Some(DeliveryState::Delivered),
            Position::First,
            1,
            vec!["0"],
        ),
        (
            Some(DeliveryState::Pending),
            Position::After(ids[0].clone()),
            3,
            vec!["3", "2"],
        ),
    ] {
        let request = PageRequest { limit: 2, position };
        let page = store
            .deliveries(&webhook.id, state, &request)
            .await
            .unwrap();
        let found: Vec<&str> = page.items.iter().map(|one| one.event.event.get()).collect();
        assert_eq!((page.total_count, found), (total, wanted));
    }
    assert_eq!(trim_all_deliveries(&*store, 0, EpochMs(0), 10).await, 1);
    let behind = PageRequest {
        limit: 2,
        position: Position::Before(ids[4].clone()),
    };
    let page = store.deliveries(&webhook.id, None, &behind).await.unwrap();
    let found: Vec<&str> = page.items.iter().map(|one| one.event.event.get()).collect();
    assert_eq!(found, ["2", "1"]);
}

/// A retried delivery is attempted at once, with a new schedule; its former attempts stay.
pub async fn a_retried_delivery_begins_anew(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let attempts = vec![
        attempted(&claimed[0], AfterAttempt::Dead, T0),
        attempted(&claimed[1], AfterAttempt::Delivered, T0),
        attempted(&claimed[2], RETRY, T0),
    ];
    record(&*store, &webhook, attempts).await;
    for one in &claimed {
        store
            .retry_delivery(&one.lease.delivery_id, T0 + MS)
            .await
            .unwrap();
    }
    let store = factory.reopen(store).await;
    let again = claim_deliveries(&*store, &webhook, epoch, T0 + MS).await;
    assert_eq!(delivered_texts(&again), ["1", "2", "3"]);
    let attempts: Vec<u32> = again.iter().map(|one| one.attempts).collect();
    assert_eq!(attempts, [0, 0, 1], "what is pending keeps its place");
    let manual = again.iter().all(|one| one.cause == AttemptCause::Manual);
    assert!(manual, "{again:?}");
    let results = end_all(&*store, &webhook, &again, AfterAttempt::Delivered, T0 + MS).await;
    assert!(results.iter().all(Result::is_ok));
    let listed = deliveries_of(&*store, &webhook, Some(DeliveryState::Delivered)).await;
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|one| one.attempts.len() == 2));
}

/// A lease on a pending delivery survives the retry.
pub async fn retrying_a_held_delivery_leaves_it_to_its_holder(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let id = &claimed[0].lease.delivery_id;
    store.retry_delivery(id, T0).await.unwrap();
    assert!(
        claim_deliveries(&*store, &webhook, epoch, T0)
            .await
            .is_empty()
    );
    let results = end_all(&*store, &webhook, &claimed, AfterAttempt::Delivered, T0).await;
    assert!(results[0].is_ok());
}

/// Nobody would attempt it.
pub async fn retrying_is_refused_where_nobody_delivers(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1"]).await;
    assert_conflict(
        store
            .retry_delivery(&DeliveryId::new(T0, entropy()), T0)
            .await,
    );
    let off = Webhook {
        active: false,
        ..webhook.clone()
    };
    rewrite(&*store, &off).await;
    let id = deliveries_of(&*store, &webhook, None).await.remove(0).id;
    assert_conflict(store.retry_delivery(&id, T0).await);
    assert_conflict(store.replay(&webhook.id, &replay(false), 10).await);
    store.delete_webhook(&webhook.id).await.unwrap();
    assert_conflict(store.replay(&webhook.id, &replay(false), 10).await);
}

/// Deliveries that ended before, of events within both ends, in bounded steps that come to an end.
pub async fn replaying_makes_ended_deliveries_pending_again(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &[]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    for number in 0..6 {
        emit(&*store, &from, &[&number.to_string()], T0 + number * MS).await;
    }
    dispatch_all(&*store, 100).await;
    for one in [&webhook, &other] {
        let claimed = claim_deliveries(&*store, one, epoch, T0).await;
        let attempts = (0..5).map(|number| match number {
            0..3 => attempted(&claimed[number], AfterAttempt::Dead, T0),
            _ => attempted(&claimed[number], AfterAttempt::Delivered, T0),
        });
        record(&*store, one, attempts.collect()).await;
        store
            .release_deliveries(&[claimed[5].lease.clone()])
            .await
            .unwrap();
    }
    let dead = Replay {
        since_ms: T0 + MS,
        ..replay(false)
    };
    let step = store.replay(&webhook.id, &dead, 1).await.unwrap();
    assert_eq!((step.done, step.more), (1, true));
    let pending = DeliveryState::Pending;
    assert_eq!(texts_in(&*store, &webhook, pending).await, ["5", "1"]);
    let all = Replay {
        until_ms: T0 + 3 * MS,
        ..replay(true)
    };
    let store = factory.reopen(store).await;
    let step = store.replay(&webhook.id, &all, 2).await.unwrap();
    assert_eq!((step.done, step.more), (2, true));
    let step = store.replay(&webhook.id, &all, 2).await.unwrap();
    assert_eq!((step.done, step.more), (1, false));
    let again = claim_deliveries(&*store, &webhook, epoch, T0).await;
    assert_eq!(delivered_texts(&again), ["0", "1", "2", "3", "5"]);
    // Those that end while it goes on are not replayed again.
    end_all(&*store, &webhook, &again, AfterAttempt::Dead, T0 + MS).await;
    let step = store.replay(&webhook.id, &all, 10).await.unwrap();
    assert_eq!((step.done, step.more), (0, false));
    assert_eq!(texts_in(&*store, &other, pending).await, ["5"]);
}

/// Each retry is found when it is due, not before, and not again.
pub async fn a_retry_is_found_at_its_time(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &["0", "1", "2"]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    emit(&*store, &from, &["3"], T0).await;
    dispatch_all(&*store, 10).await;
    for (webhook, dues) in [(&webhook, vec![30, 10, 20]), (&other, vec![25])] {
        let claimed = claim_deliveries(&*store, webhook, epoch, T0).await;
        let attempts = claimed
            .iter()
            .zip(dues)
            .map(|(claimed, due)| attempted(claimed, AfterAttempt::RetryAt(T0 + due * MS), T0));
        record(&*store, webhook, attempts.collect()).await;
    }
    for (after, now, limit, woken, next, more) in [
        (0, 9, 9, vec![], Some(10), false),
        (9, 10, 9, vec![&webhook.id], Some(20), false),
        (10, 30, 9, vec![&webhook.id, &other.id], None, false),
        (30, 99, 9, vec![], None, false),
        (10, 30, 2, vec![&webhook.id, &other.id], Some(25), true),
        (25, 30, 2, vec![&webhook.id], None, false),
    ] {
        let step = store
            .retries_due(T0 + after * MS, T0 + now * MS, limit)
            .await
            .unwrap();
        let found: Vec<_> = step.woken_webhooks.iter().collect();
        assert_eq!(
            (found, step.next_due_ms, step.more),
            (woken, next.map(|next| T0 + next * MS), more),
            "after {after}, at {now}"
        );
    }
    // A first attempt is due at once, and for whoever dispatched it.
    assert_eq!(
        store
            .retries_due(EpochMs(0), T0, 9)
            .await
            .unwrap()
            .woken_webhooks,
        []
    );
}

/// Deliveries count while they are pending, leased or not, and no longer when they have ended.
pub async fn a_webhook_knows_how_far_it_is_behind(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &["0", "1"]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    let ids = [other.id.clone(), webhook.id.clone()];
    let oldest = deliveries_of(&*store, &webhook, None).await.pop().unwrap();
    let behind = |pending, oldest_at_ms| WebhookBacklog {
        pending,
        oldest_at_ms,
    };
    let waiting = behind(2, Some(oldest.created_at_ms));
    let found = store.webhook_backlogs(&ids).await.unwrap();
    assert_eq!(found, [WebhookBacklog::default(), waiting]);
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let found = store.webhook_backlogs(&ids[1..]).await.unwrap();
    assert_eq!(found, [waiting], "somebody attempts them");
    let ended = [AfterAttempt::Delivered, AfterAttempt::Dead];
    let attempts = claimed.iter().zip(ended);
    let attempts = attempts.map(|(claimed, after)| attempted(claimed, after, T0));
    record(&*store, &webhook, attempts.collect()).await;
    let found = store.webhook_backlogs(&ids[1..]).await.unwrap();
    assert_eq!(found, [WebhookBacklog::default()]);
}

/// The last by its time, whichever delivery it belongs to and whatever became of that; without the headers, which pages do not
/// show; among the newest deliveries alone.
pub async fn the_last_attempt_at_each_webhook_is_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &["0", "1", "2"]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    let gone = WebhookId::new(T0, entropy());
    let ids = [other.id.clone(), gone, webhook.id.clone()];
    let last = async |among| {
        let found = store.last_attempts(&ids, among).await.unwrap();
        assert!(found[..2].iter().all(Option::is_none));
        found[2].as_ref().map(|attempt| attempt.at_ms)
    };
    assert_eq!(last(10).await, None);
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let ends = [AfterAttempt::Dead, RETRY, AfterAttempt::Delivered];
    let at = [T0, T0 + 2 * MS, T0 + MS];
    let attempts = claimed.iter().zip(ends).zip(at);
    let attempts = attempts.map(|((claimed, after), at)| attempted(claimed, after, at));
    record(&*store, &webhook, attempts.collect()).await;
    assert_eq!(last(10).await, Some(at[1]));
    assert_eq!(last(2).await, Some(at[1]));
    assert_eq!(last(1).await, Some(at[2]), "of the newest delivery");
    let found = store.last_attempts(&ids[2..], 10).await.unwrap();
    assert_eq!(found[0].as_ref().unwrap().headers, None);
}

/// A dead letter of long ago that is made once more waits since then; what has waited all the time, since it was
/// dispatched.
pub async fn a_webhook_waits_no_longer_than_since_a_delivery_was_made_once_more(
    factory: &dyn Factory,
) {
    const DAY: Duration = Duration::from_hours(24);
    let (store, epoch) = start(factory).await;
    let (_, from, webhook) = waiting_of(&*store, epoch, &["0", "1"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    end_all(&*store, &webhook, &claimed, AfterAttempt::Dead, T0).await;
    let oldest = async || {
        let ids = std::slice::from_ref(&webhook.id);
        store.webhook_backlogs(ids).await.unwrap()[0].oldest_at_ms
    };
    assert_eq!(oldest().await, None);
    let id = &claimed[0].lease.delivery_id;
    store.retry_delivery(id, T0 + 29 * DAY).await.unwrap();
    assert_eq!(oldest().await, Some(T0 + 29 * DAY));
    let found = store.delivery(id).await.unwrap().unwrap();
    assert_eq!(found.next_attempt_at_ms, Some(T0 + 29 * DAY));
    assert!(found.created_at_ms < T0 + DAY);
    // Asking for it once more changes nothing of that, nor does an attempt that fails.
    store.retry_delivery(id, T0 + 30 * DAY).await.unwrap();
    let again = claim_deliveries(&*store, &webhook, epoch, T0 + 30 * DAY).await;
    let due_at = AfterAttempt::RetryAt(T0 + 31 * DAY);
    end_all(&*store, &webhook, &again, due_at, T0 + 30 * DAY).await;
    assert_eq!(oldest().await, Some(T0 + 29 * DAY));
    emit(&*store, &from, &["2"], T0 + 28 * DAY).await;
    store.dispatch(T0 + 28 * DAY, 10, u32::MAX).await.unwrap();
    assert_eq!(oldest().await, Some(T0 + 28 * DAY));
    let at = Replay {
        now_ms: T0 + 32 * DAY,
        ..replay(false)
    };
    let step = store.replay(&webhook.id, &at, 10).await.unwrap();
    assert_eq!((step.done, oldest().await), (1, Some(T0 + 28 * DAY)));
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0 + 32 * DAY).await;
    assert_eq!(delivered_texts(&claimed), ["1", "2", "0"]);
    let done = [claimed[1].clone(), claimed[2].clone()];
    let delivered = AfterAttempt::Delivered;
    end_all(&*store, &webhook, &done, delivered, T0 + 32 * DAY).await;
    assert_eq!(oldest().await, Some(T0 + 32 * DAY));
}
