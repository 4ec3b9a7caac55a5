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
impl Sessions for PostgresStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        missing()
    }
    async fn session(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
        idle_since_ms: EpochMs,
    ) -> Result<Option<(Session, Identity)>, StoreError> {
        missing()
    }
    async fn note_session_use(&self, id: &SessionId, now_ms: EpochMs) -> Result<(), StoreError> {
        missing()
    }
    async fn sessions(
        &self,
        user_id: &UserId,
        page: &PageRequest<SessionId>,
    ) -> Result<Page<Session>, StoreError> {
        missing()
    }
    async fn end_session(&self, user_id: &UserId, id: &SessionId) -> Result<bool, StoreError> {
        missing()
    }
    async fn create_sign_in_link(
        &self,
        link: SignInLink,
        now_ms: EpochMs,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn sign_in_link(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
    ) -> Result<Option<Identity>, StoreError> {
        missing()
    }
    async fn sign_in_by_link(
        &self,
        hash: &SecretHash,
        session: Session,
    ) -> Result<bool, StoreError> {
        missing()
    }
}

#[async_trait]
impl Registry for PostgresStore {
    async fn publish(&self, publication: Publication) -> Result<Published, StoreError> {
        missing()
    }
    async fn published_component(
        &self,
        key: &str,
        version: Option<&ReleaseVersion>,
    ) -> Result<Option<SavedComponent>, StoreError> {
        missing()
    }
    async fn is_published(&self, id: &ComponentId) -> Result<bool, StoreError> {
        missing()
    }
    async fn components(
        &self,
        owner: &Owner,
        filter: &ComponentFilter,
        page: &PageRequest<ComponentId>,
    ) -> Result<Page<ListedComponent>, StoreError> {
        missing()
    }
}

#[async_trait]
impl Folders for PostgresStore {
    async fn publish_folder(
        &self,
        folder: FolderPublication,
    ) -> Result<Vec<Published>, StoreError> {
        missing()
    }
    async fn folder_code(&self, id: &ComponentId) -> Result<Option<FolderCode>, StoreError> {
        missing()
    }
    async fn complete_component(
        &self,
        built: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<SavedComponent, StoreError> {
        missing()
    }
}

#[async_trait]
impl Accounts for PostgresStore {
    async fn create_account(&self, account: Account) -> Result<(), StoreError> {
        missing()
    }
    async fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError> {
        missing()
    }
    async fn accounts(
        &self,
        owner: &Owner,
        page: &PageRequest<AccountId>,
    ) -> Result<Page<Account>, StoreError> {
        missing()
    }
    async fn renew_account(&self, renewal: Renewal) -> Result<bool, StoreError> {
        missing()
    }
    async fn note_health(
        &self,
        id: &AccountId,
        version: u64,
        health: Health,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn rename_account(
        &self,
        id: &AccountId,
        name: String,
        now_at: EpochSeconds,
    ) -> Result<Option<Account>, StoreError> {
        missing()
    }
    async fn delete_account(&self, id: &AccountId) -> Result<bool, StoreError> {
        missing()
    }
    async fn begin_connect(
        &self,
        connect: Connect,
        token_hash: &SecretHash,
        forget_before: EpochSeconds,
    ) -> Result<(), StoreError> {
        missing()
    }
    async fn connect(&self, id: &ConnectId) -> Result<Option<Connect>, StoreError> {
        missing()
    }
    async fn connect_by_token(
        &self,
        token_hash: &SecretHash,
    ) -> Result<Option<Connect>, StoreError> {
        missing()
    }
    async fn await_callback(
        &self,
        id: &ConnectId,
        state_hash: &SecretHash,
        sealed: Sealed,
        now_at: EpochSeconds,
    ) -> Result<bool, StoreError> {
        missing()
    }
    async fn take_callback(
        &self,
        state_hash: &SecretHash,
        now_at: EpochSeconds,
    ) -> Result<Option<Connect>, StoreError> {
        missing()
    }
    async fn end_connect(&self, id: &ConnectId, end: ConnectEnd) -> Result<(), StoreError> {
        missing()
    }
}

#[async_trait]
impl SealedRecords for PostgresStore {
    async fn sealed_records(
        &self,
        after: Option<&SealedRecord>,
        limit: u32,
    ) -> Result<Vec<SealedRecord>, StoreError> {
        missing()
    }
    async fn reseal(&self, records: Vec<Resealed>) -> Result<(), StoreError> {
        missing()
    }
}

#[async_trait]
impl DataStores for PostgresStore {
    async fn record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<Option<Record>, StoreError> {
        missing()
    }
    async fn records(
        &self,
        store: &DataStoreRef,
        range: RecordRange<'_>,
        now_ms: EpochMs,
    ) -> Result<Vec<Record>, StoreError> {
        missing()
    }
    async fn record_page(
        &self,
        store: &DataStoreRef,
        prefix: &str,
        page: &PageRequest<String>,
        now_ms: EpochMs,
    ) -> Result<Page<Record>, StoreError> {
        missing()
    }
    async fn record_keys(
        &self,
        store: &DataStoreRef,
        after: Option<&str>,
        limit: u32,
        now_ms: EpochMs,
    ) -> Result<Vec<String>, StoreError> {
        missing()
    }
    async fn write_record(
        &self,
        store: &DataStoreRef,
        record: NewRecord,
        limits: DataStoreLimits,
        now_ms: EpochMs,
    ) -> Result<RecordWritten, StoreError> {
        missing()
    }
    async fn set_record_expiry(
        &self,
        store: &DataStoreRef,
        key: &str,
        expires_at_ms: Option<EpochMs>,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        missing()
    }
    async fn delete_record(
        &self,
        store: &DataStoreRef,
        key: &str,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        missing()
    }
    async fn clear_records(&self, store: &DataStoreRef, now_ms: EpochMs) -> Result<(), StoreError> {
        missing()
    }
    async fn data_store(
        &self,
        store: &DataStoreRef,
        now_ms: EpochMs,
    ) -> Result<Option<DataStore>, StoreError> {
        missing()
    }
    async fn data_stores(
        &self,
        owner: &Owner,
        page: &PageRequest<DataStoreName>,
        now_ms: EpochMs,
    ) -> Result<Page<DataStore>, StoreError> {
        missing()
    }
    async fn delete_data_store(&self, store: &DataStoreRef) -> Result<bool, StoreError> {
        missing()
    }
    async fn sweep_records(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        missing()
    }
}

#[async_trait]
impl Workflows for PostgresStore {
    async fn deploy_workflow(&self, deploy: WorkflowDeploy) -> Result<Workflow, StoreError> {
        missing()
    }
    async fn workflow(&self, id: &WorkflowId) -> Result<Option<Workflow>, StoreError> {
        missing()
    }
    async fn workflow_by_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<(Workflow, WorkflowEndpoint)>, StoreError> {
        missing()
    }
    async fn workflow_endpoints(
        &self,
        id: &WorkflowId,
    ) -> Result<Vec<WorkflowEndpoint>, StoreError> {
        missing()
    }
    async fn workflows(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<WorkflowId>,
    ) -> Result<Page<Workflow>, StoreError> {
        missing()
    }
    async fn deployment(&self, id: &DeploymentId) -> Result<Option<Deployment>, StoreError> {
        missing()
    }
    async fn deployments(
        &self,
        id: &WorkflowId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<Deployment>, StoreError> {
        missing()
    }
    async fn set_workflow_active(
        &self,
        id: &WorkflowId,
        is_active: bool,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        missing()
    }
    async fn begin_workflow_deletion(&self, id: &WorkflowId) -> Result<bool, StoreError> {
        missing()
    }
    async fn empty_workflow(
        &self,
        lease: &RunnableLease,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        missing()
    }
    async fn delete_workflow(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        missing()
    }
    async fn deleting_workflows(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<WorkflowId>, StoreError> {
        missing()
    }
}

#[async_trait]
impl WorkflowRuns for PostgresStore {
    async fn run_places(&self, id: &InvocationId) -> Result<Vec<PlaceWrite>, StoreError> {
        missing()
    }
    async fn run_blob(&self, id: &InvocationId, hash: &str) -> Result<Option<Bytes>, StoreError> {
        missing()
    }
    async fn run_details(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError> {
        missing()
    }
    async fn run_event(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError> {
        missing()
    }
    async fn open_run(&self, id: &InvocationId) -> Result<Option<OpenRun>, StoreError> {
        missing()
    }
    async fn open_runs(
        &self,
        runnable: &RunnableId,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<OpenRun>, StoreError> {
        missing()
    }
    async fn resolve_wait(
        &self,
        resolution: WaitResolution,
        now_ms: EpochMs,
    ) -> Result<WaitResolved, StoreError> {
        missing()
    }
    async fn take_run_key(&self, key: RunKey, now_ms: EpochMs) -> Result<bool, StoreError> {
        missing()
    }
    async fn waiting_beyond(
        &self,
        id: &WorkflowId,
        size: u32,
        limit: u32,
    ) -> Result<Vec<InvocationId>, StoreError> {
        missing()
    }
    async fn resolutions(&self, id: &InvocationId) -> Result<Vec<WaitResolution>, StoreError> {
        missing()
    }
}

#[async_trait]
impl Sends for PostgresStore {
    async fn claim_sends(
        &self,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<ClaimedSend>, StoreError> {
        missing()
    }
    async fn end_sends(&self, attempts: Vec<SendAttempt>) -> Result<(), StoreError> {
        missing()
    }
    async fn next_send_due(&self) -> Result<Option<EpochMs>, StoreError> {
        missing()
    }
    async fn run_sends(&self, id: &InvocationId) -> Result<Vec<SendRecord>, StoreError> {
        missing()
    }
}

#[async_trait]
impl Variables for PostgresStore {
    async fn set_variable(&self, tenant: &str, variable: Variable) -> Result<(), StoreError> {
        missing()
    }
    async fn variables(&self, tenant: &str) -> Result<Vec<Variable>, StoreError> {
        missing()
    }
    async fn delete_variable(&self, tenant: &str, name: &str) -> Result<bool, StoreError> {
        missing()
    }
}

#[async_trait]
impl Audit for PostgresStore {
    async fn write_audit(&self, record: AuditRecord, kept_max: u32) -> Result<(), StoreError> {
        missing()
    }
    async fn find_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        page: &PageRequest<AuditId>,
    ) -> Result<FoundAudit, StoreError> {
        missing()
    }
    async fn count_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        limit: u32,
    ) -> Result<CappedCount, StoreError> {
        missing()
    }
    async fn expire_audit(&self, before_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        missing()
    }
}

#[async_trait]
impl Upkeep for PostgresStore {
    async fn check_writing(&self) -> Result<(), StoreError> {
        missing()
    }
    async fn consolidate(&self) -> Result<(), StoreError> {
        missing()
    }
}
