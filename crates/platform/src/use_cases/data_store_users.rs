//! The sources and workflows that use a data store: those of its owner, by their props and their steps' props.

use headwater_model::{
    id::{DeploymentId, RunnableId},
    limits::PAGE_LIMIT_MAX,
    page::{Page, PageRequest, Position},
};
use headwater_store::{DataStoreRef, RunnableFilter, RunnableScope, Wanted};

use crate::{
    caller::Caller, error::PlatformError, platform::Platform,
    use_cases::data_stores::NamedDataStore, workflows::Content,
};

/// Pages of workflows that are looked at; each reads the workflow's deployment.
const PAGES_MAX: usize = 10;

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
    ) -> Result<Page<DataStoreUser>, PlatformError> {
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
        users.extend(self.workflows_with(&store).await?);
        Ok(page_of(users, page))
    }

    async fn workflows_with(
        &self,
        store: &DataStoreRef,
    ) -> Result<Vec<DataStoreUser>, PlatformError> {
        let owner = &store.owner;
        let filter = RunnableFilter {
            scope: match &owner.workspace_id {
                Some(id) => RunnableScope::Workspace(id.clone()),
                None => RunnableScope::User(owner.user_id.clone()),
            },
            wanted: Wanted::default(),
        };
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        let mut users = Vec::new();
        for _ in 0..PAGES_MAX {
            let Some(page) = next else { break };
            let workflows = self.core.store.workflows(&filter, &page).await?.items;
            next = page.behind(&workflows, |workflow| workflow.id.clone());
            // Those that the user deployed in a workspace use the workspace's data stores.
            for workflow in workflows
                .into_iter()
                .filter(|workflow| workflow.owner.tenant() == owner.tenant())
            {
                let stores = match self.data_stores_of(&workflow.deployment_id).await {
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
        }
        Ok(users)
    }

    /// The data stores of a deployment's steps, as `STEP.PROP` with the name.
    async fn data_stores_of(
        &self,
        id: &DeploymentId,
    ) -> Result<Vec<(String, String)>, PlatformError> {
        let store = &*self.core.store;
        let Some(deployment) = store.deployment(id).await? else {
            return Ok(Vec::new());
        };
        Content::of(&deployment)?.data_stores(store).await
    }
}

/// A page of users in the order of their ids.
fn page_of(users: Vec<DataStoreUser>, page: &PageRequest<RunnableId>) -> Page<DataStoreUser> {
    let total_count = users.len() as u64;
    let limit = page.limit as usize;
    let items = match &page.position {
        Position::First => users.into_iter().take(limit).collect(),
        Position::After(id) => {
            let after = users.into_iter().filter(|user| user.runnable > *id);
            after.take(limit).collect()
        }
        Position::Before(id) => {
            let mut before: Vec<_> = users
                .into_iter()
                .filter(|user| user.runnable < *id)
                .collect();
            before.split_off(before.len().saturating_sub(limit))
        }
    };
    Page { total_count, items }
}

#[cfg(test)]
mod tests {
    use headwater_model::{
        id::{SourceId, WorkflowId},
        time::EpochMs,
    };

    use super::*;

    #[test]
    fn users_are_paged_both_ways() {
        let source = |ms| RunnableId::from(SourceId::new(EpochMs(ms), 0));
        let ids = [source(1), source(2), WorkflowId::new(EpochMs(0), 0).into()];
        let page = |position| {
            let users = ids.clone().map(|runnable| DataStoreUser {
                runnable,
                name: String::new(),
                props: Vec::new(),
            });
            let page = page_of(users.into(), &PageRequest { limit: 2, position });
            assert_eq!(page.total_count, 3);
            let items = page.items.into_iter();
            items.map(|user| user.runnable).collect::<Vec<_>>()
        };
        assert_eq!(page(Position::First), ids[..2]);
        assert_eq!(page(Position::After(ids[1].clone())), ids[2..]);
        assert_eq!(page(Position::Before(ids[2].clone())), ids[..2]);
        assert_eq!(page(Position::Before(ids[1].clone())), ids[..1]);
    }
}
