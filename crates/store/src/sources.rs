//! Sources as records: their parts, their life, and the end of a deployment.

use headwater_model::{
    dedupe,
    endpoint::EndpointToken,
    hash::ArtifactHash,
    id::{ComponentId, DeploymentId, SourceId},
    prop::{ConfiguredProps, PropDefinition},
    schedule::Schedule,
    time::{EpochMs, EpochSeconds},
};
use serde::{Deserialize, Serialize};

use crate::{
    lease::RunnableLease, run_commit::RunCommit, source_deployments::NewSourceDeployment,
    tenants::Owner,
};

/// The state of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// Its first hooks run; its endpoints answer. Found at start: the node died meanwhile, and it is undone.
    Deploying,
    /// Runs on its triggers.
    Active,
    /// Does not run on its triggers.
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
    pub token: EndpointToken,
    /// The prop that holds it.
    pub prop: String,
}

/// One timer interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// The prop that holds it.
    pub prop: String,
    /// Its schedule.
    pub schedule: Schedule,
}

/// The parts of a source: everything that an update may replace.
#[derive(Debug, Clone)]
pub struct SourceSpec {
    /// The saved component.
    pub component_id: ComponentId,
    /// The component's artifact.
    pub artifact_hash: ArtifactHash,
    /// Chosen, or the slug.
    pub name: String,
    /// Values by prop; secrets are sealed.
    pub configured_props: ConfiguredProps,
    /// The props that `additionalProps` had added for these values.
    pub dynamic_props: Vec<PropDefinition>,
    /// One per HTTP interface.
    pub endpoints: Vec<Endpoint>,
    /// One per timer interface.
    pub timers: Vec<Timer>,
    /// How its events are deduplicated.
    pub dedupe: Option<dedupe::Strategy>,
    /// Whether it shares no worker with other sources.
    pub is_isolated: bool,
}

/// A source.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its id.
    pub id: SourceId,
    /// The owner.
    pub owner: Owner,
    /// Unique among its owner's.
    pub name_slug: String,
    /// Its state.
    pub state: SourceState,
    /// Its parts.
    pub spec: SourceSpec,
    /// The deployment that it runs; none until its first one has settled.
    pub deployment_id: Option<DeploymentId>,
    /// Epoch seconds.
    pub created_at: EpochSeconds,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// A source about to be deployed.
#[derive(Debug, Clone)]
pub struct NewSource {
    /// Its id.
    pub id: SourceId,
    /// The owner.
    pub owner: Owner,
    /// The slug to use, or to number (`slug-1`, `slug-2` …) when the owner has it already.
    pub slug: String,
    /// Its parts. An empty `name` becomes the slug.
    pub spec: SourceSpec,
    /// Epoch seconds.
    pub now_at: EpochSeconds,
}

/// The end of a deployment or an update: everything becomes visible together.
#[derive(Debug, Clone)]
pub struct SettledSource {
    /// The right to change the source.
    pub lease: RunnableLease,
    /// Its parts from now on.
    pub spec: SourceSpec,
    /// The deployment that it is, if code or values are other ones.
    pub deployment: Option<NewSourceDeployment>,
    /// Whether its triggers are on: timers are scheduled from `now_ms`, or all unscheduled.
    pub active: bool,
    /// The commits of its hooks, in order.
    pub commits: Vec<RunCommit>,
    /// Epoch milliseconds.
    pub now_ms: EpochMs,
}

impl SettledSource {
    /// A settlement that is not a deployment, without effects of hooks; the runner adds the deferred ones.
    pub fn new(lease: RunnableLease, spec: SourceSpec, active: bool, now_ms: EpochMs) -> Self {
        Self {
            lease,
            spec,
            deployment: None,
            active,
            commits: Vec::new(),
            now_ms,
        }
    }
}
