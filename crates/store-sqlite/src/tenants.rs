//! Users, keys, workspaces and usage behind the trait.

use async_trait::async_trait;
use headwater_model::{
    hash::SecretHash,
    id::{KeyId, UserId, WorkspaceId},
    page::{Page, PageRequest},
    time::{EpochMs, EpochSeconds},
};
use headwater_store::{
    ApiKey, DayUsage, FirstUser, Identity, Owner, RunnableUsage, Spender, StoreError, Tenants,
    Usage, User, Workspace,
};

use crate::{first_user, keys, store::SqliteStore, usage, users, workspaces};

#[async_trait]
impl Tenants for SqliteStore {
    async fn create_first_user(&self, first: FirstUser) -> Result<User, StoreError> {
        self.write(move |connection| first_user::create(connection, &first))
            .await
    }

    async fn has_users(&self) -> Result<bool, StoreError> {
        self.read(users::any).await
    }

    async fn create_user(&self, user: User, key: ApiKey) -> Result<(), StoreError> {
        self.write(move |connection| {
            users::create(connection, &user)?;
            keys::create(connection, &key)
        })
        .await
    }

    async fn user(&self, id: &UserId) -> Result<Option<User>, StoreError> {
        let id = id.clone();
        self.read(move |connection| users::by_id(connection, id.as_str()))
            .await
    }

    async fn user_by_name(&self, username: &str) -> Result<Option<User>, StoreError> {
        let username = username.to_owned();
        self.read(move |connection| users::by_name(connection, &username))
            .await
    }

    async fn users(&self, page: &PageRequest<UserId>) -> Result<Page<User>, StoreError> {
        let page = page.clone();
        self.read(move |connection| users::page(connection, &page))
            .await
    }

    async fn delete_user(&self, id: &UserId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| users::delete(connection, &id))
            .await
    }

    async fn identity(&self, key_hash: &SecretHash) -> Result<Option<Identity>, StoreError> {
        let key_hash = key_hash.clone();
        self.read(move |connection| keys::identity(connection, key_hash.as_str()))
            .await
    }

    async fn create_key(&self, key: ApiKey) -> Result<(), StoreError> {
        self.write(move |connection| keys::create(connection, &key))
            .await
    }

    async fn key(&self, id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
        let id = id.clone();
        self.read(move |connection| keys::by_id(connection, id.as_str()))
            .await
    }

    async fn keys(
        &self,
        user_id: &UserId,
        page: &PageRequest<KeyId>,
    ) -> Result<Page<ApiKey>, StoreError> {
        let (user_id, page) = (user_id.clone(), page.clone());
        self.read(move |connection| keys::page(connection, user_id.as_str(), &page))
            .await
    }

    async fn delete_key(&self, id: &KeyId, by: &KeyId) -> Result<bool, StoreError> {
        let (id, by) = (id.clone(), by.clone());
        self.write(move |connection| keys::delete(connection, &id, &by))
            .await
    }

    async fn note_key_uses(&self, uses: Vec<(KeyId, EpochSeconds)>) -> Result<(), StoreError> {
        self.write(move |connection| keys::note_uses(connection, &uses))
            .await
    }

    async fn create_workspace(
        &self,
        workspace: Workspace,
        first_member: &UserId,
    ) -> Result<(), StoreError> {
        let first_member = first_member.clone();
        self.write(move |connection| workspaces::create(connection, &workspace, &first_member))
            .await
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, StoreError> {
        let id = id.clone();
        self.read(move |connection| workspaces::by_id(connection, id.as_str()))
            .await
    }

    async fn workspaces(
        &self,
        user_id: &UserId,
        page: &PageRequest<WorkspaceId>,
    ) -> Result<Page<Workspace>, StoreError> {
        let (user_id, page) = (user_id.clone(), page.clone());
        self.read(move |connection| workspaces::page(connection, user_id.as_str(), &page))
            .await
    }

    async fn add_member(
        &self,
        workspace_id: &WorkspaceId,
        user_id: &UserId,
    ) -> Result<(), StoreError> {
        let (workspace_id, user_id) = (workspace_id.clone(), user_id.clone());
        self.write(move |connection| workspaces::add_member(connection, &workspace_id, &user_id))
            .await
    }

    async fn members(
        &self,
        workspace_id: &WorkspaceId,
        page: &PageRequest<UserId>,
    ) -> Result<Page<User>, StoreError> {
        let (workspace_id, page) = (workspace_id.clone(), page.clone());
        self.read(move |connection| users::members(connection, workspace_id.as_str(), &page))
            .await
    }

    async fn remove_member(
        &self,
        workspace_id: &WorkspaceId,
        user_id: &UserId,
    ) -> Result<bool, StoreError> {
        let (workspace_id, user_id) = (workspace_id.clone(), user_id.clone());
        self.write(move |connection| workspaces::remove_member(connection, &workspace_id, &user_id))
            .await
    }

    async fn usage(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Usage, StoreError> {
        let spender = spender.clone();
        self.read(move |connection| usage::between(connection, &spender, since_ms, until_ms))
            .await
    }

    async fn daily_usage(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Vec<DayUsage>, StoreError> {
        let spender = spender.clone();
        self.read(move |connection| usage::by_day(connection, &spender, since_ms, until_ms))
            .await
    }

    async fn usage_by_runnable(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<RunnableUsage>, StoreError> {
        let spender = spender.clone();
        self.read(move |connection| {
            usage::by_runnable(connection, &spender, (since_ms, until_ms), limit)
        })
        .await
    }

    async fn add_usage(
        &self,
        owner: &Owner,
        usage: Usage,
        now_ms: EpochMs,
    ) -> Result<(), StoreError> {
        let owner = owner.clone();
        self.write(move |connection| usage::add(connection, owner, usage, now_ms))
            .await
    }
}
