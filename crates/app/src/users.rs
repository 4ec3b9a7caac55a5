//! The first user, and what users see of themselves.

use headwater_model::id::{KeyId, UserId, WorkspaceId};
use headwater_model::{
    id::SourceId,
    page::{Page, PageRequest},
};
use headwater_store::{ApiKey, FirstUser, Identity, Source, SourceFilter, Usage, User, Workspace};

use crate::{
    access::{Caller, key_hash},
    app::App,
    error::AppError,
    sources::SourceView,
};

/// How the first user of a node is made.
#[derive(Debug, Clone)]
pub struct FirstUserOptions {
    /// Its API key.
    pub api_key: String,
    /// Its name.
    pub username: String,
    /// Its address.
    pub email: String,
}

/// `GET /users/me`.
#[derive(Debug, Clone)]
pub struct UserView {
    /// The user and its workspaces.
    pub identity: Identity,
    /// What its runs cost today (UTC).
    pub usage: Usage,
}

impl App {
    /// Whether the node has no user yet.
    pub async fn is_empty(&self) -> Result<bool, AppError> {
        Ok(!self.store.has_users().await?)
    }

    /// Makes the first user with a workspace of its own, unless there is a user.
    pub async fn create_first_user(&self, options: FirstUserOptions) -> Result<Identity, AppError> {
        let now_at = self.env.now_at();
        let user = User {
            id: self.env.id(UserId::new),
            username: options.username,
            email: options.email,
            created_at: now_at,
        };
        let workspace = Workspace {
            id: self.env.id(WorkspaceId::new),
            orgname: user.username.clone(),
            name: format!("{}'s workspace", user.username),
            email: user.email.clone(),
            created_at: now_at,
        };
        let key = ApiKey {
            id: self.env.id(KeyId::new),
            user_id: user.id.clone(),
            hash: key_hash(&options.api_key),
            created_at: now_at,
        };
        Ok(self
            .store
            .create_first_user(FirstUser {
                user,
                workspace,
                key,
            })
            .await?)
    }

    /// The caller with its usage.
    pub async fn user(&self, caller: &Caller) -> Result<UserView, AppError> {
        Ok(UserView {
            identity: caller.identity.clone(),
            usage: self
                .store
                .usage(caller.user_id(), self.env.now_ms())
                .await?,
        })
    }

    /// The caller's own sources, in creation order.
    pub async fn own_sources(
        &self,
        caller: &Caller,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<SourceView>, AppError> {
        self.page_of_sources(&SourceFilter::User(caller.user_id().clone()), page)
            .await
    }

    /// A workspace's sources, in creation order.
    ///
    /// # Errors
    /// `Forbidden` when the caller is not a member.
    pub async fn workspace_sources(
        &self,
        caller: &Caller,
        workspace_id: WorkspaceId,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<SourceView>, AppError> {
        if !caller.is_member(&workspace_id) {
            return Err(AppError::Forbidden(workspace_id.to_string()));
        }
        self.page_of_sources(&SourceFilter::Workspace(workspace_id), page)
            .await
    }

    async fn page_of_sources(
        &self,
        filter: &SourceFilter,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<SourceView>, AppError> {
        let Page { total_count, items } = self.store.sources(filter, page).await?;
        let view = |source: Source| SourceView::new(self, source);
        Ok(Page {
            total_count,
            items: items.into_iter().map(view).collect(),
        })
    }
}
