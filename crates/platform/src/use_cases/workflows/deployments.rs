//! The deployments of a workflow: their list, and the steps and blocks of one of them.

use std::collections::BTreeMap;

use headwater_model::{
    id::{DeploymentId, WorkflowId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{Deployment, Workflow};

use super::outline::{self, NodeOutline};
use crate::{caller::Caller, error::PlatformError, platform::Platform, workflows::Content};

/// A deployment in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeploymentSummary {
    /// Its id.
    pub id: DeploymentId,
    /// When it was deployed, epoch milliseconds.
    pub created_at_ms: EpochMs,
    /// Whether new runs follow it.
    pub is_current: bool,
}

/// A deployment with its definition.
#[derive(Debug, Clone)]
pub struct DeploymentView {
    /// The deployment as lists have it.
    pub deployment: DeploymentSummary,
    /// The paths of the folder's files.
    pub files: Vec<String>,
    /// Its steps and blocks in the order of the file, those of blocks and handlers behind what they are in.
    pub nodes: Vec<NodeOutline>,
}

impl DeploymentSummary {
    fn of(deployment: &Deployment, workflow: &Workflow) -> Self {
        Self {
            id: deployment.id.clone(),
            created_at_ms: deployment.created_at_ms,
            is_current: deployment.id == workflow.deployment_id,
        }
    }
}

impl Platform {
    /// A page of a workflow's deployments, oldest first.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such workflow.
    pub async fn workflow_deployments(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<DeploymentSummary>, PlatformError> {
        let workflow = self.visible_workflow(caller, id).await?;
        let found = self.core.store.deployments(id, page).await?;
        let items = found.items.iter();
        Ok(Page {
            items: items
                .map(|deployment| DeploymentSummary::of(deployment, &workflow))
                .collect(),
            total_count: found.total_count,
        })
    }

    /// A deployment of a workflow: the given one, or the current one.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such workflow, and when it has no such deployment.
    pub async fn workflow_deployment(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        deployment_id: Option<&DeploymentId>,
    ) -> Result<DeploymentView, PlatformError> {
        let workflow = self.visible_workflow(caller, id).await?;
        let deployment_id = deployment_id.unwrap_or(&workflow.deployment_id);
        let found = self.core.store.deployment(deployment_id).await?;
        let found = found.filter(|deployment| deployment.workflow_id == *id);
        let deployment =
            found.ok_or_else(|| PlatformError::not_found("deployment", deployment_id))?;
        let content = Content::of(&deployment)?;
        let secrets = self.secret_props(&content).await?;
        Ok(DeploymentView {
            deployment: DeploymentSummary::of(&deployment, &workflow),
            nodes: outline::of(&content.definition()?, &secrets),
            files: content.files.keys().cloned().collect(),
        })
    }

    /// The names of secret props by the namespaces of their steps.
    async fn secret_props(
        &self,
        content: &Content,
    ) -> Result<BTreeMap<String, Vec<String>>, PlatformError> {
        let mut secrets = BTreeMap::new();
        for (namespace, id) in &content.steps {
            let component = self.core.store.component(id).await?;
            let props = component.map(|component| component.description.props);
            let names = props.into_iter().flatten();
            let names = names.filter(|prop| prop.is_secret()).map(|prop| prop.name);
            secrets.insert(namespace.clone(), names.collect());
        }
        Ok(secrets)
    }
}
