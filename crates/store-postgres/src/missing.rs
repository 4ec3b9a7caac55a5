//! Traits that are still to come: each method says so.

#![allow(
    unused_variables,
    unused_imports,
    clippy::too_many_lines,
    clippy::too_many_arguments
)]

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::channel::Channel;
use headwater_model::channel::ChannelClass;
use headwater_model::component::ComponentType;
use headwater_model::component::Description;
use headwater_model::data_store::DataStoreName;
use headwater_model::dedupe;
use headwater_model::endpoint::EndpointToken;
use headwater_model::event::EmitKey;
use headwater_model::event::Event;
use headwater_model::event::EventData;
use headwater_model::event::EventRef;
use headwater_model::event::NewEvent;
use headwater_model::event_search::EventMatcher;
use headwater_model::event_search::EventPlace;
use headwater_model::hash::ArtifactHash;
use headwater_model::hash::CodeHash;
use headwater_model::hash::SecretHash;
use headwater_model::id::AccountId;
use headwater_model::id::AuditId;
use headwater_model::id::ComponentId;
use headwater_model::id::ConnectId;
use headwater_model::id::DeliveryId;
use headwater_model::id::DeploymentId;
use headwater_model::id::EmitterId;
use headwater_model::id::EventId;
use headwater_model::id::InvalidId;
use headwater_model::id::InvocationId;
use headwater_model::id::KeyId;
use headwater_model::id::ListenerId;
use headwater_model::id::RunnableId;
use headwater_model::id::SessionId;
use headwater_model::id::SourceId;
use headwater_model::id::SubscriptionId;
use headwater_model::id::TriggerId;
use headwater_model::id::UserId;
use headwater_model::id::WebhookId;
use headwater_model::id::WorkflowId;
use headwater_model::id::WorkspaceId;
use headwater_model::limits::DataStoreLimits;
use headwater_model::origin::Origin;
use headwater_model::outcome::Limit;
use headwater_model::outcome::Outcome;
use headwater_model::page::Page;
use headwater_model::page::PageRequest;
use headwater_model::prop::ConfiguredProps;
use headwater_model::schedule::Schedule;
use headwater_model::subscription::AutoSubscription;
use headwater_model::subscription::EmitterPattern;
use headwater_model::subscription::Subscription;
use headwater_model::time::EpochMs;
use headwater_model::time::EpochSeconds;
use headwater_model::trace::TraceParent;
use headwater_model::version::ReleaseVersion;
use headwater_model::webhook::AnswerKind;
use headwater_model::webhook::AttemptFailure;
use headwater_model::webhook::DeliveryOrder;
use headwater_model::webhook::DeliveryState;
use headwater_store::*;
use serde_json::{Map, Value, value::RawValue};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::PostgresStore;

fn missing<T>() -> Result<T, StoreError> {
    Err(StoreError::Unsupported("not on PostgreSQL yet".to_owned()))
}

#[async_trait]
impl Catalog for PostgresStore {
    async fn save_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn save_step_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn component(&self, id: &ComponentId) -> Result<Option<SavedComponent>, StoreError> {
        missing()
    }
    async fn component_by_key(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<SavedComponent>, StoreError> {
        missing()
    }
    async fn artifact(&self, hash: &ArtifactHash) -> Result<Option<Bytes>, StoreError> {
        missing()
    }
    async fn begin_deploy(
        &self,
        source: NewSource,
        epoch: NodeEpoch,
    ) -> Result<(Source, RunnableLease), StoreError> {
        missing()
    }
    async fn settle_source(&self, settled: SettledSource) -> Result<Source, StoreError> {
        missing()
    }
    async fn set_source_state(
        &self,
        lease: &RunnableLease,
        state: SourceState,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn rename_source(
        &self,
        id: &SourceId,
        name: &str,
        now_at: EpochSeconds,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn empty_source(
        &self,
        lease: &RunnableLease,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        missing()
    }
    async fn delete_source(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        missing()
    }
    async fn source(&self, id: &SourceId) -> Result<Option<Source>, StoreError> {
        missing()
    }
    async fn source_by_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<Source>, StoreError> {
        missing()
    }
    async fn sources(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<Source>, StoreError> {
        missing()
    }
    async fn unsettled_sources(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        after: Option<&SourceId>,
        limit: u32,
    ) -> Result<Vec<Source>, StoreError> {
        missing()
    }
}

#[async_trait]
impl SourceDeployments for PostgresStore {
    async fn source_deployments(
        &self,
        id: &SourceId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<SourceDeployment>, StoreError> {
        missing()
    }
    async fn source_deployment(
        &self,
        source_id: &SourceId,
        id: &DeploymentId,
    ) -> Result<Option<SourceDeployment>, StoreError> {
        missing()
    }
}

#[async_trait]
impl Subscriptions for PostgresStore {
    async fn subscribe(&self, subscription: Subscription) -> Result<Subscription, StoreError> {
        missing()
    }
    async fn unsubscribe(&self, like: &Subscription) -> Result<bool, StoreError> {
        missing()
    }
    async fn subscriptions(
        &self,
        filter: &SubscriptionFilter,
        limit: u32,
    ) -> Result<Vec<Subscription>, StoreError> {
        missing()
    }
    async fn subscribe_automatically(
        &self,
        subscription: AutoSubscription,
    ) -> Result<AutoSubscription, StoreError> {
        missing()
    }
    async fn unsubscribe_automatically(&self, like: &AutoSubscription) -> Result<bool, StoreError> {
        missing()
    }
}

#[async_trait]
impl Webhooks for PostgresStore {
    async fn create_webhook(&self, webhook: Webhook) -> Result<(), StoreError> {
        missing()
    }
    async fn webhook(&self, id: &WebhookId) -> Result<Option<Webhook>, StoreError> {
        missing()
    }
    async fn webhooks(
        &self,
        owner: &Owner,
        words: &[String],
        page: &PageRequest<WebhookId>,
    ) -> Result<Page<Webhook>, StoreError> {
        missing()
    }
    async fn update_webhook(
        &self,
        id: &WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook, StoreError> {
        missing()
    }
    async fn delete_webhook(&self, id: &WebhookId) -> Result<bool, StoreError> {
        missing()
    }
}

#[async_trait]
impl Deliveries for PostgresStore {
    async fn claim_deliveries(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: ClaimLimit,
    ) -> Result<ClaimedDeliveries, StoreError> {
        missing()
    }
    async fn webhooks_with_work(
        &self,
        now_ms: EpochMs,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        missing()
    }
    async fn retries_due(
        &self,
        after_ms: EpochMs,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        missing()
    }
    async fn extend_delivery_leases(
        &self,
        leases: &[DeliveryLease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn release_deliveries(&self, leases: &[DeliveryLease]) -> Result<(), StoreError> {
        missing()
    }
    async fn record_attempts(
        &self,
        webhook_id: &WebhookId,
        attempts: Vec<AttemptRecord>,
        disabled: Option<DisabledWebhook>,
        now_ms: EpochMs,
    ) -> Result<RecordedAttempts, StoreError> {
        missing()
    }
    async fn deliveries(
        &self,
        webhook_id: &WebhookId,
        state: Option<DeliveryState>,
        page: &PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, StoreError> {
        missing()
    }
    async fn webhook_backlogs(&self, ids: &[WebhookId]) -> Result<Vec<WebhookBacklog>, StoreError> {
        missing()
    }
    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        missing()
    }
    async fn deliveries_of(
        &self,
        emitter: &EmitterId,
        events: &[EventId],
        limit: u32,
    ) -> Result<Vec<Vec<EventDelivery>>, StoreError> {
        missing()
    }
    async fn retry_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<(), StoreError> {
        missing()
    }
    async fn discard_delivery(&self, id: &DeliveryId, now_ms: EpochMs) -> Result<bool, StoreError> {
        missing()
    }
    async fn replay(
        &self,
        webhook_id: &WebhookId,
        replay: &Replay,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        missing()
    }
    async fn trim_deliveries(
        &self,
        keep: u32,
        dead_before_ms: EpochMs,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        missing()
    }
}

#[async_trait]
impl DeliverySearch for PostgresStore {
    async fn find_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        page: &PageRequest<DeliveryId>,
    ) -> Result<FoundDeliveries, StoreError> {
        missing()
    }
    async fn count_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        limit: u32,
    ) -> Result<DeliveryCounts, StoreError> {
        missing()
    }
    async fn change_deliveries(
        &self,
        viewer: &Viewer,
        filter: &DeliveryFilter,
        step: &DeliveryStep,
    ) -> Result<ChangedDeliveries, StoreError> {
        missing()
    }
}

#[async_trait]
impl EventLog for PostgresStore {
    async fn events(
        &self,
        emitter: &EmitterId,
        channels: &ChannelFilter,
        page: &PageRequest<EventId>,
    ) -> Result<Page<Event>, StoreError> {
        missing()
    }
    async fn event(&self, of: &EventRef) -> Result<Option<LoggedEvent>, StoreError> {
        missing()
    }
    async fn request_deletion(&self, deletion: EventDeletion) -> Result<(), StoreError> {
        missing()
    }
    async fn run_deletions(&self, limit: u32) -> Result<Progress, StoreError> {
        missing()
    }
    async fn trim(
        &self,
        keep: u32,
        limit: u32,
        read_up_to: Option<LogPosition>,
    ) -> Result<Progress, StoreError> {
        missing()
    }
    async fn log_end(&self) -> Result<LogPosition, StoreError> {
        missing()
    }
    async fn tail(&self, after: LogPosition, limit: u32) -> Result<Tail, StoreError> {
        missing()
    }
    async fn release_scheduled(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        missing()
    }
    async fn dispatch(
        &self,
        now_ms: EpochMs,
        limit: u32,
        queued_max: u32,
    ) -> Result<Progress, StoreError> {
        missing()
    }
    async fn awaits_dispatch(&self, emitter: &EmitterId) -> Result<bool, StoreError> {
        missing()
    }
}

#[async_trait]
impl EventSearches for PostgresStore {
    async fn search_events(&self, search: EventSearch) -> Result<FoundEvents, StoreError> {
        missing()
    }
}

#[async_trait]
impl EventViews for PostgresStore {
    async fn set_event_view(
        &self,
        owner: &Owner,
        view: EventView,
        at_most: u32,
    ) -> Result<bool, StoreError> {
        missing()
    }
    async fn event_views(&self, owner: &Owner) -> Result<Vec<EventView>, StoreError> {
        missing()
    }
    async fn delete_event_view(&self, owner: &Owner, name: &str) -> Result<bool, StoreError> {
        missing()
    }
}

#[async_trait]
impl KeyValue for PostgresStore {
    async fn key_values(&self, runnable: &RunnableId) -> Result<Map<String, Value>, StoreError> {
        missing()
    }
    async fn dedupe_state(
        &self,
        runnable: &RunnableId,
    ) -> Result<Option<dedupe::State>, StoreError> {
        missing()
    }
}

#[async_trait]
impl WorkQueue for PostgresStore {
    async fn enqueue(
        &self,
        invocation: NewInvocation,
        lease: Option<(RunnableLease, LeaseTerm)>,
    ) -> Result<Option<Lease>, StoreError> {
        missing()
    }
    async fn claim(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: WorkLimit,
    ) -> Result<Vec<Claimed>, StoreError> {
        missing()
    }
    async fn runnables_with_work(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        after: Option<&RunnableId>,
        limit: u32,
    ) -> Result<Vec<RunnableId>, StoreError> {
        missing()
    }
    async fn next_due(&self, after_ms: EpochMs) -> Result<Option<EpochMs>, StoreError> {
        missing()
    }
    async fn backlog(&self, now_ms: EpochMs) -> Result<Backlog, StoreError> {
        missing()
    }
    async fn extend_leases(
        &self,
        leases: &[Lease],
        expires_at_ms: EpochMs,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn release(&self, lease: &Lease, due_at_ms: Option<EpochMs>) -> Result<(), StoreError> {
        missing()
    }
    async fn commit_runs(&self, commits: Arc<[RunCommit]>) -> Vec<Result<(), StoreError>> {
        vec![missing()]
    }
    async fn fire_timers(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        missing()
    }
}

#[async_trait]
impl Runs for PostgresStore {
    async fn run(&self, id: &InvocationId) -> Result<Option<RunRecord>, StoreError> {
        missing()
    }
    async fn runs(
        &self,
        runnable: &RunnableId,
        filter: RunFilter,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<RunRecord>, StoreError> {
        missing()
    }
    async fn run_events(&self, run: &RunRecord, limit: u32) -> Result<Vec<Event>, StoreError> {
        missing()
    }
    async fn ordinary_run_events(
        &self,
        stretch: &RunStretch,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        missing()
    }
    async fn caused_runs(
        &self,
        event: &EventRef,
        viewer: &Viewer,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<ListedRun>, StoreError> {
        missing()
    }
    async fn trim_runs(&self, keep: KeptRuns, limit: u32) -> Result<Progress, StoreError> {
        missing()
    }
    async fn expire_runs(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        missing()
    }
}

#[async_trait]
impl RunSearch for PostgresStore {
    async fn find_runs(
        &self,
        viewer: &Viewer,
        filter: &RunSearchFilter,
        page: &PageRequest<InvocationId>,
        now_ms: EpochMs,
    ) -> Result<FoundRuns, StoreError> {
        missing()
    }
    async fn count_runs(
        &self,
        viewer: &Viewer,
        filter: &RunSearchFilter,
        limit: u32,
        now_ms: EpochMs,
    ) -> Result<RunCounts, StoreError> {
        missing()
    }
    async fn run_hours(
        &self,
        viewer: &Viewer,
        workspace_id: Option<&WorkspaceId>,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Vec<RunHour>, StoreError> {
        missing()
    }
}

#[async_trait]
impl SourcesHealth for PostgresStore {
    async fn sources_health(
        &self,
        ids: &[SourceId],
        since_ms: EpochMs,
    ) -> Result<Vec<SourceHealth>, StoreError> {
        missing()
    }
    async fn workflows_health(
        &self,
        ids: &[WorkflowId],
    ) -> Result<Vec<WorkflowHealth>, StoreError> {
        missing()
    }
}

#[async_trait]
impl WebhooksHealth for PostgresStore {
    async fn webhooks_health(
        &self,
        ids: &[WebhookId],
        since_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<RecentAttempts>, StoreError> {
        missing()
    }
}

#[async_trait]
impl Names for PostgresStore {
    async fn names(&self, ids: &[ListenerId]) -> Result<Vec<Named>, StoreError> {
        missing()
    }
}
