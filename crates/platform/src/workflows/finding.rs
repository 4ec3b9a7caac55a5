//! Things of a workflow's owner that a run needs: other workflows by name, and variables.

use std::collections::BTreeMap;

use headwater_model::{
    id::WorkflowId,
    page::{PageRequest, Position},
};
use headwater_store::{Owner, SourceFilter, Workflow};

use super::context::WorkflowContext;
use crate::{error::PlatformError, secrets::variable_purpose};

/// Workflows that are looked through at once.
const PAGE: u32 = 100;

impl WorkflowContext {
    /// The workflow of the same owner that a text names: its id, its name or its slug.
    ///
    /// # Errors
    /// `NotFound`, or `Conflict` when several have the name.
    pub(super) async fn find(&self, from: &Workflow, named: &str) -> Result<WorkflowId, PlatformError> {
        if let Ok(id) = named.parse() {
            let found = self.core.store.workflow(&id).await?;
            let found = found.filter(|found| found.owner.tenant() == from.owner.tenant());
            return found.map(|found| found.id).ok_or_else(|| PlatformError::not_found("workflow", named));
        }
        let mut found = Vec::new();
        let mut page = PageRequest::first(PAGE);
        loop {
            let workflows = self.core.store.workflows(&filter(&from.owner), &page).await?.items;
            let is_last = workflows.len() < PAGE as usize;
            let last = workflows.last().map(|last| last.id.clone());
            found.extend(workflows.into_iter().filter(|one| one.name == named || one.name_slug == named));
            match last.filter(|_| !is_last) {
                Some(last) => page.position = Position::After(last),
                None => break,
            }
        }
        match &found[..] {
            [one] => Ok(one.id.clone()),
            [] => Err(PlatformError::not_found("workflow", named)),
            _ => Err(PlatformError::Conflict(format!(
                "{} workflows have the name `{named}`; name one by its id", found.len()
            ))),
        }
    }

    /// The environment of a workflow's steps: the variables of its owner, and who it is.
    ///
    /// # Errors
    /// The store cannot be read, or a variable cannot be opened.
    pub(super) async fn variables(&self, workflow: &Workflow) -> Result<BTreeMap<String, String>, PlatformError> {
        let mut variables = BTreeMap::new();
        let tenant = workflow.owner.tenant();
        for variable in self.core.store.variables(tenant).await? {
            let purpose = variable_purpose(tenant, &variable.name);
            let opened = self.secret_keys.open(&purpose, &variable.value)?;
            let value = String::from_utf8_lossy(&opened).into_owned();
            variables.insert(variable.name, value);
        }
        variables.insert("PIPEDREAM_WORKFLOW_ID".to_owned(), workflow.id.to_string());
        Ok(variables)
    }
}

/// All that the owner sees.
pub(crate) fn filter(owner: &Owner) -> SourceFilter {
    match &owner.workspace_id {
        Some(id) => SourceFilter::Workspace(id.clone()),
        None => SourceFilter::User(owner.user_id.clone()),
    }
}
