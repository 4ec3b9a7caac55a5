//! The records that stores keep. `_at` is epoch seconds (as the API shows it), `_ms` epoch milliseconds.

use std::sync::Arc;

use bytes::Bytes;
use headwater_model::{
    channel::{Channel, ChannelClass},
    component::Description,
    dedupe,
    event::NewEvent,
    id::{
        ComponentId, EmitterId, EventId, InvocationId, KeyId, SourceId, UserId, WebhookId,
        WorkspaceId,
    },
    origin::Origin,
    prop::{ConfiguredProps, PropDefinition},
    schedule::Schedule,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Whose something is: always a user's, and a workspace's too when it lives in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Who made it.
    pub user_id: UserId,
    /// The workspace it lives in.
    pub workspace_id: Option<WorkspaceId>,
}

impl Owner {
    /// With whom it shares what one tenant may have: the workspace, or else the user.
    pub fn tenant(&self) -> &str {
        let workspace = self.workspace_id.as_ref();
        workspace.map_or(self.user_id.as_str(), |id| id.as_str())
    }
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Its name, unique among users.
    pub username: String,
    /// Its address.
    pub email: String,
    /// Whether it may manage users.
    pub is_admin: bool,
    /// Epoch seconds.
    pub created_at: u64,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Its slug, unique among workspaces.
    pub orgname: String,
    /// Its name.
    pub name: String,
    /// Its address.
    pub email: String,
    /// Epoch seconds.
    pub created_at: u64,
}

/// A user's API key, as its hash only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: KeyId,
    /// Whose.
    pub user_id: UserId,
    /// For people.
    pub name: String,
    /// SHA-256 of the key, hexadecimal.
    pub hash: String,
    /// Epoch seconds.
    pub created_at: u64,
    /// Epoch seconds; may lag behind by as long as noting it is put off.
    pub last_used_at: Option<u64>,
}

/// The first user with its workspace and key, written together.
#[derive(Debug, Clone)]
pub struct FirstUser {
    /// The user.
    pub user: User,
    /// Its workspace; the user becomes a member.
    pub workspace: Workspace,
    /// Its key.
    pub key: ApiKey,
}

/// Whoever a key belongs to.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The user.
    pub user: User,
    /// The workspaces it is a member of, oldest first.
    pub workspaces: Vec<Workspace>,
    /// The key.
    pub key: ApiKey,
}

/// A saved component: code, resolved and described. Never changes once saved.
#[derive(Debug, Clone)]
pub struct SavedComponent {
    /// Its id.
    pub id: ComponentId,
    /// Whose.
    pub owner: Owner,
    /// The whole code.
    pub code: String,
    /// Where the code came from, or what its author says of it.
    pub code_url: Option<String>,
    /// SHA-256 of the code, hexadecimal.
    pub code_hash: String,
    /// Names the artifact that workers run.
    pub artifact_hash: String,
    /// The lock file.
    pub lock: String,
    /// What the component says of itself.
    pub description: Description,
    /// Epoch seconds.
    pub created_at: u64,
    /// Epoch seconds.
    pub updated_at: u64,
}

/// Where a source is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// Its first hooks run; its endpoints answer. Found at start: the node died meanwhile, and it is undone.
    Deploying,
    /// Runs on its triggers.
    Active,
    /// Runs on none.
    Inactive,
    /// Between two versions; the record is still the former one. Found at start: the former one is activated again.
    Updating,
    /// Its `deactivate` runs. Found at start: the deletion goes on.
    Deleting,
}

/// The URL of one HTTP interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Unguessable, unique, stable across updates.
    pub token: String,
    /// The prop that holds it.
    pub prop: String,
}

/// One timer interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// The prop that holds it.
    pub prop: String,
    /// When it fires.
    pub schedule: Schedule,
}

/// What a source is made of: everything an update may replace.
#[derive(Debug, Clone)]
pub struct SourceSpec {
    /// The saved component.
    pub component_id: ComponentId,
    /// The component's artifact.
    pub artifact_hash: String,
    /// Chosen, or the slug.
    pub name: String,
    /// Values by prop; secrets are sealed.
    pub configured_props: ConfiguredProps,
    /// What `additionalProps` had added for these values.
    pub dynamic_props: Vec<PropDefinition>,
    /// One per HTTP interface.
    pub endpoints: Vec<Endpoint>,
    /// One per timer interface.
    pub timers: Vec<Timer>,
    /// How its events are deduplicated.
    pub dedupe: Option<dedupe::Strategy>,
}

/// A source.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its id.
    pub id: SourceId,
    /// Whose.
    pub owner: Owner,
    /// Unique among its owner's.
    pub name_slug: String,
    /// Where it is in its life.
    pub state: SourceState,
    /// What it is made of.
    pub spec: SourceSpec,
    /// Epoch seconds.
    pub created_at: u64,
    /// Epoch seconds.
    pub updated_at: u64,
}

/// A source about to be deployed.
#[derive(Debug, Clone)]
pub struct NewSource {
    /// Its id.
    pub id: SourceId,
    /// Whose.
    pub owner: Owner,
    /// The slug to use, or to number (`slug-1`, `slug-2` …) when the owner has it already.
    pub slug: String,
    /// What it is made of. An empty `name` becomes the slug.
    pub spec: SourceSpec,
    /// Epoch seconds.
    pub now_at: u64,
}

/// The end of a deployment or an update: everything becomes visible together.
#[derive(Debug, Clone)]
pub struct SettledSource {
    /// Which.
    pub id: SourceId,
    /// What it is made of from now on.
    pub spec: SourceSpec,
    /// Whether its triggers are on: timers are scheduled from `now_ms`, or all unscheduled.
    pub active: bool,
    /// What its hooks did, in order.
    pub commits: Vec<RunCommit>,
    /// Epoch milliseconds.
    pub now_ms: u64,
}

impl SettledSource {
    /// Nothing done by hooks; the runner adds what it holds.
    pub fn new(id: SourceId, spec: SourceSpec, active: bool, now_ms: u64) -> Self {
        Self {
            id,
            spec,
            active,
            commits: Vec::new(),
            now_ms,
        }
    }
}

/// Which sources to list: those that are neither deploying nor deleting, in creation order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFilter {
    /// All that the user made.
    User(UserId),
    /// All that live in the workspace.
    Workspace(WorkspaceId),
}

/// What started an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A tick of a timer.
    Timer,
    /// A request at an HTTP interface.
    Http,
    /// Somebody asked for it.
    Manual,
    /// An event of an emitter it subscribes to.
    Event,
}

/// A node's place in the order of starts: work leased by an earlier epoch of the same node may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeEpoch(pub u64);

/// An invocation to be queued.
#[derive(Debug, Clone)]
pub struct NewInvocation {
    /// Its id.
    pub id: InvocationId,
    /// Whose code.
    pub source_id: SourceId,
    /// What started it.
    pub trigger: Trigger,
    /// The event for `run`, as JSON text; its queue and its run share one copy.
    pub event: Arc<RawValue>,
    /// Sources and workflows that its cause has passed through.
    pub hops: u32,
    /// Epoch milliseconds.
    pub now_ms: u64,
    /// The request behind it.
    pub origin: Origin,
}

/// The right to run one invocation, until `expires_at_ms` or another node takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which invocation.
    pub invocation_id: InvocationId,
    /// Who holds it.
    pub epoch: NodeEpoch,
    /// Fences: counts how often the invocation was leased, from 1.
    pub attempt: u32,
}

/// An invocation with the right to run it.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The right.
    pub lease: Lease,
    /// Whose code.
    pub source_id: SourceId,
    /// What started it.
    pub trigger: Trigger,
    /// What `run` gets.
    pub event: Arc<RawValue>,
    /// Sources and workflows that its cause has passed through.
    pub hops: u32,
    /// When it was queued, epoch milliseconds.
    pub queued_at_ms: u64,
    /// The request behind it.
    pub origin: Origin,
    /// How often it was leased without being given back, this time included: a large number means
    /// that it may be what ends its nodes.
    pub starts: u32,
}

/// How long a lease lasts, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerm {
    /// For whom.
    pub epoch: NodeEpoch,
    /// Epoch milliseconds.
    pub expires_at_ms: u64,
}

/// One key of `$.service.db`.
#[derive(Debug, Clone)]
pub struct KvWrite {
    /// The key.
    pub key: String,
    /// JSON text; `None` deletes.
    pub value: Option<Box<RawValue>>,
}

/// Whose usage is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spender {
    /// A user: all that it owns, in workspaces or not.
    User(UserId),
    /// A workspace: all that lives in it.
    Workspace(WorkspaceId),
}

/// What a run cost (spec "User": quotas).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Runs.
    pub invocations: u64,
    /// Wall-clock milliseconds of the runs.
    pub compute_ms: u64,
}

/// Everything a run leaves behind, committed together or not at all.
#[derive(Debug, Clone)]
pub struct RunCommit {
    /// Whose run.
    pub source_id: SourceId,
    /// The invocation that it ends; `None` for a run that was never queued (hooks, custom responses).
    pub lease: Option<Lease>,
    /// Appended in this order, errors and logs included.
    pub events: Vec<NewEvent>,
    /// The new dedupe state, if it changed.
    pub dedupe: Option<dedupe::State>,
    /// Applied in this order.
    pub kv_writes: Vec<KvWrite>,
    /// Added to the day's usage of the source's user, and of its workspace.
    pub usage: Usage,
    /// Epoch milliseconds.
    pub now_ms: u64,
}

/// Which channels of an emitter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelFilter {
    /// All channels of a class together.
    Class(ChannelClass),
    /// One channel.
    Named(Channel),
}

impl ChannelFilter {
    /// Whether the channel is one of them.
    pub fn covers(&self, channel: &Channel) -> bool {
        match self {
            Self::Class(class) => channel.class() == *class,
            Self::Named(named) => channel == named,
        }
    }
}

/// A range of event ids; both ends belong to it. An absent end is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventRange {
    /// This event and later ones.
    pub start: Option<EventId>,
    /// This event and earlier ones.
    pub end: Option<EventId>,
}

/// Events to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDeletion {
    /// Whose.
    pub emitter: EmitterId,
    /// On which channels.
    pub channels: ChannelFilter,
    /// Which.
    pub range: EventRange,
    /// Events appended after the request are never deleted by it. Epoch milliseconds.
    pub now_ms: u64,
}

/// Which subscriptions to list, in creation order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionFilter {
    /// All that the user made.
    User(UserId),
    /// All of whoever made them whose emitter or listener lives in the workspace, or whose emitter is the
    /// workspace itself.
    Workspace(WorkspaceId),
}

/// What a bounded step of background work found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Items done in this step.
    pub done: u64,
    /// Whether the step stopped at its bound, so that calling again finds more.
    pub more: bool,
    /// When the next item is due, if the work is timed. Epoch milliseconds.
    pub next_due_ms: Option<u64>,
    /// Sources that got invocations to run.
    pub woken: Vec<SourceId>,
    /// Webhooks that got deliveries to make.
    pub woken_webhooks: Vec<WebhookId>,
    /// Events that dispatch has not reached yet, deleted ones among them; 0 unless it stopped at its bound.
    pub behind: u64,
}

/// What a store has yet to do, for those who watch the node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Invocations queued or running; [`Backlog::COUNTED_MAX`] at most, however many there are.
    pub invocations: u64,
    /// When the first of them in line was queued, epoch milliseconds.
    pub oldest_invocation_at_ms: Option<u64>,
    /// Events that dispatch has not passed.
    pub undispatched_events: u64,
    /// Deliveries that have not ended; bounded like the invocations.
    pub pending_deliveries: u64,
    /// Those of them that may be attempted now.
    pub due_deliveries: u64,
}

impl Backlog {
    /// Counting goes no further, so that asking stays cheap when there is much to do.
    pub const COUNTED_MAX: u32 = 100_000;
}

/// An artifact to be stored with its component.
#[derive(Debug, Clone)]
pub struct ArtifactBytes {
    /// Its SHA-256, hexadecimal.
    pub hash: String,
    /// The archive.
    pub bytes: Bytes,
}
