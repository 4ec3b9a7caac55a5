//! Deliveries: claimed, attempted, given up, made once more and trimmed.

use std::{collections::BTreeSet, time::Duration};

use headwater_model::{
    channel::Channel,
    id::{DeliveryId, SubscriptionId, WebhookId},
    time::EpochMs,
    webhook::{AttemptCause, AttemptFailure, DeliveryState},
};

use super::{Factory, fixture::*};
use crate::{
    AfterAttempt, Attempt, AttemptHeaders, AttemptRecord, ClaimLimit, ClaimedDelivery,
    DeliveryLease, LeaseTerm, NodeEpoch, Owner, Store, StoreError, Webhook, WebhookChange,
};

pub(super) const RETRY: AfterAttempt = AfterAttempt::RetryAt(EpochMs(T0.0 + 60_000));

/// A source, a webhook that listens to it, and a delivery per text.
pub(super) async fn waiting(
    store: &dyn Store,
    epoch: NodeEpoch,
    texts: &[&str],
) -> (Leased, Webhook) {
    let (_, from, webhook) = waiting_of(store, epoch, texts).await;
    (from, webhook)
}

pub(super) async fn waiting_of(
    store: &dyn Store,
    epoch: NodeEpoch,
    texts: &[&str],
) -> (Owner, Leased, Webhook) {
    let mine = owner();
    let from = deploy(store, epoch, &mine).await;
    let webhook = listening_webhook(store, &mine, &from).await;
    emit(store, &from, texts, T0).await;
    dispatch_all(store, 100).await;
    (mine, from, webhook)
}

pub(super) async fn one_claimed(
    store: &dyn Store,
    webhook: &Webhook,
    epoch: NodeEpoch,
) -> ClaimedDelivery {
    let mut claimed = claim_some(store, webhook, epoch, T0, 1).await;
    assert_eq!(claimed.len(), 1);
    claimed.remove(0)
}

async fn claimed_texts(
    store: &dyn Store,
    webhook: &Webhook,
    epoch: NodeEpoch,
    now_ms: EpochMs,
) -> Vec<String> {
    let claimed = claim_deliveries(store, webhook, epoch, now_ms).await;
    delivered_texts(&claimed)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

pub(super) async fn record(
    store: &dyn Store,
    webhook: &Webhook,
    attempts: Vec<AttemptRecord>,
) -> Vec<Result<(), StoreError>> {
    store
        .record_attempts(&webhook.id, attempts, None, T0)
        .await
        .unwrap()
        .results
}

/// Everything a receiver is told of an event, and the same in the list.
pub async fn a_delivery_reads_back_as_it_was_dispatched(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let from = deploy(&*store, epoch, &mine).await;
    let webhook = create_webhook(&*store, &mine).await;
    let mut wanted = deliver(&*store, &mine, &from, &webhook).await;
    wanted.channel = Channel::named("orders");
    wanted.id = SubscriptionId::new(T0, entropy());
    store.subscribe(wanted.clone()).await.unwrap();
    emit_on(&*store, &from, Channel::named("orders"), "{ \"a\":  1.0 }").await;
    let id = ids(&*store, &from).await.remove(0);
    store.dispatch(T0 + 5 * MS, 10, u32::MAX).await.unwrap();
    // The log does not keep it as long.
    store.delete_source(&from.lease).await.unwrap();
    let store = factory.reopen(store).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let claimed = one_claimed(&*store, &webhook, epoch).await;
    assert_eq!((claimed.lease.number, claimed.attempts), (1, 0));
    let listed = deliveries_of(&*store, &webhook, None).await.remove(0);
    let found = store.delivery(&listed.id).await.unwrap().unwrap();
    assert_eq!(format!("{listed:?}"), format!("{found:?}"));
    assert_eq!(format!("{:?}", found.event), format!("{:?}", claimed.event));
    assert_eq!(found.id, claimed.lease.delivery_id);
    assert_eq!(found.event.emitter, emitter(&from));
    assert_eq!(found.event.id, id);
    assert_eq!(found.event.channel, Channel::named("orders"));
    assert_eq!(found.event.event.get(), "{ \"a\":  1.0 }");
    assert_eq!(found.webhook_id, webhook.id);
    assert_eq!(found.subscription_id, wanted.id);
    assert_eq!(claimed.subscription_id, wanted.id);
    assert_eq!(found.state, DeliveryState::Pending);
    assert_eq!(found.created_at_ms, T0 + 5 * MS);
    assert_eq!(found.next_attempt_at_ms, Some(T0 + 5 * MS));
    assert!(found.attempts.is_empty());
    let nobody = DeliveryId::new(T0, entropy());
    assert!(store.delivery(&nobody).await.unwrap().is_none());
}

/// A leased delivery is not claimed again.
pub async fn a_claim_never_hands_out_a_held_delivery(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let first = claim_some(&*store, &webhook, epoch, T0, 2).await;
    assert_eq!(delivered_texts(&first), ["1", "2"]);
    let store = factory.reopen(store).await;
    assert_eq!(claimed_texts(&*store, &webhook, epoch, T0).await, ["3"]);
    let last_moment = T0 + (MINUTE - MS);
    assert!(
        claim_deliveries(&*store, &webhook, epoch, last_moment)
            .await
            .is_empty()
    );
}

/// A courier sends to the address that the record names, and nothing for one that takes no deliveries.
pub async fn a_claim_comes_with_the_webhooks_present_record(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let claim = || claim_with_record(&*store, &webhook, epoch, T0, 1);
    let claimed = claim().await;
    assert_eq!(claimed.webhook.as_ref(), Some(&webhook));
    assert_eq!(delivered_texts(&claimed.deliveries), ["1"]);
    let moved = WebhookChange {
        url: Some("https://new.example".to_owned()),
        ..WebhookChange::default()
    };
    let moved = store.update_webhook(&webhook.id, moved).await.unwrap();
    let claimed = claim().await;
    assert_eq!(claimed.webhook.as_ref(), Some(&moved));
    assert_eq!(delivered_texts(&claimed.deliveries), ["2"]);
    let inactive = WebhookChange {
        active: Some(false),
        ..WebhookChange::default()
    };
    store.update_webhook(&webhook.id, inactive).await.unwrap();
    let claimed = claim().await;
    assert!(claimed.webhook.is_none() && claimed.deliveries.is_empty());
    store.delete_webhook(&webhook.id).await.unwrap();
    let claimed = claim().await;
    assert!(claimed.webhook.is_none() && claimed.deliveries.is_empty());
}

/// Two that claim at the same time share the work.
pub async fn claims_of_deliveries_at_the_same_time_share_the_work(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let texts: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (_, webhook) = waiting(&*store, epoch, &texts).await;
    let claims = (0..4).map(|_| {
        let (store, webhook) = (std::sync::Arc::clone(&store), webhook.clone());
        tokio::spawn(async move { claim_some(&*store, &webhook, epoch, T0, 5).await })
    });
    let mut ids = BTreeSet::new();
    for claim in claims.collect::<Vec<_>>() {
        for claimed in claim.await.unwrap() {
            assert!(ids.insert(claimed.lease.delivery_id));
        }
    }
    assert_eq!(ids.len(), 20);
}

/// A lease that ran out, was given back, or ended with its node is nobody's.
pub async fn a_delivery_that_nobody_holds_is_claimable_in_its_place(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let first = claim_some(&*store, &webhook, epoch, T0, 2).await;
    let given_back = [first[0].lease.clone()];
    store.release_deliveries(&given_back).await.unwrap();
    store.release_deliveries(&given_back).await.unwrap();
    let again = claim_some(&*store, &webhook, epoch, T0, 1).await;
    assert_eq!(delivered_texts(&again), ["1"]);
    assert_eq!((again[0].lease.number, again[0].attempts), (2, 0));
    // It was lost when it was given back.
    store.release_deliveries(&given_back).await.unwrap();
    assert_eq!(claimed_texts(&*store, &webhook, epoch, T0).await, ["3"]);
    let expired = claimed_texts(&*store, &webhook, epoch, T0 + MINUTE).await;
    assert_eq!(expired, ["1", "2", "3"]);
    let store = factory.reopen(store).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let voided = claimed_texts(&*store, &webhook, epoch, T0).await;
    assert_eq!(voided, ["1", "2", "3"]);
}

/// A held lease lasts longer, a lost one does not come back.
pub async fn extending_prolongs_held_deliveries_only(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let leases: Vec<DeliveryLease> = claimed.iter().map(|one| one.lease.clone()).collect();
    store.release_deliveries(&leases[1..]).await.unwrap();
    let until = T0 + 9 * MINUTE;
    store.extend_delivery_leases(&leases, until).await.unwrap();
    let free = claimed_texts(&*store, &webhook, epoch, until.minus(MS)).await;
    assert_eq!(free, ["2"]);
    assert_eq!(claimed_texts(&*store, &webhook, epoch, until).await, ["1"]);
}

/// First attempts in the order of events, then what failed in the order in which it is due, and not before.
pub async fn first_attempts_are_claimed_before_those_that_are_due_again(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let later = |number: u32| AfterAttempt::RetryAt(T0 + number * SECOND);
    let attempts = vec![
        attempted(&claimed[0], later(3), T0),
        attempted(&claimed[1], later(1), T0),
        attempted(&claimed[2], later(2), T0),
    ];
    assert!(
        record(&*store, &webhook, attempts)
            .await
            .iter()
            .all(Result::is_ok)
    );
    let store = factory.reopen(store).await;
    assert!(
        claimed_texts(&*store, &webhook, epoch, T0 + (SECOND - MS))
            .await
            .is_empty()
    );
    emit(&*store, &from, &["4"], T0).await;
    dispatch_all(&*store, 10).await;
    let due = claim_deliveries(&*store, &webhook, epoch, T0 + 2 * SECOND).await;
    assert_eq!(delivered_texts(&due), ["4", "2", "3"]);
    let attempts: Vec<u32> = due.iter().map(|one| one.attempts).collect();
    assert_eq!(attempts, [0, 1, 1]);
    let due = claimed_texts(&*store, &webhook, epoch, T0 + 3 * SECOND).await;
    assert_eq!(due, ["1"]);
}

/// Claims are bounded by number and bytes, and retries do not hold first attempts back.
pub async fn a_claim_ends_at_its_limits(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    end_all(&*store, &webhook, &claimed, RETRY, T0).await;
    // One of the retries is due before first attempts.
    let by_hand = &claimed[2].lease.delivery_id;
    store.retry_delivery(by_hand, T0).await.unwrap();
    emit(&*store, &from, &["4", "55", "6"], T0).await;
    dispatch_all(&*store, 10).await;
    for (deliveries, retries, bytes, expected) in [
        (0, 9, 9, &[][..]),
        (9, 0, 9, &["4", "55", "6"]),
        (9, 1, 9, &["3", "4", "55", "6"]),
        (9, 2, 9, &["3", "4", "55", "6", "1"]),
        (3, 9, 9, &["3", "4", "55"]),
        (9, 9, 1, &["3"]),
        (9, 0, 2, &["4", "55"]),
        (9, 9, 9, &["3", "4", "55", "6", "1", "2"]),
    ] {
        let expires_at_ms = T0 + 2 * MINUTE;
        let term = LeaseTerm {
            epoch,
            expires_at_ms,
        };
        let limit = ClaimLimit {
            deliveries,
            retries,
            bytes,
        };
        let claimed = store.claim_deliveries(&webhook.id, term, T0 + MINUTE, limit);
        let claimed = claimed.await.unwrap().deliveries;
        assert_eq!(delivered_texts(&claimed), expected, "{limit:?}");
        let leases: Vec<_> = claimed.into_iter().map(|one| one.lease).collect();
        store.release_deliveries(&leases).await.unwrap();
    }
}

/// Every attempt is kept with its delivery, and what follows from it.
pub async fn attempts_are_kept_and_decide_what_becomes_of_a_delivery(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let mut attempts = vec![
        attempted(&claimed[0], AfterAttempt::Delivered, T0),
        attempted(&claimed[1], AfterAttempt::Dead, T0 + MS),
        attempted(&claimed[2], RETRY, T0 + 2 * MS),
    ];
    attempts[1].attempt = Attempt {
        at_ms: T0 + MS,
        cause: None,
        latency_ms: 15_000,
        status: None,
        response_excerpt: None,
        error: Some("no answer within 15 s".to_owned()),
        failure: Some(AttemptFailure::Timeout),
        headers: None,
    };
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = AttemptHeaders {
        request: vec![header("webhook-id", "1"), header("x-a", "ü")],
        response: vec![header("x-b", "1"), header("x-b", "2")],
    };
    attempts[2].attempt.headers = Some(headers.clone());
    record(&*store, &webhook, attempts.clone()).await;
    let again = claim_deliveries(&*store, &webhook, epoch, T0 + MINUTE).await;
    let second = attempted(&again[0], AfterAttempt::Delivered, T0 + MINUTE);
    record(&*store, &webhook, vec![second.clone()]).await;
    let store = factory.reopen(store).await;
    let listed = deliveries_of(&*store, &webhook, None).await;
    let found: Vec<_> = listed
        .iter()
        .rev()
        .map(|one| (one.event.event.get(), one.state, one.next_attempt_at_ms))
        .collect();
    assert_eq!(
        found,
        [
            ("1", DeliveryState::Delivered, None),
            ("2", DeliveryState::Dead, None),
            ("3", DeliveryState::Delivered, None)
        ]
    );
    assert_eq!(listed[2].attempts, [attempts[0].attempt.clone()]);
    assert_eq!(listed[1].attempts, [attempts[1].attempt.clone()]);
    // Headers are with the delivery itself alone.
    let first = Attempt {
        headers: None,
        ..attempts[2].attempt.clone()
    };
    assert_eq!(listed[0].attempts, [first, second.attempt]);
    let whole = store.delivery(&listed[0].id).await.unwrap().unwrap();
    assert_eq!(whole.attempts[0], attempts[2].attempt);
    assert_eq!(whole.attempts[1].headers, None);
    let causes = whole.attempts.iter().map(|attempt| attempt.cause);
    let causes: Vec<_> = causes.collect();
    assert_eq!(
        causes,
        [Some(AttemptCause::Event), Some(AttemptCause::Retry)]
    );
}

/// Of two that attempted the same delivery, the one that holds it counts.
pub async fn an_attempt_is_refused_after_a_later_claim(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2"]).await;
    let former = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let latter = claim_some(&*store, &webhook, epoch, T0 + MINUTE, 1).await;
    let attempts = vec![
        attempted(&former[0], AfterAttempt::Dead, T0),
        attempted(&former[1], AfterAttempt::Delivered, T0),
        attempted(&latter[0], AfterAttempt::Delivered, T0),
        attempted(&latter[0], AfterAttempt::Dead, T0),
    ];
    let results = record(&*store, &webhook, attempts).await;
    let taken: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(taken, [false, true, true, false]);
    results
        .into_iter()
        .filter(Result::is_err)
        .for_each(assert_conflict);
    let listed = deliveries_of(&*store, &webhook, Some(DeliveryState::Delivered)).await;
    assert!(listed.iter().all(|one| one.attempts.len() == 1));
    assert_eq!(listed.len(), 2);
}

/// It is claimed once more, and nothing else is: neither what another claim leased, nor what another webhook has.
pub async fn deliveries_of_a_lost_claim_are_given_back(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &[]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    emit(&*store, &from, &["1", "2"], T0).await;
    dispatch_all(&*store, 10).await;
    let claim = async |webhook: &Webhook, later: Duration, count| {
        let term = LeaseTerm {
            epoch,
            expires_at_ms: T0 + MINUTE + later,
        };
        let limit = ClaimLimit {
            deliveries: count,
            retries: count,
            bytes: u64::MAX,
        };
        let claimed = store.claim_deliveries(&webhook.id, term, T0, limit).await;
        (term, claimed.unwrap().deliveries)
    };
    let (_, kept) = claim(&webhook, MS, 1).await;
    let (term, lost) = claim(&webhook, 2 * MS, 1).await;
    claim(&other, 2 * MS, 2).await;
    store
        .release_delivery_claim(&webhook.id, term)
        .await
        .unwrap();
    let (_, again) = claim(&webhook, 3 * MS, 9).await;
    let texts = [kept, lost, again].map(|claimed| {
        let texts = delivered_texts(&claimed);
        texts.concat()
    });
    assert_eq!(texts, ["1", "2", "2"]);
    assert!(claim(&other, 3 * MS, 9).await.1.is_empty());
}

/// Refused for leases that were given back, and for those of another epoch, another webhook or none.
pub async fn an_attempt_is_refused_without_its_lease(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &["1"]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    let claimed = one_claimed(&*store, &webhook, epoch).await;
    let delivered = || vec![attempted(&claimed, AfterAttempt::Delivered, T0)];
    let refused = |mut results: Vec<Result<(), StoreError>>| assert_conflict(results.remove(0));
    refused(record(&*store, &other, delivered()).await);
    let nobody = WebhookId::new(T0, entropy());
    let results = store.record_attempts(&nobody, delivered(), None, T0).await;
    refused(results.unwrap().results);
    store
        .release_deliveries(std::slice::from_ref(&claimed.lease))
        .await
        .unwrap();
    refused(record(&*store, &webhook, delivered()).await);
    let held = one_claimed(&*store, &webhook, epoch).await;
    let store = factory.reopen(store).await;
    store.start_node(&node(), T0).await.unwrap();
    let late = vec![attempted(&held, AfterAttempt::Delivered, T0)];
    refused(record(&*store, &webhook, late).await);
    let listed = deliveries_of(&*store, &webhook, None).await;
    assert!(listed[0].attempts.is_empty());
    let read = store.webhook(&webhook.id).await.unwrap().unwrap();
    assert_eq!(read.failing_since_ms, None);
}

/// Expiring alone loses nothing.
pub async fn an_attempt_that_outlives_its_lease_counts_if_nobody_took_it(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let late = T0 + 9 * MINUTE;
    let results = end_all(&*store, &webhook, &claimed, AfterAttempt::Delivered, late).await;
    assert!(results[0].is_ok());
}

/// From the first failure after the last success.
pub async fn a_webhook_knows_since_when_it_fails(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let texts = ["1", "2", "3", "4", "5", "6"];
    let (_, webhook) = waiting(&*store, epoch, &texts).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let delivered = AfterAttempt::Delivered;
    for (batch, since_ms) in [
        (vec![(0, RETRY, 1)], Some(T0 + MS)),
        (vec![(1, AfterAttempt::Dead, 2)], Some(T0 + MS)),
        (vec![(2, RETRY, 3), (3, delivered, 4)], None),
        (vec![(4, delivered, 5), (5, RETRY, 6)], Some(T0 + 6 * MS)),
        // It was recorded before.
        (vec![(3, delivered, 7)], Some(T0 + 6 * MS)),
    ] {
        let attempts = batch
            .into_iter()
            .map(|(number, after, ms): (usize, _, u32)| {
                attempted(&claimed[number], after, T0 + ms * MS)
            })
            .collect();
        record(&*store, &webhook, attempts).await;
        let found = store.webhook(&webhook.id).await.unwrap().unwrap();
        assert_eq!(found.failing_since_ms, since_ms);
    }
}

/// Webhooks with work are found, longest wait first, with the time of the next.
pub async fn webhooks_with_work_are_those_with_deliveries_that_nobody_holds(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let from = deploy(&*store, epoch, &mine).await;
    let mut webhooks = Vec::new();
    for (now_ms, text) in [(T0, "1"), (T0 + MS, "2"), (T0 + 2 * MS, "3")] {
        // The one made last waits longest.
        let webhook = create_webhook(&*store, &mine).await;
        webhooks.push((webhook, now_ms, text));
    }
    for (webhook, now_ms, text) in webhooks.iter().rev() {
        deliver(&*store, &mine, &from, webhook).await;
        emit(&*store, &from, &[text], *now_ms).await;
        store
            .dispatch((T0 + 10 * MS).minus(now_ms.since(T0)), 10, u32::MAX)
            .await
            .unwrap();
    }
    let ids: Vec<_> = webhooks
        .iter()
        .rev()
        .map(|(one, ..)| one.id.clone())
        .collect();
    let found = store
        .webhooks_with_work(T0 + MINUTE, None, 100)
        .await
        .unwrap();
    assert_eq!((found.woken_webhooks, found.next_due_ms), (ids, None));

    let [first, second, third] = [2, 1, 0].map(|number: usize| webhooks[number].0.clone());
    // The first is held, the second will be due again, the third is off.
    claim_deliveries(&*store, &first, epoch, T0).await;
    let claimed = claim_deliveries(&*store, &second, epoch, T0).await;
    let due_ms = T0 + 30 * SECOND;
    end_all(
        &*store,
        &second,
        &claimed,
        AfterAttempt::RetryAt(due_ms),
        T0,
    )
    .await;
    let off = Webhook {
        active: false,
        ..third
    };
    rewrite(&*store, &off).await;
    let found = store
        .webhooks_with_work(due_ms.minus(MS), None, 100)
        .await
        .unwrap();
    assert_eq!(
        (found.woken_webhooks, found.next_due_ms),
        (vec![], Some(due_ms))
    );
    let found = store.webhooks_with_work(due_ms, None, 100).await.unwrap();
    assert_eq!(
        (found.woken_webhooks, found.next_due_ms),
        (vec![second.id.clone()], None)
    );
    let found = store
        .webhooks_with_work(T0 + MINUTE, None, 100)
        .await
        .unwrap();
    assert_eq!(found.woken_webhooks.len(), 2, "the lease ran out");
}

/// However many there are, and whichever of them has waited longest.
pub async fn all_webhooks_with_work_are_reached_in_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let from = deploy(&*store, epoch, &mine).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(listening_webhook(&*store, &mine, &from).await.id);
    }
    create_webhook(&*store, &mine).await;
    emit(&*store, &from, &["1", "2"], T0).await;
    dispatch_all(&*store, 100).await;
    let mut reached: Vec<WebhookId> = Vec::new();
    for (count, more) in [(2, true), (2, true), (1, false), (0, false)] {
        let after = reached.iter().max();
        let step = store.webhooks_with_work(T0, after, 2).await.unwrap();
        assert_eq!((step.woken_webhooks.len(), step.more), (count, more));
        reached.extend(step.woken_webhooks);
    }
    reached.sort();
    assert_eq!(reached, ids);
}

/// Pending deliveries are kept, whatever their age and number.
pub async fn pending_deliveries_are_never_trimmed(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let claimed = claim_some(&*store, &webhook, epoch, T0, 2).await;
    let attempts = vec![
        attempted(&claimed[0], AfterAttempt::Delivered, T0),
        attempted(&claimed[1], RETRY, T0),
    ];
    record(&*store, &webhook, attempts).await;
    assert_eq!(
        trim_all_deliveries(&*store, 0, EpochMs(u64::MAX), 10).await,
        1
    );
    let due = claimed_texts(&*store, &webhook, epoch, T0 + MINUTE).await;
    assert_eq!(due, ["3", "2"]);
}

/// Delivered ones by number per webhook, dead ones by age, in bounded steps.
pub async fn trimming_keeps_the_newest_delivered_and_the_youngest_dead(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = waiting_of(&*store, epoch, &[]).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    emit(&*store, &from, &["0", "1", "2", "3", "4", "5"], T0).await;
    dispatch_all(&*store, 100).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    end_all(
        &*store,
        &webhook,
        &claimed[..3],
        AfterAttempt::Delivered,
        T0,
    )
    .await;
    end_all(&*store, &webhook, &claimed[3..4], AfterAttempt::Dead, T0).await;
    end_all(
        &*store,
        &webhook,
        &claimed[4..],
        AfterAttempt::Dead,
        T0 + MS,
    )
    .await;
    assert_eq!(trim_all_deliveries(&*store, 2, T0, 1).await, 1);
    assert_eq!(trim_all_deliveries(&*store, 2, T0 + MS, 1).await, 1);
    let (delivered, dead) = (DeliveryState::Delivered, DeliveryState::Dead);
    assert_eq!(texts_in(&*store, &webhook, delivered).await, ["2", "1"]);
    assert_eq!(texts_in(&*store, &webhook, dead).await, ["5", "4"]);
    // To fewer than before, though nothing has happened since.
    let store = factory.reopen(store).await;
    assert_eq!(trim_all_deliveries(&*store, 1, EpochMs(0), 10).await, 1);
    assert_eq!(texts_in(&*store, &webhook, delivered).await, ["2"]);
    assert_eq!(trim_all_deliveries(&*store, 1, EpochMs(0), 10).await, 0);
    // The other webhook still needs every event.
    let due = claimed_texts(&*store, &other, epoch, T0).await;
    assert_eq!(due, ["0", "1", "2", "3", "4", "5"]);
}

/// Retrying gives a delivery that is kept, and trimming counts it when it has ended again.
pub async fn trimming_counts_a_retried_delivery_when_it_has_ended(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1", "2"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    end_all(&*store, &webhook, &claimed, AfterAttempt::Delivered, T0).await;
    let id = &claimed[0].lease.delivery_id;
    store.retry_delivery(id, T0).await.unwrap();
    assert_eq!(trim_all_deliveries(&*store, 0, EpochMs(0), 10).await, 1);
    let again = claim_deliveries(&*store, &webhook, epoch, T0).await;
    assert_eq!(delivered_texts(&again), ["1"]);
    end_all(&*store, &webhook, &again, AfterAttempt::Delivered, T0).await;
    assert_eq!(trim_all_deliveries(&*store, 0, EpochMs(0), 10).await, 1);
    assert!(deliveries_of(&*store, &webhook, None).await.is_empty());
}
