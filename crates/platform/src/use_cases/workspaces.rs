//! Workspaces: creating them, their members, their things and their costs.

use headwater_model::{
    id::{UserId, WorkspaceId},
    page::{Page, PageRequest},
};
use headwater_store::{Spender, Usage, User, Workspace};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    use_cases::email::check_email,
};

/// The maximum length of an orgname.
const ORGNAME_MAX: usize = 64;

/// `POST /workspaces`.
#[derive(Debug, Clone)]
pub struct NewWorkspace {
    /// Its slug.
    pub orgname: String,
    /// Its name; the slug when absent.
    pub name: Option<String>,
    /// Its address; its maker's when absent.
    pub email: Option<String>,
}

/// A workspace as responses show it.
#[derive(Debug, Clone)]
pub struct WorkspaceView {
    /// The record.
    pub workspace: Workspace,
    /// The cost of its sources' runs today (UTC).
    pub usage: Usage,
}

impl Platform {
    /// Creates a workspace; the caller is its first member.
    ///
    /// # Errors
    /// `Invalid` for names and addresses that it may not have, `Conflict` for an orgname that is taken.
    pub async fn create_workspace(
        &self,
        caller: &Caller,
        new: NewWorkspace,
    ) -> Result<WorkspaceView, PlatformError> {
        let NewWorkspace {
            orgname,
            name,
            email,
        } = new;
        let of_slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if orgname.is_empty() || orgname.len() > ORGNAME_MAX || !orgname.chars().all(of_slug) {
            let reason =
                format!("an orgname has 1 to {ORGNAME_MAX} lower-case letters, digits and hyphens");
            return Err(PlatformError::invalid("orgname", reason));
        }
        let email = email.unwrap_or_else(|| caller.identity.user.email.clone());
        check_email(&email)?;
        let workspace = Workspace {
            id: self.core.env.id(WorkspaceId::new),
            name: name.unwrap_or_else(|| orgname.clone()),
            orgname,
            email,
            created_at: self.core.env.now_at(),
        };
        self.core
            .store
            .create_workspace(workspace.clone(), caller.user_id())
            .await?;
        let act = Act::new(AuditAction::WorkspaceCreate, "workspace", &workspace.id);
        let act = act.of_workspace(&workspace.id).named(&workspace.orgname);
        self.record(caller, act).await;
        self.workspace_view(workspace).await
    }

    /// The workspaces that the caller is a member of, in creation order.
    pub async fn workspaces(
        &self,
        caller: &Caller,
        page: &PageRequest<WorkspaceId>,
    ) -> Result<Page<WorkspaceView>, PlatformError> {
        let Page { total_count, items } =
            self.core.store.workspaces(caller.user_id(), page).await?;
        let mut views = Vec::with_capacity(items.len());
        for workspace in items {
            views.push(self.workspace_view(workspace).await?);
        }
        Ok(Page {
            total_count,
            items: views,
        })
    }

    /// A workspace with its usage.
    ///
    /// # Errors
    /// `Forbidden` when the caller is not a member, `NotFound` when there is no such workspace.
    pub async fn workspace(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<WorkspaceView, PlatformError> {
        self.check_member(caller, id).await?;
        let workspace = self.core.store.workspace(id).await?;
        let workspace = workspace.ok_or_else(|| PlatformError::not_found("workspace", id))?;
        self.workspace_view(workspace).await
    }

    pub(crate) async fn workspace_view(
        &self,
        workspace: Workspace,
    ) -> Result<WorkspaceView, PlatformError> {
        let spender = Spender::Workspace(workspace.id.clone());
        let now_ms = self.core.env.now_ms();
        let usage = self.core.store.usage(&spender, now_ms, now_ms).await?;
        Ok(WorkspaceView { workspace, usage })
    }

    /// A workspace's members, in the order in which they became users.
    ///
    /// # Errors
    /// As [`Platform::workspace`].
    pub async fn members(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        page: &PageRequest<UserId>,
    ) -> Result<Page<User>, PlatformError> {
        self.check_member(caller, id).await?;
        Ok(self.core.store.members(id, page).await?)
    }

    /// Makes a user, named by id or username, a member. Harmless if it is one.
    ///
    /// # Errors
    /// As [`Platform::workspace`]; `NotFound` for a user that is not there.
    pub async fn add_member(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        user: &str,
    ) -> Result<User, PlatformError> {
        self.check_member(caller, id).await?;
        let found = match user.parse() {
            Ok(user_id) => self.core.store.user(&user_id).await?,
            Err(_) => self.core.store.user_by_name(user).await?,
        };
        let found = found.ok_or_else(|| PlatformError::not_found("user", user))?;
        self.core.store.add_member(id, &found.id).await?;
        let act = self.on_member(AuditAction::WorkspaceAddMember, id, &found.id);
        self.record(caller, act.await).await;
        Ok(found)
    }

    /// Ends a membership; everybody may end its own. Things that the member created in the workspace
    /// stay there.
    ///
    /// # Errors
    /// As [`Platform::workspace`]; `NotFound` for a user that is not a member, `Conflict` for the last
    /// member.
    pub async fn remove_member(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        user_id: &UserId,
    ) -> Result<(), PlatformError> {
        self.check_member(caller, id).await?;
        if !self.core.store.remove_member(id, user_id).await? {
            return Err(PlatformError::not_found("member", user_id));
        }
        self.owners_changed();
        self.feeds.disconnect(|key| key.user_id == *user_id);
        let act = self.on_member(AuditAction::WorkspaceRemoveMember, id, user_id);
        self.record(caller, act.await).await;
        Ok(())
    }

    /// An act on a member of a workspace, whose record the member reads, too.
    async fn on_member(&self, action: AuditAction, id: &WorkspaceId, user_id: &UserId) -> Act {
        let store = &self.core.store;
        let workspace = store.workspace(id).await.ok().flatten();
        let user = store.user(user_id).await.ok().flatten();
        let act = Act::new(action, "workspace", id).of_workspace(id);
        let act = act.of_user(user_id).with("user_id", user_id.as_str());
        let act = act.with_some("username", user.map(|user| user.username));
        match workspace {
            Some(workspace) => act.named(&workspace.orgname),
            None => act,
        }
    }
}
