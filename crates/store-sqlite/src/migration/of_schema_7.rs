//! A database written by the version with schema 7, opened by the present one: sources in each state, with their
//! queued work.

use std::path::PathBuf;

use headwater_model::{
    channel::ChannelClass,
    dedupe,
    endpoint::EndpointToken,
    event::Event,
    id::{
        ComponentId, DeliveryId, EventId, InvocationId, RunnableId, SourceId, SubscriptionId,
        UserId, WebhookId, WorkspaceId,
    },
    origin::Origin,
    page::PageRequest,
    time::EpochMs,
};
use headwater_store::{
    Catalog, ChannelFilter, Claimed, Deliveries, Dropped, EndedRun, EventLog, InvocationEnd,
    KeyValue, LeaseTerm, NodeEpoch, NodeName, Nodes, RunCommit, RunFacts, RunOutcome, RunTrigger,
    RunVersion, RunnableLease, Runs, SourceState, Spender, Tenants, Trigger, Usage, WorkLimit,
    WorkQueue,
};
use tempfile::TempDir;

use super::MIGRATIONS;
use crate::{connection, store::SqliteStore};

/// When the former version wrote: a moment in 2023.
const THEN: EpochMs = EpochMs(1_700_000_000_000);
/// When the present one has started, after the tick of every timer.
const NOW: EpochMs = EpochMs(THEN.0 + 60_000);
const LATER: EpochMs = EpochMs(NOW.0 + 60_000);

const STATES: [(&str, SourceState); 5] = [
    ("active", SourceState::Active),
    ("inactive", SourceState::Inactive),
    ("deploying", SourceState::Deploying),
    ("updating", SourceState::Updating),
    ("deleting", SourceState::Deleting),
];

struct Former {
    _folder: TempDir,
    path: PathBuf,
    user: UserId,
    workspace: WorkspaceId,
    /// In the order of the states; the first lives in the workspace.
    sources: Vec<SourceId>,
}

impl Former {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let former = Self {
            path: folder.path().join("store.db"),
            _folder: folder,
            user: UserId::new(EpochMs(1), 1),
            workspace: WorkspaceId::new(EpochMs(1), 1),
            sources: (1..=5).map(|n| SourceId::new(THEN, n << 64)).collect(),
        };
        let connection = connection::writing(&former.path).unwrap();
        for migration in &MIGRATIONS[..7] {
            connection.execute_batch(migration).unwrap();
        }
        connection.pragma_update(None, "user_version", 7).unwrap();
        let (user, workspace) = (&former.user, &former.workspace);
        let component = component();
        let mut sql = format!(
            "UPDATE node SET epoch = 7;
             INSERT INTO users VALUES ('{user}', 'ann', 'ann@shop.example', 1, 1);
             INSERT INTO workspaces VALUES ('{workspace}', 'shop', 'Shop', 'it@shop.example', 1);
             INSERT INTO memberships VALUES ('{workspace}', '{user}');
             INSERT INTO artifacts VALUES ('hash', '');
             INSERT INTO components (id, user_id, key, code, code_hash, artifact_hash, lock, description, created_at,
                                     updated_at)
             VALUES ('{component}', '{user}', 'shop-new', 'code', '', 'hash', '',
                     '{{\"name\": \"New\", \"type\": \"source\", \"props\": [], \"hooks\": {{}}, \"has_run\": true}}', 1, 1);"
        );
        for (number, (state, _)) in STATES.iter().enumerate() {
            sql += &former.source(number, state);
        }
        sql += "UPDATE dispatch_cursor SET position = (SELECT max(position) FROM events);";
        sql += &former.delivery();
        connection.execute_batch(&sql).unwrap();
        former
    }

    /// A source with two events, one of which is scheduled, a key, a timer, and invocations of every trigger, of which
    /// the request is leased by the node that is gone.
    fn source(&self, number: usize, state: &str) -> String {
        let (source, user, component) = (&self.sources[number], &self.user, component());
        let (workspace, owner) = match number {
            0 => (format!("'{}'", self.workspace), self.workspace.to_string()),
            _ => ("NULL".to_owned(), self.user.to_string()),
        };
        let id = |place: usize| InvocationId::new(THEN, ((number * 10 + place) as u128) << 64);
        format!(
            "INSERT INTO sources (id, user_id, workspace_id, name, name_slug, state, component_id, artifact_hash,
                                  configured_props, dedupe, created_at, updated_at)
             VALUES ('{source}', '{user}', {workspace}, 'New', 'new-{number}', '{state}', '{component}', 'hash',
                     '{{\"a\": 1}}', 'last', 1, 1);
             INSERT INTO emitters VALUES ('{source}', {LATER}, 4, '{dedupe}');
             INSERT INTO key_values VALUES ('{source}', 'cursor', '7');
             INSERT INTO endpoints (source_id, prop, token) VALUES ('{source}', 'http', 'token-{number}');
             INSERT INTO timers (source_id, prop, schedule, next_fire_at_ms)
             VALUES ('{source}', 'timer', '{{\"interval_seconds\": 60}}', {THEN} + 30000);
             INSERT INTO events (emitter_id, ms, sequence, class, channel, event, hops, indexed_at_ms)
             VALUES ('{source}', {THEN}, 0, 0, '', '\"kept\"', 0, {THEN});
             INSERT INTO events (emitter_id, ms, sequence, class, channel, event, hops, indexed_at_ms, deliver_at_ms,
                                 deliver_channel)
             VALUES ('{source}', {THEN}, 1, 3, '$in', '\"later\"', 0, {THEN}, {LATER}, '');
             INSERT INTO untrimmed (emitter_id, class) VALUES ('{source}', 0);
             INSERT INTO invocations (id, source_id, trigger, timer_prop, event, hops, queued_at_ms, lease_epoch,
                                      lease_expires_at_ms, attempt, owner_id)
             VALUES ('{request}', '{source}', 'http', NULL, '\"request\"', 0, {THEN}, 7, {LATER}, 1, NULL),
                    ('{event}', '{source}', 'event', NULL, '\"event\"', 2, {THEN}, NULL, NULL, 0, '{owner}'),
                    ('{tick}', '{source}', 'timer', 'timer', '\"tick\"', 0, {THEN}, NULL, NULL, 0, NULL);",
            dedupe = serde_json::to_string(&state_of_dedupe()).unwrap(),
            request = id(1),
            event = id(2),
            tick = id(3),
        )
    }

    /// A delivery of the first source's event.
    fn delivery(&self) -> String {
        let (webhook, source) = (WebhookId::new(THEN, 1), &self.sources[0]);
        let (delivery, subscription) = (DeliveryId::new(THEN, 1), SubscriptionId::new(THEN, 1));
        let user = &self.user;
        format!(
            "INSERT INTO webhooks (id, user_id, url, active, secret, created_at, updated_at)
             VALUES ('{webhook}', '{user}', 'https://receiver.example', TRUE, x'00', 1, 1);
             INSERT INTO delivered_events VALUES (1, '{source}', {THEN}, 0, '', '\"kept\"', 1, NULL);
             INSERT INTO deliveries (id, webhook_id, subscription_id, event_position, indexed_at_ms, state, created_at_ms)
             VALUES ('{delivery}', '{webhook}', '{subscription}', 1, {THEN}, 'pending', {THEN});"
        )
    }

    fn runnable(&self, number: usize) -> RunnableId {
        self.sources[number].clone().into()
    }
}

fn component() -> ComponentId {
    ComponentId::new(THEN, 1)
}

fn state_of_dedupe() -> dedupe::State {
    dedupe::State::Last {
        id: Some("7".to_owned()),
    }
}

async fn opened(former: &Former) -> (SqliteStore, NodeEpoch) {
    let store = SqliteStore::open(&former.path).unwrap();
    let epoch = store.start_node(&NodeName::new("node"), NOW).await.unwrap();
    assert_eq!(epoch, NodeEpoch(8));
    (store, epoch)
}

async fn events(store: &SqliteStore, source: &SourceId, class: ChannelClass) -> Vec<Event> {
    let emitter = source.clone().into();
    let filter = ChannelFilter::Class(class);
    let page = store
        .events(&emitter, &filter, &PageRequest::first(10))
        .await;
    page.unwrap().items
}

#[tokio::test]
async fn everything_of_a_source_is_there_whatever_its_state() {
    let former = Former::new();
    let (store, epoch) = opened(&former).await;
    for (number, (id, (_, state))) in former.sources.iter().zip(STATES).enumerate() {
        let source = store.source(id).await.unwrap().unwrap();
        assert_eq!((source.state, source.spec.timers.len()), (state, 1));
        let token = EndpointToken::new(format!("token-{number}"));
        let found = store.source_by_endpoint(&token).await.unwrap();
        assert_eq!(found.unwrap().id, *id);
        let runnable = former.runnable(number);
        let keys = store.key_values(&runnable).await.unwrap();
        assert_eq!(keys["cursor"], 7);
        let dedupe = store.dedupe_state(&runnable).await.unwrap();
        assert_eq!(dedupe, Some(state_of_dedupe()));
        for (class, text) in [
            (ChannelClass::Ordinary, "\"kept\""),
            (ChannelClass::Scheduled, "\"later\""),
        ] {
            let events = events(&store, id, class).await;
            assert_eq!((events.len(), events[0].event.get()), (1, text));
            assert_eq!(events[0].run_id, None);
        }
    }
    let unsettled = store.unsettled_sources(epoch, NOW, None, 10).await.unwrap();
    let ids: Vec<_> = unsettled.into_iter().map(|source| source.id).collect();
    assert_eq!(ids, former.sources[2..]);
    let emitter = former.sources[0].clone().into();
    let event = EventId {
        ms: THEN,
        sequence: 0,
    };
    let found = store.deliveries_of(&emitter, &[event], 10).await.unwrap();
    assert_eq!(found[0].len(), 1);
}

/// The commit of a claimed run that emits one event and has ended.
fn end(lease: &RunnableLease, claimed: &Claimed) -> RunCommit {
    let event = headwater_model::event::NewEvent {
        channel: headwater_model::channel::Channel::default(),
        event: serde_json::value::RawValue::from_string("\"new\"".to_owned()).unwrap(),
        key: None,
        summary: None,
        ts: None,
        scheduled: None,
        hops: 0,
        trace: None,
    };
    RunCommit {
        lease: lease.clone(),
        run_id: claimed.lease.invocation_id.clone(),
        invocation: Some(InvocationEnd::ended(claimed.lease.clone())),
        events: vec![event],
        dedupe: None,
        kv_writes: Vec::new(),
        usage: Usage {
            invocations: 1,
            compute_ms: 5,
        },
        progress: None,
        ended: Some(EndedRun {
            version: RunVersion::Component(component()),
            trigger: RunTrigger::from(claimed.trigger),
            replay_of: None,
            queued_at_ms: claimed.queued_at_ms,
            started_at_ms: NOW,
            ended_at_ms: NOW,
            outcome: RunOutcome::Returned,
            error: None,
            emitted: 1,
            dropped: Dropped::default(),
            has_scheduled: false,
            origin: Origin::default(),
            facts: RunFacts::default(),
        }),
        unrecorded: 0,
        now_ms: NOW,
    }
}

#[tokio::test]
async fn what_was_queued_runs_on_and_leaves_records() {
    let former = Former::new();
    let (store, epoch) = opened(&former).await;
    let work = store.runnables_with_work(epoch, NOW, None, 10).await;
    let active = [0, 2, 3].map(|number| former.runnable(number));
    assert_eq!(work.unwrap(), active);
    let runnable = former.runnable(0);
    let lease = store.lease_runnable(&runnable, epoch, NOW).await.unwrap();
    let term = LeaseTerm {
        epoch,
        expires_at_ms: LATER,
    };
    let claimed = store.claim(&lease, term, NOW, WorkLimit::of(10)).await;
    let claimed = claimed.unwrap();
    let seen: Vec<_> = claimed
        .iter()
        .map(|one| (one.trigger, one.event.get(), one.starts))
        .collect();
    let wanted = [
        (Trigger::Http, "\"request\"", 2),
        (Trigger::Event, "\"event\"", 1),
        (Trigger::Timer, "\"tick\"", 1),
    ];
    assert_eq!(seen, wanted);
    let commits = claimed.iter().map(|one| end(&lease, one)).collect();
    let ended = store.commit_runs(commits).await;
    assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    let events = events(&store, &former.sources[0], ChannelClass::Ordinary).await;
    // Ids go on behind the last one, which is ahead of the clock.
    let sequences: Vec<_> = events.iter().map(|event| event.id.sequence).collect();
    assert_eq!((events[0].id.ms, sequences), (LATER, vec![7, 6, 5, 0]));
    let run = store.run(&claimed[2].lease.invocation_id).await.unwrap();
    let emitted = store.run_events(&run.unwrap(), 10).await.unwrap();
    assert_eq!(emitted.len(), 1);
    let spent = [
        Spender::User(former.user.clone()),
        Spender::Workspace(former.workspace.clone()),
    ];
    for spender in spent {
        let usage = store.usage(&spender, NOW, NOW).await.unwrap();
        assert_eq!(usage.invocations, 3);
    }
    // The timer has caught up, and goes on.
    let fired = store.fire_timers(NOW, 10).await.unwrap();
    assert_eq!((fired.done, fired.woken), (1, vec![runnable]));
    let released = store.release_scheduled(LATER, 10).await.unwrap();
    assert_eq!(released.done, 5);
}
