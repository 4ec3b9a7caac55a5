//! The deployments of a workflow: their list, the steps, blocks and files of one of them, and the way back to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use headwater_model::{
    id::{DeploymentId, WorkflowId},
    page::{Page, PageRequest},
    prop::PropDefinition,
    time::EpochMs,
};
use headwater_store::{Deployment, Source, Workflow, WorkflowState};
use headwater_workflow::definition::{Definition, NodeKind, SecretProps, TriggerConfig};
use serde::Deserialize;

use super::{
    DeployedWorkflow,
    folder::{DEFINITION_FILE, Folder, Restored},
    outline::{self, NodeOutline},
};
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
    /// The former deployment whose files it has, if it came from rolling back.
    pub restores: Option<DeploymentId>,
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

/// The part of a stored content that lists need; its files are passed over.
#[derive(Default, Deserialize)]
struct Origin {
    #[serde(default)]
    restores: Option<DeploymentId>,
}

impl DeploymentSummary {
    fn of(deployment: &Deployment, workflow: &Workflow) -> Self {
        let origin: Origin = serde_json::from_str(deployment.content.get()).unwrap_or_default();
        Self {
            id: deployment.id.clone(),
            created_at_ms: deployment.created_at_ms,
            is_current: deployment.id == workflow.deployment_id,
            restores: origin.restores,
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
        let deployment = self.deployment_of(id, deployment_id).await?;
        let content = Content::of(&deployment)?;
        let definition = content.definition()?;
        let secrets = self.secrets_of_steps(&content, &definition).await?;
        Ok(DeploymentView {
            deployment: DeploymentSummary::of(&deployment, &workflow),
            nodes: outline::of(&definition, &secrets),
            files: content.files.keys().cloned().collect(),
        })
    }

    /// The texts of a deployment's files by their paths; none if they are not kept. `workflow.yaml` is without values that may
    /// be secret, and without the tokens of triggers.
    ///
    /// # Errors
    /// As [`Platform::workflow_deployment`].
    pub async fn workflow_deployment_files(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        deployment_id: &DeploymentId,
    ) -> Result<BTreeMap<String, String>, PlatformError> {
        self.visible_workflow(caller, id).await?;
        let deployment = self.deployment_of(id, deployment_id).await?;
        let content = Content::of(&deployment)?;
        if content.files.is_empty() {
            return Ok(BTreeMap::new());
        }
        let definition = content.definition()?;
        let secrets = SecretProps {
            steps: self.secrets_of_steps(&content, &definition).await?,
            triggers: self.secrets_of_triggers(&content, &definition).await?,
        };
        let mut files = Arc::unwrap_or_clone(content.files);
        if let Some(text) = files.get_mut(DEFINITION_FILE) {
            let shown = secrets.left_out_of(text);
            *text = shown.map_err(|error| PlatformError::Internal(error.to_string()))?;
        }
        Ok(files)
    }

    /// Deploys the files of a former deployment again, as a new one with the code and packages that its steps had
    /// (`POST /workflows/{id}/roll_back`). Triggers stay on or off, and runs that have begun go on with theirs.
    ///
    /// # Errors
    /// `NotFound` as above, `Conflict` when new runs follow that deployment already or its files are not kept, otherwise
    /// those of [`Platform::deploy_workflow`], as which it may leave sources of triggers updated.
    pub async fn roll_back_workflow(
        self: &Arc<Self>,
        caller: &Caller,
        id: &WorkflowId,
        deployment_id: &DeploymentId,
    ) -> Result<DeployedWorkflow, PlatformError> {
        self.visible_workflow(caller, id).await?;
        let _turn = self.lifecycles.lock(&id.clone().into()).await;
        let present = self.visible_workflow(caller, id).await?;
        if present.deployment_id == *deployment_id {
            return Err(PlatformError::Conflict(format!(
                "new runs follow deployment `{deployment_id}` already; name a former one"
            )));
        }
        let former = self.deployment_of(id, deployment_id).await?;
        let mut folder = Folder::of_deployment(Restored {
            id: deployment_id.clone(),
            content: Content::of(&former)?,
            is_active: present.state == WorkflowState::Active,
        })?;
        folder.state.id = Some(id.clone());
        let target = (id.clone(), present.owner.clone(), Some(present));
        // Boxed as in a deployment.
        Box::pin(self.deploy_folder(caller, folder, target)).await
    }

    async fn deployment_of(
        &self,
        id: &WorkflowId,
        deployment_id: &DeploymentId,
    ) -> Result<Deployment, PlatformError> {
        let found = self.core.store.deployment(deployment_id).await?;
        let found = found.filter(|deployment| deployment.workflow_id == *id);
        found.ok_or_else(|| PlatformError::not_found("deployment", deployment_id))
    }

    /// The names of props that may be secret, by the namespaces of their steps: of a step that is switched off, and of one
    /// whose component is gone, all.
    async fn secrets_of_steps(
        &self,
        content: &Content,
        definition: &Definition,
    ) -> Result<BTreeMap<String, Vec<String>>, PlatformError> {
        let mut secrets = BTreeMap::new();
        for (_, node) in definition.paths() {
            let NodeKind::Step(step) = &node.kind else {
                continue;
            };
            let namespace = node.namespace.as_str();
            let component = match content.steps.get(namespace) {
                Some(id) => self.core.store.component(id).await?,
                None => None,
            };
            let props = component.map(|component| component.description.props);
            let names = undisclosed(step.props.keys(), props.iter().flatten());
            secrets.insert(namespace.to_owned(), names);
        }
        Ok(secrets)
    }

    /// The names of props that may be secret, by the places of the triggers, as the sources declare them now.
    async fn secrets_of_triggers(
        &self,
        content: &Content,
        definition: &Definition,
    ) -> Result<BTreeMap<usize, Vec<String>>, PlatformError> {
        let mut secrets = BTreeMap::new();
        let triggers = definition.triggers.iter().zip(&content.triggers);
        for (index, (trigger, id)) in triggers.enumerate() {
            let TriggerConfig::Source(trigger) = &trigger.config else {
                continue;
            };
            let source = match content.sources.get(id) {
                Some(source) => self.core.store.source(source).await?,
                None => None,
            };
            let props = match source {
                Some(source) => self.declared_by(source).await?,
                None => Vec::new(),
            };
            let names = undisclosed(trigger.props.keys(), &props);
            secrets.insert(index, names);
        }
        Ok(secrets)
    }

    /// The props of a source that is there: its component's, and those that were computed.
    async fn declared_by(&self, source: Source) -> Result<Vec<PropDefinition>, PlatformError> {
        let component = self.core.store.component(&source.spec.component_id).await?;
        let mut props = component.map_or_else(Vec::new, |component| component.description.props);
        props.extend(source.spec.dynamic_props);
        Ok(props)
    }
}

/// The names of values that are not shown: all but those of props that are declared and not secret.
fn undisclosed<'p>(
    names: impl IntoIterator<Item = &'p String>,
    declared: impl IntoIterator<Item = &'p PropDefinition>,
) -> Vec<String> {
    let declared = declared.into_iter();
    let open: BTreeSet<&str> = declared
        .filter(|prop| !prop.is_secret())
        .map(|prop| prop.name.as_str())
        .collect();
    let names = names.into_iter();
    let names = names.filter(|name| !open.contains(name.as_str()));
    names.cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn prop(definition: Value) -> PropDefinition {
        serde_json::from_value(definition).unwrap()
    }

    #[test]
    fn only_values_of_props_that_are_declared_open_are_shown() {
        let names = ["open", "hidden", "unknown"].map(str::to_owned);
        let declared = [
            prop(json!({"name": "open", "type": "string"})),
            prop(json!({"name": "hidden", "type": "string", "secret": true})),
        ];
        assert_eq!(undisclosed(&names, &declared), ["hidden", "unknown"]);
        assert_eq!(undisclosed(&names, &[]), names);
    }
}
