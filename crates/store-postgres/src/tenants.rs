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

use crate::{first_user, keys, store::PostgresStore, usage, users, workspaces};

#[async_trait]
impl Tenants for PostgresStore {
    async fn create_first_user(&self, first: FirstUser) -> Result<User, StoreError> {
        let first = &first;
        self.write(|connection| async move { first_user::create(&connection, first).await })
            .await
    }

    async fn has_users(&self) -> Result<bool, StoreError> {
        self.read(|connection| async move { users::any(&connection).await })
            .await
    }

    async fn create_user(&self, user: User, key: ApiKey) -> Result<(), StoreError> {
        let (user, key) = (&user, &key);
        self.write(|connection| async move {
            users::create(&connection, user).await?;
            keys::create(&connection, key).await
        })
        .await
    }

    async fn user(&self, id: &UserId) -> Result<Option<User>, StoreError> {
        self.read(|connection| async move { users::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn user_by_name(&self, username: &str) -> Result<Option<User>, StoreError> {
        self.read(|connection| async move { users::by_name(&connection, username).await })
            .await
    }

    async fn users(&self, page: &PageRequest<UserId>) -> Result<Page<User>, StoreError> {
        self.read(|connection| async move { users::page(&connection, page).await })
            .await
    }

    async fn delete_user(&self, id: &UserId) -> Result<bool, StoreError> {
        self.append(|connection| async move { users::delete(&connection, id).await })
            .await
    }

    async fn identity(&self, key_hash: &SecretHash) -> Result<Option<Identity>, StoreError> {
        self.read(|connection| async move { keys::identity(&connection, key_hash.as_str()).await })
            .await
    }

    async fn create_key(&self, key: ApiKey) -> Result<(), StoreError> {
        let key = &key;
        self.write(|connection| async move { keys::create(&connection, key).await })
            .await
    }

    async fn key(&self, id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
        self.read(|connection| async move { keys::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn keys(
        &self,
        user_id: &UserId,
        page: &PageRequest<KeyId>,
    ) -> Result<Page<ApiKey>, StoreError> {
        self.read(|connection| async move { keys::page(&connection, user_id.as_str(), page).await })
            .await
    }

    async fn delete_key(&self, id: &KeyId, by: &KeyId) -> Result<bool, StoreError> {
        self.write(|connection| async move { keys::delete(&connection, id, by).await })
            .await
    }

    async fn note_key_uses(&self, uses: Vec<(KeyId, EpochSeconds)>) -> Result<(), StoreError> {
        let uses = &uses;
        self.write(|connection| async move { keys::note_uses(&connection, uses).await })
            .await
    }

    async fn create_workspace(
        &self,
        workspace: Workspace,
        first_member: &UserId,
    ) -> Result<(), StoreError> {
        let workspace = &workspace;
        self.write(|connection| async move {
            workspaces::create(&connection, workspace, first_member).await
        })
        .await
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, StoreError> {
        self.read(|connection| async move { workspaces::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn workspaces(
        &self,
        user_id: &UserId,
        page: &PageRequest<WorkspaceId>,
    ) -> Result<Page<Workspace>, StoreError> {
        self.read(|connection| async move {
            workspaces::page(&connection, user_id.as_str(), page).await
        })
        .await
    }

    async fn add_member(
        &self,
        workspace_id: &WorkspaceId,
        user_id: &UserId,
    ) -> Result<(), StoreError> {
        self.write(|connection| async move {
            workspaces::add_member(&connection, workspace_id, user_id).await
        })
        .await
    }

    async fn members(
        &self,
        workspace_id: &WorkspaceId,
        page: &PageRequest<UserId>,
    ) -> Result<Page<User>, StoreError> {
        self.read(|connection| async move {
            users::members(&connection, workspace_id.as_str(), page).await
        })
        .await
    }

    async fn remove_member(
        &self,
        workspace_id: &WorkspaceId,
        user_id: &UserId,
    ) -> Result<bool, StoreError> {
        self.append(|connection| async move {
            workspaces::remove_member(&connection, workspace_id, user_id).await
        })
        .await
    }

    async fn usage(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Usage, StoreError> {
        self.read(|connection| async move {
            usage::between(&connection, spender, since_ms, until_ms).await
        })
        .await
    }

    async fn daily_usage(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Vec<DayUsage>, StoreError> {
        self.read(|connection| async move {
            usage::by_day(&connection, spender, since_ms, until_ms).await
        })
        .await
    }

    async fn usage_by_runnable(
        &self,
        spender: &Spender,
        since_ms: EpochMs,
        until_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<RunnableUsage>, StoreError> {
        self.read(|connection| async move {
            usage::by_runnable(&connection, spender, (since_ms, until_ms), limit).await
        })
        .await
    }

    async fn add_usage(
        &self,
        owner: &Owner,
        usage: Usage,
        now_ms: EpochMs,
    ) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            usage::add(&connection, owner.clone(), usage, now_ms).await
        })
        .await
    }
}
