//! The catalog: saved components and sources.

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::{
    component::Description,
    endpoint::EndpointToken,
    hash::{ArtifactHash, CodeHash},
    id::{ComponentId, SourceId},
    page::{Page, PageRequest},
    time::{EpochMs, EpochSeconds},
};

use crate::{
    error::StoreError,
    lease::{NodeEpoch, RunnableLease},
    list_place::{ListPlace, Placed, SourceOrder},
    progress::Progress,
    runnable_filter::RunnableFilter,
    sources::{NewSource, SettledSource, Source, SourceState},
    tenants::Owner,
};

/// A saved component: code, resolved and described. Never changes once built.
#[derive(Debug, Clone)]
pub struct SavedComponent {
    /// Its id.
    pub id: ComponentId,
    /// The owner.
    pub owner: Owner,
    /// The whole code.
    pub code: String,
    /// The origin of the code, or its author's description.
    pub code_url: Option<String>,
    /// SHA-256 of the code, hexadecimal.
    pub code_hash: CodeHash,
    /// Names the artifact that workers run; empty until it is built.
    pub artifact_hash: ArtifactHash,
    /// The lock file.
    pub lock: String,
    /// The component's description of itself.
    pub description: Description,
    /// Epoch seconds.
    pub created_at: EpochSeconds,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

impl SavedComponent {
    /// Whether workers can run it; else it was published with its folder, and is built at its first use.
    pub fn is_built(&self) -> bool {
        !self.artifact_hash.as_str().is_empty()
    }
}

/// An artifact to store with its component.
#[derive(Debug, Clone)]
pub struct ArtifactBytes {
    /// Its SHA-256, hexadecimal.
    pub hash: ArtifactHash,
    /// The archive.
    pub bytes: Bytes,
}

impl ArtifactBytes {
    /// The artifact of a component that is not built yet.
    pub fn unbuilt() -> Self {
        Self {
            hash: ArtifactHash::new(""),
            bytes: Bytes::new(),
        }
    }
}

/// Saved components and sources.
#[async_trait]
pub trait Catalog {
    /// Writes a component with its artifact, and returns it. An existing artifact is kept.
    /// MUST write nothing, and return the one that is there, if its owner has an unpublished one of the same key, code,
    /// origin and build, and saving it once more would change nothing about what its key refers to
    /// (`conformance::catalog::the_same_code_is_one_component`).
    async fn save_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<SavedComponent, StoreError>;

    /// Deletes a component, unless something uses it. False: something does.
    /// MUST keep one that is published, or that a source, a deployment of a source or one of a workflow has
    /// (`conformance::catalog::a_component_is_deleted_while_nothing_uses_it`).
    async fn delete_component(&self, id: &ComponentId) -> Result<bool, StoreError>;

    /// Writes the component of a workflow's step, which is the workflow's alone, with its artifact.
    /// MUST be found by its id and listed nowhere
    /// (`conformance::registry::components_of_steps_are_not_listed`).
    async fn save_step_component(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<(), StoreError>;

    /// A saved component.
    async fn component(&self, id: &ComponentId) -> Result<Option<SavedComponent>, StoreError>;

    /// The component that `key` refers to, among those in the owner's workspace if there is one, else among the user's
    /// own.
    /// MUST be the last saved, unless that one is unpublished, its version is semantic, and another unpublished one has
    /// a higher version (`conformance::catalog::a_key_means_the_highest_version`).
    async fn component_by_key(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<SavedComponent>, StoreError>;

    /// An artifact's bytes.
    async fn artifact(&self, hash: &ArtifactHash) -> Result<Option<Bytes>, StoreError>;

    /// Inserts a source in state `Deploying` and reserves its slug and endpoint tokens.
    /// MUST number the slug when the owner's workspace, or the user outside of workspaces, has it
    /// (`conformance::sources::a_taken_slug_is_numbered`).
    /// MUST NOT follow automatic subscriptions of listeners that the user may not see
    /// (`conformance::tenants::automatic_subscriptions_into_a_workspace_end_with_the_membership`).
    /// MUST lease the source to the deploying node (`conformance::nodes::two_nodes_never_hold_one_runnable`).
    /// `Gone` when the component is not there, `Taken` for an endpoint token that another source has, `LeaseLost` when
    /// the epoch is dead.
    async fn begin_deploy(
        &self,
        source: NewSource,
        epoch: NodeEpoch,
    ) -> Result<(Source, RunnableLease), StoreError>;

    /// Ends a deployment or update: spec, timers, hooks' events and state `Active` or `Inactive`, together.
    /// MUST write all of it or nothing (`conformance::sources::settling_is_all_or_nothing`).
    /// MUST write its deployment with it, if it is one, and make that the one that the source runs
    /// (`conformance::source_deployments::a_settlement_keeps_what_it_deployed`).
    /// MUST reset the dedupe state when the strategy changes, before the commits apply
    /// (`conformance::sources::the_dedupe_state_is_reset_when_the_strategy_changes`).
    /// MUST keep timers that are unchanged on an active source on their former phase
    /// (`conformance::timers::an_unchanged_timer_keeps_its_phase_when_settled`), MUST unschedule all when inactive
    /// (`conformance::timers::timers_are_unscheduled_while_a_source_is_inactive`).
    /// MUST drop queued ticks and events without a lease when it ends inactive, and keep requests, which were
    /// acknowledged: they wait until it is active again
    /// (`conformance::sources::the_queue_is_dropped_when_a_source_ends_inactive`), as do those that have begun and left a
    /// checkpoint (`conformance::sources::checkpoints_outlast_an_inactive_source`).
    /// MUST refuse with `LeaseLost` a caller that does not hold the source, like every step that changes its state
    /// (`conformance::nodes::a_dead_nodes_runnable_is_taken_over`). `Gone` when the source is.
    async fn settle_source(&self, settled: SettledSource) -> Result<Source, StoreError>;

    /// Moves a source to a state without touching anything else. `Gone` when the source is, `LeaseLost` when the lease is
    /// not the current one.
    async fn set_source_state(
        &self,
        lease: &RunnableLease,
        state: SourceState,
    ) -> Result<(), StoreError>;

    /// Renames a source. `Gone` when the source is.
    async fn rename_source(
        &self,
        id: &SourceId,
        name: &str,
        now_at: EpochSeconds,
    ) -> Result<(), StoreError>;

    /// Deletes up to `limit` rows of a source that is being deleted: its queue, its runs, and its events that dispatch
    /// has passed.
    /// Calling again continues; `done` counts. With many rows, [`Catalog::delete_source`] alone would keep all other
    /// writers waiting (`conformance::deletion::a_source_is_emptied_in_bounded_steps`). `LeaseLost` when the lease is
    /// not the current one.
    async fn empty_source(&self, lease: &RunnableLease, limit: u32)
    -> Result<Progress, StoreError>;

    /// Deletes a source with its events, runs, state, timers, queue, endpoints and subscriptions. Deleting twice is harmless.
    /// Events that dispatch has not passed no longer reach any listener: see [`crate::EventLog::awaits_dispatch`].
    /// `LeaseLost` when the source is there and the lease is not the current one.
    async fn delete_source(&self, lease: &RunnableLease) -> Result<(), StoreError>;

    /// A source, in any state.
    async fn source(&self, id: &SourceId) -> Result<Option<Source>, StoreError>;

    /// The source with this endpoint token, in any state.
    async fn source_by_endpoint(&self, token: &EndpointToken)
    -> Result<Option<Source>, StoreError>;

    /// A page of sources in creation order.
    /// MUST find names by all their words in any case, and states as they are
    /// (`conformance::lists::a_list_of_sources_is_reduced_by_name_and_state`).
    async fn sources(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<Source>, StoreError>;

    /// A page of the same sources in an order of choice, each with its place. In another order than that of their creation,
    /// it costs one look-up in an index for each source that the filter finds, which are counted anyway.
    /// MUST put the same sources at the same places in every direction, those with the same key in creation order
    /// (`conformance::lists::sources_are_paged_both_ways_in_every_order`).
    /// MUST go on behind a place whose source has another key by now, or is gone
    /// (`conformance::lists::an_ordered_list_goes_on_behind_a_source_that_has_moved`).
    async fn sources_in_order(
        &self,
        filter: &RunnableFilter,
        order: SourceOrder,
        page: &PageRequest<ListPlace>,
    ) -> Result<Page<Placed<Source>>, StoreError>;

    /// Sources that are `Deploying`, `Updating` or `Deleting`, in the order of their ids, behind `after`; at most `limit`.
    /// MUST reach every one of them when called with the last it found
    /// (`conformance::sources::all_unsettled_sources_are_reached_in_steps`). The node that asks tells its own changes
    /// under way from those that a dead node left: it may have leased a source before it came to settle it.
    /// MUST NOT find those that another living node holds
    /// (`conformance::nodes::leases_of_a_living_node_survive_another_nodes_start`).
    async fn unsettled_sources(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        after: Option<&SourceId>,
        limit: u32,
    ) -> Result<Vec<Source>, StoreError>;
}
