//! Users, their keys, workspaces and their members, and the cost of their runs.

use async_trait::async_trait;
use headwater_model::{
    hash::SecretHash,
    id::{KeyId, RunnableId, UserId, WorkspaceId},
    page::{Page, PageRequest},
    time::{EpochMs, EpochSeconds},
};

use crate::error::StoreError;

/// The owner of something: always a user, and a workspace too when it lives in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The user who created it.
    pub user_id: UserId,
    /// The workspace it lives in.
    pub workspace_id: Option<WorkspaceId>,
}

impl Owner {
    /// The tenant whose limits it shares: the workspace, or else the user.
    pub fn tenant(&self) -> &str {
        let workspace = self.workspace_id.as_ref();
        workspace.map_or(self.user_id.as_str(), |id| id.as_str())
    }
}

/// The things that somebody may see: a user's own, and those in the workspaces of which it is a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    /// The user.
    pub user_id: UserId,
    /// Its workspaces.
    pub workspace_ids: Vec<WorkspaceId>,
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
    pub created_at: EpochSeconds,
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
    pub created_at: EpochSeconds,
}

/// A user's API key, as its hash only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: KeyId,
    /// The user.
    pub user_id: UserId,
    /// For people.
    pub name: String,
    /// SHA-256 of the key, hexadecimal.
    pub hash: SecretHash,
    /// Epoch seconds.
    pub created_at: EpochSeconds,
    /// Epoch seconds; may lag behind by as long as noting it is put off.
    pub last_used_at: Option<EpochSeconds>,
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

/// The identity behind a key.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The user.
    pub user: User,
    /// The workspaces of which the user is a member, oldest first.
    pub workspaces: Vec<Workspace>,
    /// The key.
    pub key: ApiKey,
}

/// A user or workspace whose usage is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spender {
    /// A user: all that it owns, in workspaces or not.
    User(UserId),
    /// A workspace: all that lives in it.
    Workspace(WorkspaceId),
}

/// The cost of runs, as quotas count it (docs/guide/users-workspaces-and-keys.md).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Runs.
    pub invocations: u64,
    /// Wall-clock milliseconds of the runs.
    pub compute_ms: u64,
}

impl Usage {
    /// Adds that of other runs.
    pub fn add(&mut self, other: Self) {
        self.invocations += other.invocations;
        self.compute_ms += other.compute_ms;
    }
}

/// The cost of the runs of a UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayUsage {
    /// The day, counted from 1970-01-01.
    pub day: u64,
    /// Its cost.
    pub usage: Usage,
}

/// Days for which the usage of a source or workflow is kept: a year and the same day of the year before.
pub const RUNNABLE_USAGE_DAYS: u64 = 366;

/// The cost of the runs of a source or workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnableUsage {
    /// The source or workflow.
    pub runnable: RunnableId,
    /// Its name.
    pub name: String,
    /// The days on which it had any, oldest first.
    pub days: Vec<DayUsage>,
}

impl RunnableUsage {
    /// That of these days together.
    pub fn sum(&self) -> Usage {
        sum_of(&self.days)
    }
}

/// The cost of several days.
pub fn sum_of(days: &[DayUsage]) -> Usage {
    let mut sum = Usage::default();
    days.iter().for_each(|day| sum.add(day.usage));
    sum
}

/// Users, keys, workspaces and usage.
#[async_trait]
pub trait Tenants {
    /// Writes the first user with workspace and key, unless there is a user: then nothing changes.
    /// MUST return the user that exists afterwards (`conformance::tenants::the_first_user_is_created_once`).
    async fn create_first_user(&self, first: FirstUser) -> Result<User, StoreError>;

    /// Whether any user exists.
    async fn has_users(&self) -> Result<bool, StoreError>;

    /// Writes a user with its first key.
    /// MUST refuse with `Taken` a username that another user has; nothing is written
    /// (`conformance::tenants::usernames_are_unique`).
    async fn create_user(&self, user: User, key: ApiKey) -> Result<(), StoreError>;

    /// A user.
    async fn user(&self, id: &UserId) -> Result<Option<User>, StoreError>;

    /// The user with this username.
    async fn user_by_name(&self, username: &str) -> Result<Option<User>, StoreError>;

    /// A page of all users in creation order.
    async fn users(&self, page: &PageRequest<UserId>) -> Result<Page<User>, StoreError>;

    /// Deletes a user with its keys, accounts, subscriptions, usage and the saved components that no deployment
    /// of a source has (`conformance::source_deployments::the_component_of_a_former_deployment_stays`). Its resources in a workspace pass to another member, as when it leaves; a workspace of
    /// which it is the last member is deleted with it. False: there was none.
    /// MUST refuse with `InUse` while the user has sources, workflows or webhooks that no other member would take over;
    /// nothing changes then (`conformance::tenants::a_user_with_sources_is_not_deleted`).
    async fn delete_user(&self, id: &UserId) -> Result<bool, StoreError>;

    /// The current identity behind the key with this SHA-256 (hexadecimal).
    async fn identity(&self, key_hash: &SecretHash) -> Result<Option<Identity>, StoreError>;

    /// Writes a key. `Gone` when its user is
    /// (`conformance::conflicts::a_member_or_workspace_that_is_gone_is_named`), `Taken` when there is one with its hash.
    async fn create_key(&self, key: ApiKey) -> Result<(), StoreError>;

    /// A key.
    async fn key(&self, id: &KeyId) -> Result<Option<ApiKey>, StoreError>;

    /// A page of the user's keys in creation order.
    async fn keys(
        &self,
        user_id: &UserId,
        page: &PageRequest<KeyId>,
    ) -> Result<Page<ApiKey>, StoreError>;

    /// Deletes a key on a request made with the key `by`. False: there was none.
    /// MUST refuse with `Last` to delete the last key of a user by that very key
    /// (`conformance::tenants::the_last_key_is_not_deleted_by_itself`).
    async fn delete_key(&self, id: &KeyId, by: &KeyId) -> Result<bool, StoreError>;

    /// Notes when keys were last used, in epoch seconds. Those that are gone are passed over.
    async fn note_key_uses(&self, uses: Vec<(KeyId, EpochSeconds)>) -> Result<(), StoreError>;

    /// Writes a workspace with its first member.
    /// MUST refuse with `Taken` an orgname that another workspace has; nothing is written
    /// (`conformance::tenants::orgnames_are_unique`).
    async fn create_workspace(
        &self,
        workspace: Workspace,
        first_member: &UserId,
    ) -> Result<(), StoreError>;

    /// A workspace.
    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, StoreError>;

    /// A page of the workspaces that the user is a member of, in creation order.
    async fn workspaces(
        &self,
        user_id: &UserId,
        page: &PageRequest<WorkspaceId>,
    ) -> Result<Page<Workspace>, StoreError>;

    /// Makes a user a member; harmless if it is one. `Gone` when either is.
    async fn add_member(
        &self,
        workspace_id: &WorkspaceId,
        user_id: &UserId,
    ) -> Result<(), StoreError>;

    /// A page of a workspace's members, in the order in which they became users.
    async fn members(
        &self,
        workspace_id: &WorkspaceId,
        page: &PageRequest<UserId>,
    ) -> Result<Page<User>, StoreError>;

    /// Ends a membership. The user's resources in the workspace pass to the member that has been a user
    /// longest, with the subscriptions within the workspace; the user's other subscriptions from
    /// or to it end, automatic ones too
    /// (`conformance::tenants::automatic_subscriptions_into_a_workspace_end_with_the_membership`). False: there was no such membership.
    /// MUST do all of this together (`conformance::tenants::what_a_member_made_passes_to_another_when_it_leaves`).
    /// MUST pass workflows on with the feeds of their triggers
    /// (`conformance::tenants::a_leaving_members_workflows_are_triggered_as_before`).
    /// MUST refuse with `Last` when there is no other member (`conformance::tenants::the_last_member_stays`).
    async fn remove_member(
        &self,
        workspace_id: &WorkspaceId,
        user_id: &UserId,
    ) -> Result<bool, StoreError>;

    /// The cost of runs on the UTC days from that of `since_ms` to that of `until_ms`, both included.
    /// MUST count a run of a source in a workspace for its user and for the workspace
    /// (`conformance::commits::usage_counts_per_user_workspace_and_utc_day`).
    async fn usage(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Usage, StoreError>;

    /// The same day by day, oldest first, without days that have none.
    /// MUST agree with [`Tenants::usage`] (`conformance::tenants::usage_is_told_day_by_day`).
    async fn daily_usage(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Vec<DayUsage>, StoreError>;

    /// The same of each of the spender's sources and workflows that are there: those with most runs first, at most `limit`.
    /// MUST count each run of a source for the source as well, and forget days that are older than
    /// [`RUNNABLE_USAGE_DAYS`] at the next day's first run (`conformance::tenants::usage_is_told_by_source`).
    async fn usage_by_runnable(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<RunnableUsage>, StoreError>;

    /// Adds the cost of work that is not a run of a source, such as a single run of an action, to the day of `now_ms`.
    /// MUST count it for the user and for the workspace (`conformance::tenants::other_usage_counts_for_both`).
    async fn add_usage(
        &self,
        owner: &Owner,
        usage: Usage,
        now_ms: EpochMs,
    ) -> Result<(), StoreError>;
}
