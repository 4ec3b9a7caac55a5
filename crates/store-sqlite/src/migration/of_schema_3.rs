//! A database written by the version with schema 3, opened by the present one.

use std::path::PathBuf;

use headwater_model::channel::ChannelClass;
use headwater_model::{
    id::{
        ComponentId, DeliveryId, InvocationId, SourceId, SubscriptionId, UserId, WebhookId,
        WorkspaceId,
    },
    page::PageRequest,
    time::EpochMs,
    webhook::DeliveryState,
};
use headwater_store::{
    AfterAttempt, Attempt, AttemptRecord, Catalog, ChannelFilter, ClaimLimit, ClaimedDelivery,
    Deliveries, EventLog, InvocationEnd, LeaseTerm, NodeEpoch, NodeName, Nodes, Owner, RunCommit,
    Usage, WebhookBacklog, WebhookChange, Webhooks, WorkLimit, WorkQueue,
};
use tempfile::TempDir;

use super::MIGRATIONS;
use crate::{connection, store::SqliteStore};

/// When the former version wrote: a moment in 2023.
const THEN: EpochMs = EpochMs(1_700_000_000_000);
/// When the present one has started: everything but the last retry is due.
const NOW: EpochMs = EpochMs(THEN.0 + 60_000);
const LATER: EpochMs = EpochMs(NOW.0 + 60_000);

/// An http request and events that wait for the user's source, and for the workspace's.
const OF_USER: [&str; 3] = [r#"{"method":"GET"}"#, "1", r#""ü""#];
const OF_WORKSPACE: [&str; 3] = [r#"{"method":"PUT"}"#, "{}", r#"{"a":[1,2]}"#];

struct Former {
    _folder: TempDir,
    path: PathBuf,
    user: UserId,
    workspace: WorkspaceId,
    of_user: SourceId,
    of_workspace: SourceId,
    webhook: WebhookId,
    inactive: WebhookId,
}

impl Former {
    /// Writes the former version's backlog.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let former = Self {
            path: folder.path().join("store.db"),
            _folder: folder,
            user: UserId::new(EpochMs(1), 1),
            workspace: WorkspaceId::new(EpochMs(1), 1),
            of_user: SourceId::new(THEN, 1 << 64),
            of_workspace: SourceId::new(THEN, 2 << 64),
            webhook: WebhookId::new(THEN, 1 << 64),
            inactive: WebhookId::new(THEN, 2 << 64),
        };
        let connection = connection::writing(&former.path).unwrap();
        for migration in &MIGRATIONS[..3] {
            connection.execute_batch(migration).unwrap();
        }
        connection.pragma_update(None, "user_version", 3).unwrap();
        connection
            .execute_batch("UPDATE node SET epoch = 7")
            .unwrap();
        for sql in [
            former.sources(),
            former.invocations(),
            former.webhooks(),
            former.deliveries(),
        ] {
            connection.execute_batch(&sql).unwrap();
        }
        former
    }

    fn owners(&self) -> [(&SourceId, String); 2] {
        let workspace = format!("'{}'", self.workspace);
        [
            (&self.of_user, "NULL".to_owned()),
            (&self.of_workspace, workspace),
        ]
    }

    /// Sources of components that have two versions each, the higher of which was saved first.
    fn sources(&self) -> String {
        let mut sql = "INSERT INTO artifacts VALUES ('hash', '');".to_owned();
        let user = &self.user;
        for (owner, (source, workspace)) in self.owners().into_iter().enumerate() {
            for (number, version) in ["2.0.0", "1.9.1"].into_iter().enumerate() {
                let id = component(owner, number);
                sql += &format!(
                    "INSERT INTO components
                     VALUES ('{id}', '{user}', {workspace}, 'shop-new', 'code', NULL, '', 'hash', '',
                         '{{\"name\": \"New\", \"type\": \"source\", \"version\": \"{version}\", \"props\": [],
                            \"hooks\": {{}}, \"has_run\": true}}', 1, 1);
                     INSERT INTO component_search VALUES ('{id}', '{user}', {workspace}, 'shop-new', 'source', ' shop ',
                                                          'shop-new new');"
                );
            }
            let id = component(owner, 0);
            sql += &format!(
                "INSERT INTO sources (id, user_id, workspace_id, name, name_slug, state, component_id, artifact_hash,
                                      configured_props, created_at, updated_at)
                 VALUES ('{source}', '{user}', {workspace}, 'New', 'new', 'active', '{id}', 'hash', '{{}}', 1, 1);
                 INSERT INTO emitters VALUES ('{source}', {THEN}, 1, NULL);
                 INSERT INTO events (emitter_id, ms, sequence, class, channel, event, hops, indexed_at_ms)
                 VALUES ('{source}', {THEN}, 0, 0, '', '\"old\"', 0, {THEN}),
                        ('{source}', {THEN}, 1, 0, '', '\"young\"', 0, {THEN});"
            );
        }
        sql + "UPDATE dispatch_cursor SET position = (SELECT max(position) FROM events);"
    }

    /// Invocations, one of each source under a lease of the node that is gone.
    fn invocations(&self) -> String {
        let of = |source: &SourceId, texts: [&str; 3], first: u128| {
            let mut sql = String::new();
            for (number, text) in texts.into_iter().enumerate() {
                let id = InvocationId::new(THEN, (first + number as u128) << 64);
                let (trigger, lease) = match number {
                    0 => ("http", format!("7, {LATER}, 1")),
                    _ => ("event", "NULL, NULL, 0".to_owned()),
                };
                sql += &format!(
                    "INSERT INTO invocations (id, source_id, trigger, event, hops, queued_at_ms, lease_epoch,
                                              lease_expires_at_ms, attempt)
                     VALUES ('{id}', '{source}', '{trigger}', '{text}', 1, {THEN}, {lease});"
                );
            }
            sql
        };
        of(&self.of_user, OF_USER, 1) + &of(&self.of_workspace, OF_WORKSPACE, 11)
    }

    fn webhooks(&self) -> String {
        let user = &self.user;
        let of = |webhook: &WebhookId, is_active: bool| {
            format!(
                "INSERT INTO webhooks (id, user_id, url, active, secret, created_at, updated_at)
                 VALUES ('{webhook}', '{user}', 'https://receiver.example', {is_active}, x'00', 1, {});",
                THEN.to_seconds().0
            )
        };
        of(&self.webhook, true) + &of(&self.inactive, false)
    }

    /// Deliveries in every state to a webhook, and some that were not given up yet to one that is inactive.
    fn deliveries(&self) -> String {
        let mut sql = String::new();
        for (number, webhook, state, attempts, due_ms, lease) in [
            (1, &self.webhook, "pending", 0, 0, "7"),
            (2, &self.webhook, "pending", 1, NOW.0 - 1, "NULL"),
            (3, &self.webhook, "pending", 2, LATER.0, "NULL"),
            (4, &self.webhook, "delivered", 1, 0, "NULL"),
            (5, &self.webhook, "dead", 3, 0, "NULL"),
            (6, &self.inactive, "pending", 0, 0, "NULL"),
            (7, &self.inactive, "pending", 1, NOW.0 - 1, "NULL"),
        ] {
            let source = &self.of_user;
            let (id, subscription) = (delivery(number), SubscriptionId::new(THEN, 1));
            let ended = if state == "pending" {
                "NULL".to_owned()
            } else {
                THEN.to_string()
            };
            sql += &format!(
                "INSERT INTO delivered_events VALUES ({number}, '{source}', {THEN}, {number}, '', '{number}', 1, NULL);
                 INSERT INTO deliveries (id, webhook_id, subscription_id, event_position, indexed_at_ms, state,
                                         attempts, due_at_ms, lease_epoch, lease_expires_at_ms, lease_number,
                                         created_at_ms, ended_at_ms)
                 VALUES ('{id}', '{webhook}', '{subscription}', {number}, {THEN}, '{state}', {attempts}, {due_ms},
                         {lease}, {LATER}, 4, {THEN} + {number}, {ended});"
            );
        }
        sql
    }
}

fn component(owner: usize, number: usize) -> ComponentId {
    ComponentId::new(THEN, ((owner * 10 + number) as u128) << 64)
}

fn delivery(number: u128) -> DeliveryId {
    DeliveryId::new(THEN, number << 64)
}

fn term(epoch: NodeEpoch) -> LeaseTerm {
    LeaseTerm {
        epoch,
        expires_at_ms: LATER,
    }
}

/// Invocations and bytes per owner that count as queued.
async fn queued(store: &SqliteStore) -> Vec<(String, u64, u64)> {
    let read = |connection: &rusqlite::Connection| {
        let mut statement = connection
            .prepare(
                "SELECT owner_id, invocations, bytes FROM queued_events ORDER BY owner_id DESC",
            )
            .unwrap();
        let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        Ok(rows.unwrap().map(Result::unwrap).collect())
    };
    store.read(read).await.unwrap()
}

#[tokio::test]
async fn invocations_of_events_are_counted_per_owner_until_they_have_ended() {
    let former = Former::new();
    let store = SqliteStore::open(&former.path).unwrap();
    let (user, workspace) = (former.user.to_string(), former.workspace.to_string());
    let bytes = |texts: [&str; 3]| texts[1..].iter().map(|text| text.len() as u64).sum::<u64>();
    let counted = [
        (user.clone(), 2, bytes(OF_USER)),
        (workspace.clone(), 2, bytes(OF_WORKSPACE)),
    ];
    assert_eq!(queued(&store).await, counted);
    let epoch = store.start_node(&NodeName::new("node"), NOW).await.unwrap();
    assert_eq!(epoch, NodeEpoch(8));
    for (source, texts) in [
        (&former.of_user, OF_USER),
        (&former.of_workspace, OF_WORKSPACE),
    ] {
        let runnable = source.clone().into();
        let lease = store.lease_runnable(&runnable, epoch, NOW).await.unwrap();
        let claimed = store
            .claim(&lease, term(epoch), NOW, WorkLimit::of(10))
            .await
            .unwrap();
        let found: Vec<&str> = claimed.iter().map(|one| one.event.get()).collect();
        assert_eq!(found, texts);
        let end = |claimed: &headwater_store::Claimed| RunCommit {
            lease: lease.clone(),
            run_id: claimed.lease.invocation_id.clone(),
            invocation: Some(InvocationEnd::ended(claimed.lease.clone())),
            events: Vec::new(),
            dedupe: None,
            kv_writes: Vec::new(),
            usage: Usage::default(),
            progress: None,
            ended: None,
            unrecorded: 0,
            now_ms: NOW,
        };
        let ended = store.commit_runs(claimed.iter().map(end).collect()).await;
        assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    }
    assert_eq!(queued(&store).await, [(user, 0, 0), (workspace, 0, 0)]);
}

#[tokio::test]
async fn events_are_still_in_the_log_and_a_key_means_the_same_component() {
    let former = Former::new();
    let store = SqliteStore::open(&former.path).unwrap();
    for (number, (source, _)) in former.owners().into_iter().enumerate() {
        let filter = ChannelFilter::Class(ChannelClass::Ordinary);
        let emitter = source.clone().into();
        let page = store
            .events(&emitter, &filter, &PageRequest::first(10))
            .await
            .unwrap();
        let mut texts: Vec<&str> = page.items.iter().map(|event| event.event.get()).collect();
        texts.sort_unstable();
        assert_eq!(texts, [r#""old""#, r#""young""#]);
        let owner = Owner {
            user_id: former.user.clone(),
            workspace_id: (number == 1).then(|| former.workspace.clone()),
        };
        let meant = store.component_by_key(&owner, "shop-new").await.unwrap();
        // The user's are those in the workspace, too; of equal versions the one saved last counts.
        assert_eq!(meant.unwrap().id, component(1, 0));
    }
}

async fn claimed(
    store: &SqliteStore,
    webhook: &WebhookId,
    epoch: NodeEpoch,
) -> Vec<ClaimedDelivery> {
    let limit = ClaimLimit {
        deliveries: 10,
        retries: 10,
        bytes: 1_000,
    };
    let claimed = store
        .claim_deliveries(webhook, term(epoch), NOW, limit)
        .await;
    claimed.unwrap().deliveries
}

async fn listed(store: &SqliteStore, webhook: &WebhookId, state: DeliveryState) -> Vec<DeliveryId> {
    let page = store
        .deliveries(webhook, Some(state), &PageRequest::first(10))
        .await
        .unwrap();
    assert_eq!(page.total_count, page.items.len() as u64);
    page.items.into_iter().map(|one| one.id).collect()
}

#[tokio::test]
async fn deliveries_go_on_and_retries_are_made_when_they_are_due() {
    let former = Former::new();
    let store = SqliteStore::open(&former.path).unwrap();
    let epoch = store.start_node(&NodeName::new("node"), NOW).await.unwrap();
    let webhook = &former.webhook;
    let behind = WebhookBacklog {
        pending: 3,
        oldest_at_ms: Some(EpochMs(THEN.0 + 1)),
    };
    let backlogs = store.webhook_backlogs(std::slice::from_ref(webhook)).await;
    assert_eq!(backlogs.unwrap(), [behind]);
    let work = store.webhooks_with_work(NOW, None, 10).await.unwrap();
    assert_eq!(
        (work.woken_webhooks, work.next_due_ms),
        (vec![webhook.clone()], Some(LATER))
    );
    let retries = store.retries_due(EpochMs(0), NOW, 10).await.unwrap();
    assert!(retries.woken_webhooks.contains(webhook));
    assert_eq!(retries.next_due_ms, Some(LATER));
    let claimed = claimed(&store, webhook, epoch).await;
    let found: Vec<(&str, u32)> = claimed
        .iter()
        .map(|one| (one.event.event.get(), one.attempts))
        .collect();
    assert_eq!(found, [("1", 0), ("2", 1)]);
    let attempts = claimed.into_iter().map(|claimed| AttemptRecord {
        lease: claimed.lease,
        attempt: Attempt {
            cause: None,
            at_ms: NOW,
            latency_ms: 1,
            status: Some(200),
            response_excerpt: None,
            error: None,
            failure: None,
            headers: None,
        },
        after: AfterAttempt::Delivered,
    });
    let recorded = store
        .record_attempts(webhook, attempts.collect(), None, NOW)
        .await
        .unwrap();
    assert!(recorded.results.iter().all(Result::is_ok));
    for (state, numbers) in [
        (DeliveryState::Pending, vec![3]),
        (DeliveryState::Delivered, vec![4, 2, 1]),
        (DeliveryState::Dead, vec![5]),
    ] {
        let ids: Vec<_> = numbers.into_iter().map(delivery).collect();
        assert_eq!(listed(&store, webhook, state).await, ids);
    }
}

#[tokio::test]
async fn deliveries_to_a_webhook_that_was_inactive_are_dead() {
    let former = Former::new();
    let store = SqliteStore::open(&former.path).unwrap();
    let epoch = store.start_node(&NodeName::new("node"), NOW).await.unwrap();
    let webhook = &former.inactive;
    let dead = [delivery(7), delivery(6)];
    assert_eq!(listed(&store, webhook, DeliveryState::Dead).await, dead);
    let on = WebhookChange {
        active: Some(true),
        ..WebhookChange::default()
    };
    store.update_webhook(webhook, on).await.unwrap();
    assert!(claimed(&store, webhook, epoch).await.is_empty());
    let trimmed = store.trim_deliveries(10, EpochMs(0), 10).await.unwrap();
    assert_eq!((trimmed.done, trimmed.more), (2, false));
    assert_eq!(listed(&store, webhook, DeliveryState::Dead).await, dead);
    store.retry_delivery(&dead[1], NOW).await.unwrap();
    let claimed = claimed(&store, webhook, epoch).await;
    assert_eq!(claimed.len(), 1);
}
