//! Things of a workflow's owner that a run needs: other workflows by name, and variables.

use headwater_model::{id::WorkflowId, page::PageRequest};
use headwater_store::{Owner, RunnableFilter, Workflow};

use sha2::{Digest as _, Sha256};

use super::{bearer::Bearer, context::WorkflowContext};
use crate::error::PlatformError;

/// Workflows that are looked through at once.
const PAGE: u32 = 100;

impl WorkflowContext {
    /// The workflow of the same owner that a text names: its id, its name or its slug.
    ///
    /// # Errors
    /// `NotFound`, or `Conflict` when several have the name.
    pub(super) async fn find(
        &self,
        owner: &Owner,
        named: &str,
    ) -> Result<WorkflowId, PlatformError> {
        if let Ok(id) = named.parse() {
            let found = self.core.store.workflow(&id).await?;
            let found = found.filter(|found| found.owner.tenant() == owner.tenant());
            return found
                .map(|found| found.id)
                .ok_or_else(|| PlatformError::not_found("workflow", named));
        }
        let mut found = Vec::new();
        let mut next = Some(PageRequest::first(PAGE));
        while let Some(page) = next {
            let workflows = self
                .core
                .store
                .workflows(&filter(owner), &page)
                .await?
                .items;
            next = page.behind(&workflows, |workflow| workflow.id.clone());
            found.extend(
                workflows
                    .into_iter()
                    .filter(|one| one.name == named || one.name_slug == named),
            );
        }
        match &found[..] {
            [one] => Ok(one.id.clone()),
            [] => Err(PlatformError::not_found("workflow", named)),
            _ => Err(PlatformError::Conflict(format!(
                "{} workflows have the name `{named}`; name one by its id",
                found.len()
            ))),
        }
    }

    /// Whether a request has the bearer token that a trigger wants. Without the variable that has it, none does.
    ///
    /// # Errors
    /// The store cannot be read, or the variable cannot be opened.
    pub(crate) async fn is_borne(
        &self,
        workflow: &Workflow,
        wanted: &Bearer,
        authorization: Option<&str>,
    ) -> Result<bool, PlatformError> {
        let token = match wanted {
            Bearer::Token(token) => Some(token.clone()),
            Bearer::Variable(name) => self
                .variables
                .of(&workflow.owner)
                .await?
                .values
                .get(name)
                .cloned(),
        };
        let borne = authorization.and_then(|header| header.split_once(' '));
        let borne = borne.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        // Of hashes, because comparing the texts themselves tells by its time how much of them is right.
        Ok(match (token, borne) {
            (Some(token), Some((_, borne))) => {
                Sha256::digest(&token) == Sha256::digest(borne.trim())
            }
            _ => false,
        })
    }
}

/// All that the owner sees.
pub(crate) fn filter(owner: &Owner) -> RunnableFilter {
    match &owner.workspace_id {
        Some(id) => RunnableFilter::workspace(id.clone()),
        None => RunnableFilter::user(owner.user_id.clone()),
    }
}
