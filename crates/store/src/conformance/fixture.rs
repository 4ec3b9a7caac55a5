//! What the tests build their stories from: ids, records and short ways to read a store.
//!
//! Time is whatever a test says; ids count up, so that what is made later sorts later.

mod webhooks;

use std::{
    borrow::Borrow,
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use headwater_model::{
    channel::{Channel, ChannelClass},
    component::{ComponentType, Description, Hooks},
    event::{Event, NewEvent, Scheduled},
    id::{
        AccountId, ComponentId, EmitterId, EventId, InvocationId, KeyId, RunnableId, SourceId,
        SubscriptionId, UserId, WorkspaceId,
    },
    origin::Origin,
    page::PageRequest,
    schedule::Schedule,
    subscription::{EmitterPattern, Subscription},
    trace::TraceParent,
};
use serde_json::value::RawValue;

use crate::{
    Account, ApiKey, ArtifactBytes, ChannelFilter, Claimed, Conflict, Credentials, EventDeletion,
    EventRange, FirstUser, Health, InvocationEnd, Lease, LeaseTerm, LogPosition, NewInvocation,
    NewSource, NodeEpoch, NodeName, Owner, RunCommit, RunnableLease, SavedComponent, SettledSource,
    Source, SourceSpec, Store, StoreError, Timer, Trigger, Usage, User, WorkLimit, Workspace,
};

pub(super) use webhooks::*;

/// When the stories begin: a moment in 2023, in the middle of a UTC day.
pub(super) const T0: u64 = 1_700_000_000_000;
pub(super) const SECOND: u64 = 1_000;
pub(super) const MINUTE: u64 = 60 * SECOND;

/// More steps than any test's work can take.
const STEPS_MAX: usize = 300;

/// Random bits that count up.
pub(super) fn entropy() -> u128 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    u128::from(COUNT.fetch_add(1, Ordering::Relaxed)) << 56
}

pub(super) fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// A user who lives in no workspace.
pub(super) fn owner() -> Owner {
    Owner {
        user_id: UserId::new(T0, entropy()),
        workspace_id: None,
    }
}

/// A user's things in a new workspace.
pub(super) fn workspace_owner() -> Owner {
    Owner {
        user_id: UserId::new(T0, entropy()),
        workspace_id: Some(WorkspaceId::new(T0, entropy())),
    }
}

pub(super) fn user(name: &str) -> User {
    User {
        id: UserId::new(T0, entropy()),
        username: name.to_owned(),
        email: format!("me@{name}.example"),
        is_admin: false,
        created_at: T0 / 1000,
    }
}

/// A key whose hash is `hash-of-NAME`.
pub(super) fn key_of(user: &User, name: &str) -> ApiKey {
    ApiKey {
        id: KeyId::new(T0, entropy()),
        user_id: user.id.clone(),
        name: name.to_owned(),
        hash: format!("hash-of-{name}"),
        created_at: T0 / 1000,
        last_used_at: None,
    }
}

pub(super) fn workspace(name: &str) -> Workspace {
    Workspace {
        id: WorkspaceId::new(T0, entropy()),
        orgname: format!("{name}-org"),
        name: format!("{name}'s workspace"),
        email: format!("org@{name}.example"),
        created_at: T0 / 1000,
    }
}

pub(super) fn first_user(name: &str) -> FirstUser {
    let user = User {
        is_admin: true,
        ..user(name)
    };
    FirstUser {
        key: key_of(&user, name),
        workspace: workspace(name),
        user,
    }
}

/// A user with a key, written.
pub(super) async fn create_user(store: &dyn Store, name: &str) -> User {
    let user = user(name);
    let key = key_of(&user, name);
    store.create_user(user.clone(), key).await.unwrap();
    user
}

/// What a user has in a workspace.
pub(super) fn owned(user: &User, workspace: Option<&Workspace>) -> Owner {
    Owner {
        user_id: user.id.clone(),
        workspace_id: workspace.map(|workspace| workspace.id.clone()),
    }
}

pub(super) fn account(owner: &Owner, name: &str) -> Account {
    Account {
        id: AccountId::new(T0, entropy()),
        owner: owner.clone(),
        app: "github".to_owned(),
        name: name.to_owned(),
        credentials: Credentials {
            sealed: vec![0, 1, 255],
            expires_at: None,
            renewable: false,
            renew_at: None,
        },
        version: 1,
        health: Health::default(),
        created_at: 1,
        updated_at: 2,
    }
}

pub(super) fn saved_component(owner: &Owner, key: Option<&str>) -> SavedComponent {
    SavedComponent {
        id: ComponentId::new(T0, entropy()),
        owner: owner.clone(),
        code: "export default {}".to_owned(),
        code_url: Some("https://code.example/a.mjs".to_owned()),
        code_hash: "c0de".to_owned(),
        artifact_hash: "a47".to_owned(),
        lock: "{}".to_owned(),
        description: Description {
            name: "New Row".to_owned(),
            key: key.map(str::to_owned),
            version: Some("0.0.1".to_owned()),
            component_type: ComponentType::Source,
            description: None,
            dedupe: None,
            props: Vec::new(),
            hooks: Hooks::default(),
            has_additional_props: false,
            has_run: true,
            sample_emit: None,
        },
        created_at: 3,
        updated_at: 4,
    }
}

pub(super) fn artifact(bytes: &'static [u8]) -> ArtifactBytes {
    ArtifactBytes {
        hash: "a47".to_owned(),
        bytes: Bytes::from_static(bytes),
    }
}

pub(super) fn every(seconds: u64) -> Schedule {
    Schedule::Interval { seconds }
}

pub(super) fn timer(prop: &str, seconds: u64) -> Timer {
    Timer {
        prop: prop.to_owned(),
        schedule: every(seconds),
    }
}

/// Begins a deployment of a component saved for it.
pub(super) async fn begin(
    store: &dyn Store,
    epoch: NodeEpoch,
    owner: &Owner,
    slug: &str,
) -> Leased {
    let component = saved_component(owner, None);
    let component_id = component.id.clone();
    store
        .save_component(component, artifact(b"archive"))
        .await
        .unwrap();
    let spec = SourceSpec {
        component_id,
        artifact_hash: "a47".to_owned(),
        name: String::new(),
        configured_props: serde_json::Map::new(),
        dynamic_props: Vec::new(),
        endpoints: Vec::new(),
        timers: Vec::new(),
        dedupe: None,
    };
    let new = NewSource {
        id: SourceId::new(T0, entropy()),
        owner: owner.clone(),
        slug: slug.to_owned(),
        spec,
        now_at: T0 / 1000,
    };
    begun(store, epoch, new).await
}

/// A source that is being deployed by a node.
pub(super) async fn begun(store: &dyn Store, epoch: NodeEpoch, new: NewSource) -> Leased {
    let (source, lease) = store.begin_deploy(new, epoch).await.unwrap();
    Leased { source, lease }
}

/// The end of a source's deployment or update as it is, without commits.
pub(super) fn settled(source: &Leased, active: bool, now_ms: u64) -> SettledSource {
    SettledSource {
        lease: source.lease.clone(),
        spec: source.spec.clone(),
        active,
        commits: Vec::new(),
        now_ms,
    }
}

/// An active source without triggers.
pub(super) async fn deploy(store: &dyn Store, epoch: NodeEpoch, owner: &Owner) -> Leased {
    deploy_with_timers(store, epoch, owner, Vec::new()).await
}

/// Ends the deployment or update of a source as it is.
pub(super) async fn settle(store: &dyn Store, source: Leased) -> Leased {
    let end = settled(&source, true, T0);
    Leased {
        source: store.settle_source(end).await.unwrap(),
        lease: source.lease,
    }
}

/// An active source whose timers were activated at `T0`.
pub(super) async fn deploy_with_timers(
    store: &dyn Store,
    epoch: NodeEpoch,
    owner: &Owner,
    timers: Vec<Timer>,
) -> Leased {
    let mut source = begin(store, epoch, owner, "source").await;
    source.spec.timers = timers;
    settle(store, source).await
}

/// An event on the default channel.
pub(super) fn event(text: &str) -> NewEvent {
    event_on(Channel::default(), text)
}

pub(super) fn event_on(channel: Channel, text: &str) -> NewEvent {
    NewEvent {
        channel,
        event: json(text),
        key: None,
        summary: None,
        ts: None,
        scheduled: None,
        hops: 0,
        trace: None,
    }
}

/// An event that waits on `$in`.
pub(super) fn event_later(channel: Channel, deliver_at_ms: u64, text: &str) -> NewEvent {
    NewEvent {
        scheduled: Some(Scheduled {
            deliver_at_ms,
            channel,
        }),
        ..event_on(Channel::scheduled(), text)
    }
}

/// The commit of a run that was never queued.
pub(super) fn run_of(source: &Leased, events: Vec<NewEvent>, now_ms: u64) -> RunCommit {
    run_under(&source.lease, events, now_ms)
}

pub(super) fn run_under(lease: &RunnableLease, events: Vec<NewEvent>, now_ms: u64) -> RunCommit {
    RunCommit {
        lease: lease.clone(),
        run_id: InvocationId::new(T0, entropy()),
        invocation: None,
        events,
        dedupe: None,
        kv_writes: Vec::new(),
        usage: Usage::default(),
        ended: None,
        now_ms,
    }
}

/// The commit of a run that emitted nothing.
pub(super) fn end_of(work: &Work) -> RunCommit {
    RunCommit {
        run_id: work.lease.invocation_id.clone(),
        invocation: ended(Some(work.lease.clone())),
        ..run_under(&work.under, Vec::new(), T0)
    }
}

pub(super) fn end_of_lease(source: &Leased, lease: &Lease) -> RunCommit {
    RunCommit {
        run_id: lease.invocation_id.clone(),
        invocation: ended(Some(lease.clone())),
        ..run_of(source, Vec::new(), T0)
    }
}

pub(super) async fn commit(store: &dyn Store, run: RunCommit) -> Result<(), StoreError> {
    let mut results = store.commit_runs([run].into()).await;
    assert_eq!(results.len(), 1, "one result per commit");
    results.remove(0)
}

/// Emits these texts on the default channel at `now_ms`.
pub(super) async fn emit(store: &dyn Store, source: &Leased, texts: &[&str], now_ms: u64) {
    let events = texts.iter().map(|text| event(text)).collect();
    commit(store, run_of(source, events, now_ms)).await.unwrap();
}

pub(super) async fn emit_on(store: &dyn Store, source: &Leased, channel: Channel, text: &str) {
    commit(store, run_of(source, vec![event_on(channel, text)], T0))
        .await
        .unwrap();
}

pub(super) fn ordinary() -> ChannelFilter {
    ChannelFilter::Class(ChannelClass::Ordinary)
}

/// A source, and the lease under which its node runs it.
#[derive(Debug, Clone)]
pub(super) struct Leased {
    pub(super) source: Source,
    pub(super) lease: RunnableLease,
}

impl Deref for Leased {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}

impl DerefMut for Leased {
    fn deref_mut(&mut self) -> &mut Source {
        &mut self.source
    }
}

/// The source under the lease of another node or life.
pub(super) async fn leased_to(store: &dyn Store, source: &Source, epoch: NodeEpoch) -> Leased {
    let lease = store.lease_runnable(&runnable(source), epoch, T0).await;
    Leased {
        source: source.clone(),
        lease: lease.unwrap(),
    }
}

/// An invocation that was claimed, and the lease under which it is run.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) claimed: Claimed,
    pub(super) under: RunnableLease,
}

impl Deref for Work {
    type Target = Claimed;

    fn deref(&self) -> &Claimed {
        &self.claimed
    }
}

impl Borrow<Claimed> for Work {
    fn borrow(&self) -> &Claimed {
        &self.claimed
    }
}

/// The node that most stories are about.
pub(super) fn node() -> NodeName {
    NodeName::new("node")
}

/// A lease of ten seconds for an invocation that is queued, under the lease of its source.
pub(super) fn held(source: &Leased, epoch: NodeEpoch) -> Option<(RunnableLease, LeaseTerm)> {
    Some((source.lease.clone(), term(epoch)))
}

/// The end of an invocation that was leased.
pub(super) fn ended(lease: Option<Lease>) -> Option<InvocationEnd> {
    lease.map(InvocationEnd::ended)
}

/// The source as an owner of code.
pub(super) fn runnable(source: &Source) -> RunnableId {
    source.id.clone().into()
}

pub(super) fn emitter(source: &Source) -> EmitterId {
    source.id.clone().into()
}

/// Up to 100 events, newest first.
pub(super) async fn listed(
    store: &dyn Store,
    source: &Source,
    channels: &ChannelFilter,
) -> Vec<Event> {
    let page = store
        .events(&emitter(source), channels, &PageRequest::first(100))
        .await
        .unwrap();
    assert_eq!(page.total_count, page.items.len() as u64, "total_count");
    page.items
}

/// The texts of a source's ordinary events, newest first.
pub(super) async fn texts(store: &dyn Store, source: &Source) -> Vec<String> {
    texts_of(&listed(store, source, &ordinary()).await)
}

pub(super) fn texts_of(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| event.event.get().to_owned())
        .collect()
}

/// The ids of a source's ordinary events, oldest first.
pub(super) async fn ids(store: &dyn Store, source: &Source) -> Vec<EventId> {
    let mut ids: Vec<EventId> = listed(store, source, &ordinary())
        .await
        .iter()
        .map(|event| event.id)
        .collect();
    ids.reverse();
    ids
}

pub(super) fn deletion(
    source: &Source,
    channels: ChannelFilter,
    range: (Option<EventId>, Option<EventId>),
) -> EventDeletion {
    EventDeletion {
        emitter: emitter(source),
        channels,
        range: EventRange {
            start: range.0,
            end: range.1,
        },
        now_ms: T0,
    }
}

pub(super) fn manual(source_id: &SourceId, text: &str) -> NewInvocation {
    NewInvocation {
        id: InvocationId::new(T0, entropy()),
        runnable: source_id.clone().into(),
        trigger: Trigger::Manual,
        event: json(text).into(),
        hops: 0,
        now_ms: T0,
        due_at_ms: 0,
        origin: Origin::default(),
    }
}

/// A place in somebody's trace.
pub(super) fn trace() -> TraceParent {
    let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    header.parse().unwrap()
}

/// A lease of ten seconds from `T0`.
pub(super) fn term(epoch: NodeEpoch) -> LeaseTerm {
    LeaseTerm {
        epoch,
        expires_at_ms: T0 + 10 * SECOND,
    }
}

/// Claims everything of a source that nobody holds at `now_ms`, for a minute, by the node that holds it or takes it
/// over. There is nothing to claim of a source that is gone.
pub(super) async fn claim_all(
    store: &dyn Store,
    source_id: &SourceId,
    epoch: NodeEpoch,
    now_ms: u64,
) -> Vec<Work> {
    let runnable = source_id.clone().into();
    let lease = match store.lease_runnable(&runnable, epoch, now_ms).await {
        Err(StoreError::Conflict(Conflict::Gone(_))) => return Vec::new(),
        lease => lease.unwrap(),
    };
    let term = LeaseTerm {
        epoch,
        expires_at_ms: now_ms + MINUTE,
    };
    let claimed = store.claim(&lease, term, now_ms, WorkLimit::of(100)).await;
    let work = |claimed| Work {
        claimed,
        under: lease.clone(),
    };
    claimed.unwrap().into_iter().map(work).collect()
}

/// The texts of what a source is given to run, in the order of claiming.
pub(super) fn given<T: Borrow<Claimed>>(work: &[T]) -> Vec<&str> {
    work.iter().map(|one| one.borrow().event.get()).collect()
}

/// A subscription of the owner's user.
pub(super) fn subscription(
    owner: &Owner,
    emitter: EmitterPattern,
    listener: &Source,
    channel: Channel,
) -> Subscription {
    Subscription {
        id: SubscriptionId::new(T0, entropy()),
        user_id: owner.user_id.clone(),
        emitter,
        listener: headwater_model::id::ListenerId::Source(listener.id.clone()),
        channel,
    }
}

/// Subscribes a listener to one source's default channel.
pub(super) async fn listen(
    store: &dyn Store,
    owner: &Owner,
    from: &Source,
    to: &Source,
) -> Subscription {
    let one = EmitterPattern::One(emitter(from));
    store
        .subscribe(subscription(owner, one, to, Channel::default()))
        .await
        .unwrap()
}

/// Dispatches until nothing is left, in steps of `limit`; the number of events passed.
pub(super) async fn dispatch_all(store: &dyn Store, limit: u32) -> u64 {
    let mut passed = 0;
    for _ in 0..STEPS_MAX {
        let progress = store.dispatch(T0, limit, u32::MAX).await.unwrap();
        assert!(progress.done <= u64::from(limit), "a bounded step");
        passed += progress.done;
        if !progress.more {
            return passed;
        }
    }
    panic!("there is always more to do");
}

/// Runs requested deletions to their end, in steps of `limit`; the number of events deleted.
pub(super) async fn run_all_deletions(store: &dyn Store, limit: u32) -> u64 {
    let mut deleted = 0;
    for _ in 0..STEPS_MAX {
        let progress = store.run_deletions(limit).await.unwrap();
        assert!(progress.done <= u64::from(limit), "a bounded step");
        deleted += progress.done;
        if !progress.more {
            return deleted;
        }
    }
    panic!("there is always more to do");
}

/// Trims in steps of `limit` while nobody reads along; the number of events deleted.
pub(super) async fn trim_all(store: &dyn Store, keep: u32, limit: u32) -> u64 {
    trim_behind(store, keep, limit, None).await
}

/// Trims in steps of `limit` what readers have passed; the number of events deleted.
pub(super) async fn trim_behind(
    store: &dyn Store,
    keep: u32,
    limit: u32,
    read_up_to: Option<LogPosition>,
) -> u64 {
    let mut deleted = 0;
    for _ in 0..STEPS_MAX {
        let progress = store.trim(keep, limit, read_up_to).await.unwrap();
        assert!(progress.done <= u64::from(limit), "a bounded step");
        deleted += progress.done;
        if !progress.more {
            return deleted;
        }
    }
    panic!("there is always more to do");
}

pub(super) fn assert_conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(
        matches!(result, Err(StoreError::Conflict(_))),
        "expected a conflict, got {result:?}"
    );
}

/// A store and an epoch of its own, which is what most stories begin with.
pub(super) async fn start(factory: &dyn super::Factory) -> (Arc<dyn Store>, NodeEpoch) {
    let store = factory.open().await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    (store, epoch)
}
