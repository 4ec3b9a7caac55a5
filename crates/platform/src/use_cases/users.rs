//! Users: the first one, those that the administrator creates, and the users' view of themselves.

use chrono::{DateTime, Datelike as _, Months, NaiveTime};
use headwater_model::{
    id::{KeyId, UserId, WorkspaceId},
    page::{Page, PageRequest},
    time::{EpochMs, EpochSeconds},
};
use headwater_store::{ActorKind, ApiKey, FirstUser, Identity, Spender, Usage, User, Workspace};

use crate::{
    audit::{Act, AuditAction},
    caller::{Caller, Remote, key_hash},
    config::Plan,
    error::PlatformError,
    platform::Platform,
    use_cases::audit::nameless,
    use_cases::email::check_email,
    use_cases::keys,
    use_cases::workspaces::WorkspaceView,
};

/// The maximum length of a name.
const USERNAME_MAX: usize = 64;

/// The settings of a node's first user.
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
    /// The part that depends on the plan.
    pub plan: PlanView,
}

/// The users' view of their usage.
#[derive(Debug, Clone)]
pub enum PlanView {
    /// See [`Plan::Free`].
    Free {
        /// The invocations that it may have today, if that is limited.
        invocations_quota: Option<u64>,
        /// The cost of its runs today (UTC).
        usage: Usage,
        /// The workspaces it is a member of, oldest first.
        workspaces: Vec<WorkspaceView>,
    },
    /// See [`Plan::Paid`].
    Paid {
        /// The time the billing period began, in epoch seconds.
        period_start_at: EpochSeconds,
        /// The time the next one begins.
        period_end_at: EpochSeconds,
        /// The cost of its runs since then.
        usage: Usage,
    },
}

/// A user that has just been created.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// The user.
    pub user: User,
    /// Its first key; nobody sees it again.
    pub api_key: String,
}

impl Platform {
    /// Whether the node has no user yet.
    pub async fn is_empty(&self) -> Result<bool, PlatformError> {
        Ok(!self.core.store.has_users().await?)
    }

    /// Makes the first user, the administrator, with a workspace of its own, unless there is a user.
    ///
    /// # Errors
    /// `Invalid` for a name or an address that no user may have.
    pub async fn create_first_user(
        &self,
        options: FirstUserOptions,
    ) -> Result<User, PlatformError> {
        let user = User {
            is_admin: true,
            ..self.new_user(options.username, options.email)?
        };
        let workspace = Workspace {
            id: self.core.env.id(WorkspaceId::new),
            orgname: user.username.to_ascii_lowercase().replace(['.', '_'], "-"),
            name: format!("{}'s workspace", user.username),
            email: user.email.clone(),
            created_at: user.created_at,
        };
        let key = self.first_key(&user, &options.api_key);
        let first = FirstUser {
            user,
            workspace,
            key,
        };
        let user = self.core.store.create_first_user(first).await?;
        let act = Act::new(AuditAction::UserCreate, "user", &user.id);
        let act = act
            .of_user(&user.id)
            .named(&user.username)
            .with("is_admin", true);
        self.record_of(nameless(ActorKind::Node), &Remote::default(), act)
            .await;
        Ok(user)
    }

    /// Creates a user with a key (`POST /users`). It is a member of nothing.
    ///
    /// # Errors
    /// `AdminOnly`; `Invalid` for a name or an address that no user may have, `Conflict` for a name that
    /// another one has.
    pub async fn create_user(
        &self,
        caller: &Caller,
        username: String,
        email: String,
    ) -> Result<NewUser, PlatformError> {
        caller.check_admin()?;
        let user = self.new_user(username, email)?;
        let api_key = keys::generate(&self.core.env);
        let key = self.first_key(&user, &api_key);
        self.core.store.create_user(user.clone(), key).await?;
        let act = Act::new(AuditAction::UserCreate, "user", &user.id);
        self.record(caller, act.of_user(&user.id).named(&user.username))
            .await;
        Ok(NewUser { user, api_key })
    }

    /// All users, in creation order.
    ///
    /// # Errors
    /// `AdminOnly`.
    pub async fn users(
        &self,
        caller: &Caller,
        page: &PageRequest<UserId>,
    ) -> Result<Page<User>, PlatformError> {
        caller.check_admin()?;
        Ok(self.core.store.users(page).await?)
    }

    /// Deletes a user with its keys, accounts, files and subscriptions. Things that it created in a workspace
    /// pass to another member.
    ///
    /// # Errors
    /// `AdminOnly`; `Conflict` for an administrator, or while the user has sources or webhooks of its own.
    pub async fn delete_user(&self, caller: &Caller, id: &UserId) -> Result<(), PlatformError> {
        caller.check_admin()?;
        let user = self.core.store.user(id).await?;
        let user = user.ok_or_else(|| PlatformError::not_found("user", id))?;
        if user.is_admin {
            let reason = format!("user `{id}` is the administrator and cannot be deleted");
            return Err(PlatformError::Conflict(reason));
        }
        if !self.core.store.delete_user(id).await? {
            return Err(PlatformError::not_found("user", id));
        }
        self.owners_changed();
        self.feeds.disconnect(|key| key.user_id == *id);
        self.files.delete_all(id.as_str()).await;
        let act = Act::new(AuditAction::UserDelete, "user", id);
        self.record(caller, act.of_user(id).named(&user.username))
            .await;
        Ok(())
    }

    /// The caller with its usage.
    pub async fn me(&self, caller: &Caller) -> Result<UserView, PlatformError> {
        let spender = Spender::User(caller.user_id().clone());
        let now_ms = self.core.env.now_ms();
        let plan = match self.core.config.plan {
            Plan::Free => {
                let mut workspaces = Vec::new();
                for workspace in &caller.identity.workspaces {
                    workspaces.push(self.workspace_view(workspace.clone()).await?);
                }
                PlanView::Free {
                    invocations_quota: self.core.config.daily_invocations_quota,
                    usage: self.core.store.usage(&spender, now_ms, now_ms).await?,
                    workspaces,
                }
            }
            Plan::Paid => {
                let (period_start_at, period_end_at) = month(now_ms);
                let since_ms = period_start_at.to_ms();
                PlanView::Paid {
                    period_start_at,
                    period_end_at,
                    usage: self.core.store.usage(&spender, since_ms, now_ms).await?,
                }
            }
        };
        Ok(UserView {
            identity: caller.identity.clone(),
            plan,
        })
    }

    /// Sources and endpoints are remembered with their owners.
    pub(crate) fn owners_changed(&self) {
        self.runners.reload_all();
        self.endpoints.forget_all();
    }

    fn new_user(&self, username: String, email: String) -> Result<User, PlatformError> {
        let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if username.is_empty() || username.len() > USERNAME_MAX || !username.chars().all(of_name) {
            let reason = format!(
                "a username has 1 to {USERNAME_MAX} letters, digits, dots, underscores and hyphens"
            );
            return Err(PlatformError::invalid("username", reason));
        }
        check_email(&email)?;
        Ok(User {
            id: self.core.env.id(UserId::new),
            username,
            email,
            is_admin: false,
            created_at: self.core.env.now_at(),
        })
    }

    fn first_key(&self, user: &User, api_key: &str) -> ApiKey {
        ApiKey {
            id: self.core.env.id(KeyId::new),
            user_id: user.id.clone(),
            name: "first".to_owned(),
            hash: key_hash(api_key),
            created_at: user.created_at,
            last_used_at: None,
        }
    }
}

/// The beginnings of the calendar month (UTC) and of the next one.
fn month(now_ms: EpochMs) -> (EpochSeconds, EpochSeconds) {
    let now = i64::try_from(now_ms.0)
        .ok()
        .and_then(DateTime::from_timestamp_millis);
    let first = now.unwrap_or_default().date_naive().with_day(1);
    let first = first.expect("every month has a first day");
    let at = |date: chrono::NaiveDate| {
        let at = date.and_time(NaiveTime::MIN).and_utc().timestamp();
        EpochSeconds(u64::try_from(at).unwrap_or_default())
    };
    (at(first), at(first + Months::new(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_billing_period_is_a_month_of_utc() {
        // 2023-11-14, the last second of 2023-12-31, and a February with 29 days.
        for (now_ms, (from, to)) in [
            (1_700_000_000_000, (1_698_796_800, 1_701_388_800)),
            (1_704_067_199_999, (1_701_388_800, 1_704_067_200)),
            (1_704_067_200_000, (1_704_067_200, 1_706_745_600)),
            (1_708_000_000_000, (1_706_745_600, 1_709_251_200)),
        ] {
            let period = (EpochSeconds(from), EpochSeconds(to));
            assert_eq!(month(EpochMs(now_ms)), period, "{now_ms}");
        }
    }
}
