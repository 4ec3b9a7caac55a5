//! The sources and workflows that use a data store: those of its owner, by their props and their steps' props.

use headwater_model::{id::RunnableId, page::PageRequest};
use headwater_store::{DataStoreRef, RunnableFilter, RunnableScope, Wanted, Workflow};

use super::scanned::Scanned;
use crate::{
    caller::Caller, error::PlatformError, platform::Platform,
    use_cases::data_stores::NamedDataStore,
};

/// A source or workflow that uses a data store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataStoreUser {
    /// The source or workflow.
    pub runnable: RunnableId,
    /// Its name.
    pub name: String,
    /// The props that stand for the data store; of a workflow, `STEP.PROP`.
    pub props: Vec<String>,
}

impl Platform {
    /// A page of the sources and workflows whose props name a data store, sources first, in the order of ids. Of workflows
    /// the first 1,000 of the owner are looked at; steps whose expressions name it are not known before they run.
    ///
    /// # Errors
    /// `NotFound` for a data store that nothing was ever written to.
    pub async fn data_store_users(
        &self,
        caller: &Caller,
        named: &NamedDataStore,
        page: &PageRequest<RunnableId>,
    ) -> Result<Scanned<DataStoreUser>, PlatformError> {
        let store = self.known_data_store(caller, named).await?;
        let now_ms = self.core.env.now_ms();
        if self.core.store.data_store(&store, now_ms).await?.is_none() {
            return Err(PlatformError::not_found("data store", &named.name));
        }
        let sources = self.core.store.data_store_sources(&store).await?;
        let mut users: Vec<_> = sources
            .into_iter()
            .map(|source| DataStoreUser {
                runnable: source.id.into(),
                name: source.name,
                props: source.props,
            })
            .collect();
        let (workflows, is_whole) = self.workflows_with(&store).await?;
        users.extend(workflows);
        Ok(Scanned::of(users, |user| &user.runnable, page, is_whole))
    }

    /// The workflows that use a data store, and whether all were looked at.
    async fn workflows_with(
        &self,
        store: &DataStoreRef,
    ) -> Result<(Vec<DataStoreUser>, bool), PlatformError> {
        let owner = &store.owner;
        let filter = RunnableFilter {
            scope: match &owner.workspace_id {
                Some(id) => RunnableScope::Workspace(id.clone()),
                None => RunnableScope::User(owner.user_id.clone()),
            },
            wanted: Wanted::default(),
        };
        let (workflows, is_whole) = self.first_workflows(&filter).await?;
        let mut users = Vec::new();
        // Those that the user deployed in a workspace use the workspace's data stores.
        for workflow in workflows
            .into_iter()
            .filter(|workflow| workflow.owner.tenant() == owner.tenant())
        {
            let stores = match self.data_stores_of(&workflow).await {
                // Another workflow that cannot be read is nothing to this data store.
                Err(PlatformError::Internal(error)) => {
                    tracing::error!(workflow_id = %workflow.id, error, "its data stores are not known");
                    continue;
                }
                stores => stores?,
            };
            let props: Vec<_> = stores
                .into_iter()
                .filter(|(_, name)| name == store.name.as_str())
                .map(|(prop, _)| prop)
                .collect();
            if !props.is_empty() {
                users.push(DataStoreUser {
                    runnable: workflow.id.into(),
                    name: workflow.name,
                    props,
                });
            }
        }
        Ok((users, is_whole))
    }

    /// The data stores of a workflow's steps, as `STEP.PROP` with the name.
    async fn data_stores_of(
        &self,
        workflow: &Workflow,
    ) -> Result<Vec<(String, String)>, PlatformError> {
        match self.content_of(workflow).await? {
            Some(content) => content.data_stores(&*self.core.store).await,
            None => Ok(Vec::new()),
        }
    }
}
