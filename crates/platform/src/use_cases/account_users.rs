//! The sources and workflows that use accounts, by their props and their steps' props, and their last success with them.

use std::collections::{BTreeMap, HashMap};

use headwater_model::{
    id::{AccountId, RunnableId, SourceId, WorkflowId, WorkspaceId},
    page::PageRequest,
    prop::ConfiguredProps,
    time::EpochMs,
};
use headwater_store::{RunRecord, RunnableFilter, Source, Wanted, Workflow};
use serde_json::Value;

use super::scanned::Scanned;
use crate::{
    caller::Caller, error::PlatformError, platform::Platform, use_cases::accounts::AccountView,
};

/// Sources or workflows whose last runs are read at once.
const HEALTH_READ_MAX: usize = 100;

/// A source or workflow that uses an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountUser {
    /// The source or workflow.
    pub runnable: RunnableId,
    /// Its name.
    pub name: String,
    /// The props that stand for the account; of a workflow, `STEP.PROP`.
    pub props: Vec<String>,
    /// The start of its last run, if that succeeded.
    pub succeeded_at_ms: Option<EpochMs>,
}

/// The sources and workflows that use the accounts of a workspace, or of the caller.
#[derive(Debug, Clone, Default)]
pub struct AccountUsers {
    by_account: HashMap<AccountId, Vec<AccountUser>>,
    /// Whether all sources and workflows were looked at; otherwise there may be others.
    pub is_whole: bool,
}

impl AccountUsers {
    /// Those that use an account, sources first, in the order of ids.
    pub fn of(&self, id: &AccountId) -> &[AccountUser] {
        self.by_account
            .get(id)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The last success with the credentials that an account has now, of a run that was given them: nothing shows better
    /// that the app takes them.
    pub fn proof(&self, view: &AccountView) -> Option<(&AccountUser, EpochMs)> {
        let checked_at = view.health.checked_at.unwrap_or_default();
        let since_ms = view.account.updated_at.max(checked_at).to_ms();
        let succeeded = self.of(&view.account.id).iter();
        succeeded
            .filter_map(|user| Some((user, user.succeeded_at_ms?)))
            .filter(|(_, at_ms)| *at_ms >= since_ms)
            .max_by_key(|(_, at_ms)| *at_ms)
    }
}

impl Platform {
    /// A page of the sources and workflows that use an account. The first 1,000 of each are looked at; steps whose
    /// expressions name an account are not known before they run.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn users_of_account(
        &self,
        caller: &Caller,
        id: &AccountId,
        page: &PageRequest<RunnableId>,
    ) -> Result<Scanned<AccountUser>, PlatformError> {
        let account = self.visible_account(caller, id).await?;
        let mut users = self
            .account_users(caller, account.owner.workspace_id)
            .await?;
        let found = users.by_account.remove(id).unwrap_or_default();
        Ok(Scanned::of(
            found,
            |user| &user.runnable,
            page,
            users.is_whole,
        ))
    }

    /// The sources and workflows of a workspace, or of the caller, that use accounts. The first 1,000 of each are looked
    /// at.
    ///
    /// # Errors
    /// `Forbidden` when the caller is not a member of the workspace.
    pub async fn account_users(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<AccountUsers, PlatformError> {
        let filter = self
            .runnables(caller, workspace_id, Wanted::default())
            .await?;
        let (sources, workflows) = tokio::try_join!(
            self.sources_with_accounts(&filter),
            self.workflows_with_accounts(&filter)
        )?;
        let mut users = AccountUsers {
            is_whole: sources.1 && workflows.1,
            ..AccountUsers::default()
        };
        for (accounts, user) in sources.0.into_iter().chain(workflows.0) {
            for (id, props) in accounts {
                let user = AccountUser {
                    props,
                    ..user.clone()
                };
                users.by_account.entry(id).or_default().push(user);
            }
        }
        Ok(users)
    }

    async fn sources_with_accounts(
        &self,
        filter: &RunnableFilter,
    ) -> Result<(Vec<(Accounts, AccountUser)>, bool), PlatformError> {
        let (sources, is_whole) = self.first_sources(filter).await?;
        let with_accounts = |source: Source| {
            let accounts = accounts_of(&source.spec.configured_props);
            (!accounts.is_empty()).then_some((accounts, source))
        };
        let using: Vec<_> = sources.into_iter().filter_map(with_accounts).collect();
        let mut users = Vec::with_capacity(using.len());
        for part in using.chunks(HEALTH_READ_MAX) {
            let ids: Vec<SourceId> = part.iter().map(|(_, source)| source.id.clone()).collect();
            let since_ms = self.core.env.now_ms();
            let health = self.core.store.sources_health(&ids, since_ms).await?;
            users.extend(part.iter().zip(health).map(|((accounts, source), health)| {
                let user = AccountUser {
                    runnable: source.id.clone().into(),
                    name: source.spec.name.clone(),
                    props: Vec::new(),
                    succeeded_at_ms: success(health.last_run.as_ref()),
                };
                (accounts.clone(), user)
            }));
        }
        Ok((users, is_whole))
    }

    async fn workflows_with_accounts(
        &self,
        filter: &RunnableFilter,
    ) -> Result<(Vec<(Accounts, AccountUser)>, bool), PlatformError> {
        let (workflows, is_whole) = self.first_workflows(filter).await?;
        let mut using = Vec::new();
        for workflow in workflows {
            let accounts = match self.accounts_of_workflow(&workflow).await {
                // Another workflow that cannot be read is nothing to these accounts.
                Err(PlatformError::Internal(error)) => {
                    tracing::error!(workflow_id = %workflow.id, error, "its accounts are not known");
                    continue;
                }
                accounts => accounts?,
            };
            if !accounts.is_empty() {
                using.push((accounts, workflow));
            }
        }
        let mut users = Vec::with_capacity(using.len());
        for part in using.chunks(HEALTH_READ_MAX) {
            let ids: Vec<WorkflowId> = part.iter().map(|(_, one)| one.id.clone()).collect();
            let health = self.core.store.workflows_health(&ids).await?;
            users.extend(
                part.iter()
                    .zip(health)
                    .map(|((accounts, workflow), health)| {
                        let user = AccountUser {
                            runnable: workflow.id.clone().into(),
                            name: workflow.name.clone(),
                            props: Vec::new(),
                            succeeded_at_ms: success(health.last_run.as_ref()),
                        };
                        (accounts.clone(), user)
                    }),
            );
        }
        Ok((users, is_whole))
    }

    async fn accounts_of_workflow(&self, workflow: &Workflow) -> Result<Accounts, PlatformError> {
        let mut accounts = Accounts::new();
        let Some(content) = self.content_of(workflow).await? else {
            return Ok(accounts);
        };
        for (prop, id) in content.accounts()? {
            accounts.entry(id).or_default().push(prop);
        }
        Ok(accounts)
    }
}

/// Accounts with the props that stand for them.
type Accounts = BTreeMap<AccountId, Vec<String>>;

fn accounts_of(configured: &ConfiguredProps) -> Accounts {
    let mut accounts = Accounts::new();
    for (prop, value) in configured {
        if let Some(id) = account_in(value) {
            accounts.entry(id).or_default().push(prop.clone());
        }
    }
    accounts
}

/// The account that a value of a prop names.
fn account_in(value: &Value) -> Option<AccountId> {
    value.get("authProvisionId")?.as_str()?.parse().ok()
}

/// The start of a run that succeeded.
fn success(run: Option<&RunRecord>) -> Option<EpochMs> {
    let ended = &run?.ended;
    (!ended.outcome.is_failure()).then_some(ended.started_at_ms)
}
