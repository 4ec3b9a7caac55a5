//! How fast events reach webhooks as far as the store goes: dispatched, claimed, recorded as delivered. And what one
//! webhook with a long queue costs the others.
//!
//! `cargo bench -p headwater-store-sqlite --bench deliveries` measures; without `--bench` it only checks that
//! everything runs.

#![allow(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "world/source.rs"]
mod source;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use headwater_model::{
    channel::Channel,
    id::{ListenerId, RunnableId, SubscriptionId, WebhookId},
    page::PageRequest,
    subscription::{EmitterPattern, Subscription},
    time::EpochSeconds,
};
use headwater_store::{
    AfterAttempt, Attempt, AttemptRecord, ClaimLimit, Deliveries, EventLog, LeaseTerm, NodeEpoch,
    NodeName, Nodes, RunnableLease, Sealed, Subscriptions, Webhook, WebhookChange, Webhooks,
    WorkQueue,
};
use headwater_store_sqlite::SqliteStore;

use crate::source::{NOW_MS, json, open, owner, run};

/// As in the node.
const BATCH: u32 = 500;
/// Deliveries of one claim.
const CLAIMED: u32 = 64;

fn main() {
    let measures = std::env::args().any(|argument| argument == "--bench");
    let scale = if measures { 1 } else { 1_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(measure(scale));
}

async fn measure(scale: u32) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on the disk");
    assert!(json().get().len() > 100, "events of an ordinary size");
    let events = 100_000 / scale;
    let (store, source, webhooks) = listened(&folder.path().join("one.db"), 1).await;
    emit(&store, &source, events).await;
    rate(
        "dispatch, 1 webhook: events",
        dispatch(&store).await.0,
        events,
    );
    queue(&store, &webhooks[0], events).await;

    let listeners = 10_000 / scale;
    let (store, source, _) = listened(&folder.path().join("many.db"), listeners).await;
    emit(&store, &source, 10).await;
    let (took, longest) = dispatch(&store).await;
    rate(&format!("dispatch, {listeners} webhooks: events"), took, 10);
    rate(
        &format!("dispatch, {listeners} webhooks: deliveries"),
        took,
        10 * listeners,
    );
    lasted("the longest step of those", longest);
    look_for_work(
        &store,
        &format!("looking for work, {listeners} webhooks wait"),
    )
    .await;
}

async fn look_for_work(store: &SqliteStore, what: &str) {
    let begin = Instant::now();
    let found = store.webhooks_with_work(NOW_MS, None, u32::MAX).await;
    found.expect("webhooks");
    lasted(what, begin.elapsed());
}

/// The operations on one webhook's long queue.
async fn queue(store: &SqliteStore, webhook: &Webhook, waiting: u32) {
    look_for_work(
        store,
        &format!("looking for work, 1 webhook with {waiting}"),
    )
    .await;
    let epoch = store
        .start_node(&NodeName::new("courier"), NOW_MS)
        .await
        .expect("an epoch");
    let (mut claiming, mut recording, mut done) = (Duration::ZERO, Duration::ZERO, 0);
    while done < waiting / 2 {
        let begin = Instant::now();
        let attempts = claim(store, &webhook.id, epoch).await;
        claiming += begin.elapsed();
        done += attempts.len() as u32;
        let begin = Instant::now();
        let recorded = store
            .record_attempts(&webhook.id, attempts, None, NOW_MS)
            .await;
        recording += begin.elapsed();
        assert!(
            recorded
                .expect("recorded")
                .results
                .iter()
                .all(Result::is_ok)
        );
    }
    rate(
        &format!("claim_deliveries, {CLAIMED} at once"),
        claiming,
        done,
    );
    rate(
        &format!("record_attempts, {CLAIMED} at once"),
        recording,
        done,
    );
    let begin = Instant::now();
    let page = store
        .deliveries(&webhook.id, None, &PageRequest::first(100))
        .await;
    assert_eq!(page.expect("a page").total_count, u64::from(waiting));
    lasted(&format!("a page of {waiting} deliveries"), begin.elapsed());
    let begin = Instant::now();
    let off = WebhookChange {
        active: Some(false),
        ..WebhookChange::default()
    };
    let updated = store.update_webhook(&webhook.id, off).await;
    updated.expect("updated");
    lasted(
        &format!("giving {} deliveries up", waiting - done),
        begin.elapsed(),
    );
    let begin = Instant::now();
    let mut trimmed = 0;
    loop {
        let step = store
            .trim_deliveries(100, NOW_MS, BATCH)
            .await
            .expect("trimmed");
        trimmed += step.done as u32;
        if !step.more {
            break;
        }
    }
    rate("trim_deliveries", begin.elapsed(), trimmed);
}

async fn claim(store: &SqliteStore, id: &WebhookId, epoch: NodeEpoch) -> Vec<AttemptRecord> {
    let term = LeaseTerm {
        epoch,
        expires_at_ms: NOW_MS + Duration::from_millis(1),
    };
    let limit = ClaimLimit {
        deliveries: CLAIMED,
        retries: CLAIMED,
        bytes: u64::MAX,
    };
    let claimed = store.claim_deliveries(id, term, NOW_MS, limit).await;
    let attempt = Attempt {
        at_ms: NOW_MS,
        cause: None,
        latency_ms: 5,
        status: Some(200),
        response_excerpt: Some("ok".to_owned()),
        error: None,
        failure: None,
        headers: None,
    };
    let record = |lease| AttemptRecord {
        lease,
        attempt: attempt.clone(),
        after: AfterAttempt::Delivered,
    };
    let claimed = claimed.expect("claimed").deliveries.into_iter();
    claimed.map(|one| record(one.lease)).collect()
}

/// A store with a source that this many webhooks listen to.
async fn listened(path: &Path, listeners: u32) -> (Arc<SqliteStore>, RunnableLease, Vec<Webhook>) {
    let (store, source) = open(path).await;
    let writing: Vec<_> = (1..=listeners)
        .map(|number| {
            let (store, source) = (Arc::clone(&store), source.clone());
            tokio::spawn(async move { listening(&store, source.runnable, number).await })
        })
        .collect();
    let mut webhooks = Vec::new();
    for written in writing {
        webhooks.push(written.await.expect("a webhook"));
    }
    (store, source, webhooks)
}

async fn listening(store: &SqliteStore, source: RunnableId, number: u32) -> Webhook {
    let webhook = webhook(number);
    store
        .create_webhook(webhook.clone())
        .await
        .expect("written");
    let subscription = Subscription {
        id: SubscriptionId::new(NOW_MS, u128::from(number) << 64),
        user_id: owner().user_id,
        emitter: EmitterPattern::One(source.into()),
        listener: ListenerId::Webhook(webhook.id.clone()),
        channel: Channel::default(),
    };
    store.subscribe(subscription).await.expect("subscribed");
    webhook
}

fn webhook(number: u32) -> Webhook {
    Webhook {
        id: WebhookId::new(NOW_MS, u128::from(number) << 64),
        owner: owner(),
        name: None,
        description: None,
        url: "https://receiver.example/".to_owned(),
        active: true,
        ordering: Default::default(),
        disabled_reason: None,
        secret: Sealed(vec![0; 32]),
        former_secret: None,
        failing_since_ms: None,
        created_at: EpochSeconds(1),
        updated_at: EpochSeconds(1),
    }
}

async fn emit(store: &SqliteStore, source: &RunnableLease, count: u32) {
    let mut left = count;
    while left > 0 {
        let batch = left.min(BATCH);
        let runs = (0..batch).map(|_| run(source)).collect();
        let results = store.commit_runs(runs).await;
        assert!(results.iter().all(Result::is_ok));
        left -= batch;
    }
}

/// Dispatches everything: how long that takes, and the longest step of it.
async fn dispatch(store: &SqliteStore) -> (Duration, Duration) {
    let (begin, mut longest) = (Instant::now(), Duration::ZERO);
    loop {
        let step = Instant::now();
        let progress = store
            .dispatch(NOW_MS, BATCH, u32::MAX)
            .await
            .expect("dispatched");
        longest = longest.max(step.elapsed());
        if !progress.more {
            return (begin.elapsed(), longest);
        }
    }
}

fn rate(what: &str, took: Duration, count: u32) {
    println!(
        "{what:<48}{:>12.0}/s",
        f64::from(count) / took.as_secs_f64()
    );
}

fn lasted(what: &str, took: Duration) {
    println!("{what:<48}{:>12.2} ms", took.as_secs_f64() * 1_000.0);
}
