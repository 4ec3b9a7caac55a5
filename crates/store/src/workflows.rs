//! Workflows as records: their deployments, their triggers and their life.

use async_trait::async_trait;
use headwater_model::{
    endpoint::EndpointToken,
    id::{DeploymentId, SubscriptionId, TriggerId, WorkflowId},
    page::{Page, PageRequest},
    schedule::Schedule,
    subscription::EmitterPattern,
    time::{EpochMs, EpochSeconds},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    error::StoreError,
    lease::{NodeEpoch, RunnableLease},
    progress::Progress,
    runnable_filter::RunnableFilter,
    tenants::Owner,
};

/// The state of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowState {
    /// Runs on its triggers.
    Active,
    /// Does not run on its triggers; runs that have begun go on.
    Inactive,
    /// Its rows are being deleted.
    Deleting,
}

/// A workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Its id.
    pub id: WorkflowId,
    /// The owner.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// Unique among its owner's.
    pub name_slug: String,
    /// Its state.
    pub state: WorkflowState,
    /// The deployment that new runs follow.
    pub deployment_id: DeploymentId,
    /// Epoch seconds.
    pub created_at: EpochSeconds,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// A deployment: a workflow's files and their meaning at one moment. Never changes.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// Its id.
    pub id: DeploymentId,
    /// The workflow.
    pub workflow_id: WorkflowId,
    /// The files and what the platform resolved for them, as JSON text that only the platform reads.
    pub content: Box<RawValue>,
    /// Epoch milliseconds.
    pub created_at_ms: EpochMs,
}

/// The kind of an endpoint of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointKind {
    /// Requests at a URL.
    Http,
    /// Mail to an address.
    Email,
}

/// The way to a trigger from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowEndpoint {
    /// The trigger.
    pub trigger: TriggerId,
    /// Its kind.
    pub kind: EndpointKind,
    /// Unguessable, unique, stable across deployments.
    pub token: EndpointToken,
}

/// A trigger that fires by the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowTimer {
    /// The trigger.
    pub trigger: TriggerId,
    /// Its schedule.
    pub schedule: Schedule,
}

/// A trigger that takes events of an emitter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowFeed {
    /// The id of its subscription, if that has to be created.
    pub subscription: SubscriptionId,
    /// The trigger.
    pub trigger: TriggerId,
    /// The emitters.
    pub emitter: EmitterPattern,
    /// The channel; empty for the one without a name.
    pub channel: String,
}

/// The bounds that a deployment puts on the work and the records of its workflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkflowBounds {
    /// Runs that may wait to begin; `None`: any number.
    pub waiting_runs: Option<u32>,
    /// Days for which ended runs are kept; `None`: as long as others.
    pub run_days: Option<u32>,
}

/// A deployment to make the current one of its workflow, which is created if need be.
#[derive(Debug, Clone)]
pub struct WorkflowDeploy {
    /// The deployment.
    pub deployment: Deployment,
    /// The owner; that of an existing workflow stays.
    pub owner: Owner,
    /// The workflow's name.
    pub name: String,
    /// The slug to use for a new workflow, or to number when the owner has it already.
    pub slug: String,
    /// Whether its triggers are on.
    pub is_active: bool,
    /// All its endpoints: those of other triggers go.
    pub endpoints: Vec<WorkflowEndpoint>,
    /// All its timers: unchanged ones keep their phase.
    pub timers: Vec<WorkflowTimer>,
    /// All its feeds: others of its triggers end. Subscriptions that somebody else created stay.
    pub feeds: Vec<WorkflowFeed>,
    /// Its bounds.
    pub bounds: WorkflowBounds,
}

/// Workflows and their deployments.
#[async_trait]
pub trait Workflows {
    /// Makes a deployment the current one, with its triggers, all or nothing.
    /// MUST number the slug of a new workflow when the owner has it
    /// (`conformance::workflows::a_taken_slug_of_a_workflow_is_numbered`).
    /// MUST keep the phase of unchanged timers, and unschedule all of an inactive workflow
    /// (`conformance::workflows::an_unchanged_timer_keeps_its_phase`).
    /// MUST keep former deployments (`conformance::workflows::former_deployments_stay`).
    /// `Taken` for an endpoint token or a workflow id that another owner's workflow has.
    async fn deploy_workflow(&self, deploy: WorkflowDeploy) -> Result<Workflow, StoreError>;

    /// A workflow, in any state.
    async fn workflow(&self, id: &WorkflowId) -> Result<Option<Workflow>, StoreError>;

    /// The workflow and the trigger with this endpoint token, in any state.
    async fn workflow_by_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<(Workflow, WorkflowEndpoint)>, StoreError>;

    /// A workflow's endpoints.
    async fn workflow_endpoints(
        &self,
        id: &WorkflowId,
    ) -> Result<Vec<WorkflowEndpoint>, StoreError>;

    /// A page of workflows in creation order, without those that are being deleted.
    /// MUST find names by all their words in any case, and states as they are
    /// (`conformance::lists::a_list_of_workflows_is_reduced_by_name_and_state`).
    async fn workflows(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<WorkflowId>,
    ) -> Result<Page<Workflow>, StoreError>;

    /// A deployment.
    async fn deployment(&self, id: &DeploymentId) -> Result<Option<Deployment>, StoreError>;

    /// A page of a workflow's deployments, oldest first.
    async fn deployments(
        &self,
        id: &WorkflowId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<Deployment>, StoreError>;

    /// Turns a workflow's triggers on or off. False: there is no such workflow, or it is being deleted.
    /// MUST drop queued ticks and events that have not begun when it is turned off, and keep requests
    /// (`conformance::workflows::turning_off_drops_ticks_and_events_that_have_not_begun`).
    async fn set_workflow_active(
        &self,
        id: &WorkflowId,
        is_active: bool,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError>;

    /// Begins a deletion: the workflow takes no triggers any more. False: there is no such workflow.
    async fn begin_workflow_deletion(&self, id: &WorkflowId) -> Result<bool, StoreError>;

    /// Deletes up to `limit` rows of a workflow that is being deleted; calling again continues. `LeaseLost` when the
    /// lease is not the current one.
    async fn empty_workflow(
        &self,
        lease: &RunnableLease,
        limit: u32,
    ) -> Result<Progress, StoreError>;

    /// Deletes a workflow with everything of it. Deleting twice is harmless. `LeaseLost` as above.
    async fn delete_workflow(&self, lease: &RunnableLease) -> Result<(), StoreError>;

    /// Workflows whose deletion has begun and which no other living node holds; at most `limit`.
    async fn deleting_workflows(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<WorkflowId>, StoreError>;
}
