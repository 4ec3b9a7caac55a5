//! Things found by the little that somebody has of them: a deployment by its id alone, accounts and data stores by words
//! of their names.

use headwater_model::{
    id::{DeploymentId, RunnableId, WorkspaceId},
    limits::PAGE_LIMIT_MAX,
    page::PageRequest,
};
use headwater_store::DataStore;

use crate::{
    caller::Caller, error::PlatformError, platform::Platform, use_cases::accounts::AccountView,
};

/// Pages of a list that are read for names, which no index has.
const PAGES_MAX: usize = 10;

fn has_all(name: &str, words: &[String]) -> bool {
    let name = name.to_lowercase();
    words.iter().all(|word| name.contains(word.as_str()))
}

impl Platform {
    /// The source or workflow whose deployment this is.
    ///
    /// # Errors
    /// `NotFound` when there is none that the caller can see.
    pub async fn deployed_by(
        &self,
        caller: &Caller,
        id: &DeploymentId,
    ) -> Result<RunnableId, PlatformError> {
        let unknown = || PlatformError::not_found("deployment", id);
        let store = &self.core.store;
        let (found, seen) = match store.deployment(id).await? {
            Some(deployment) => {
                let workflow = deployment.workflow_id;
                let seen = self.visible_workflow(caller, &workflow).await.map(drop);
                (RunnableId::Workflow(workflow), seen)
            }
            None => {
                let source = store.deployed_source(id).await?.ok_or_else(unknown)?;
                let seen = self.visible_source(caller, &source).await.map(drop);
                (RunnableId::Source(source), seen)
            }
        };
        match seen {
            Ok(()) => Ok(found),
            // Whose it is, is not told.
            Err(PlatformError::NotFound { .. }) => Err(unknown()),
            Err(error) => Err(error),
        }
    }

    /// Accounts of the caller, or of a workspace, whose name has all of the words, which are in small letters; among the
    /// first 1,000, in creation order.
    ///
    /// # Errors
    /// Those of a workspace of which the caller is not a member.
    pub async fn find_accounts(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        words: &[String],
    ) -> Result<Vec<AccountView>, PlatformError> {
        let mut found = Vec::new();
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        for _ in 0..PAGES_MAX {
            let Some(page) = next else { break };
            let read = self.accounts(caller, workspace_id.clone(), &page).await?;
            next = page.behind(&read.items, |view| view.account.id.clone());
            let named = read.items.into_iter();
            found.extend(named.filter(|view| has_all(&view.account.name, words)));
        }
        Ok(found)
    }

    /// Data stores of the caller, or of a workspace, whose name has all of the words, which are in small letters; in the
    /// order of names.
    ///
    /// # Errors
    /// Those of a workspace of which the caller is not a member.
    pub async fn find_data_stores(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        words: &[String],
    ) -> Result<Vec<DataStore>, PlatformError> {
        let mut found = Vec::new();
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        for _ in 0..PAGES_MAX {
            let Some(page) = next else { break };
            let read = self
                .data_stores(caller, workspace_id.clone(), &page)
                .await?;
            next = page.behind(&read.items, |store| store.name.clone());
            let named = read.items.into_iter();
            found.extend(named.filter(|store| has_all(store.name.as_str(), words)));
        }
        Ok(found)
    }
}
