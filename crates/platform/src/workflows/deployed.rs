//! A deployment with everything that its runs need: the definition, and the components of its steps.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
};

use headwater_engine::{WorkerOwner, WorkerSpec};
use headwater_model::{
    hash::ArtifactHash,
    id::{ComponentId, DeploymentId},
    prop::ConfiguredProps,
};
use headwater_store::{Deployment, SavedComponent, Workflow};
use headwater_workflow::{
    definition::{Definition, NodeKind},
    template::compiled_literal,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{context::WorkflowContext, evaluator};
use crate::{artifact::ArtifactState, error::PlatformError, props::FinalProps};

/// The stored content of a deployment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Content {
    /// The folder's files by relative path.
    pub(crate) files: BTreeMap<String, String>,
    /// The saved component of each step by namespace.
    pub(crate) steps: BTreeMap<String, ComponentId>,
}

impl Content {
    /// The content of a stored deployment.
    ///
    /// # Errors
    /// `Internal` when it cannot be read.
    pub(crate) fn of(deployment: &Deployment) -> Result<Self, PlatformError> {
        serde_json::from_str(deployment.content.get()).map_err(|error| {
            PlatformError::Internal(format!("deployment `{}`: {error}", deployment.id))
        })
    }

    /// The definition in `workflow.yaml`.
    ///
    /// # Errors
    /// `Internal` when a deployment has none that can be read: it was read when it was deployed.
    pub(crate) fn definition(&self) -> Result<Definition, PlatformError> {
        let text = self.files.get("workflow.yaml").map_or("", String::as_str);
        let files: Vec<&str> = self.files.keys().map(String::as_str).collect();
        Definition::read(text, &files)
            .map_err(|error| PlatformError::Internal(format!("workflow.yaml: {error}")))
    }
}

/// A step of a deployment.
pub(crate) struct DeployedStep {
    pub(crate) component: SavedComponent,
    /// The props of the file that have no expressions, for credentials and the like.
    configured: ConfiguredProps,
    /// The props of the file, compiled.
    pub(crate) compiled: Map<String, Value>,
}

/// A deployment that is loaded.
pub(crate) struct Deployed {
    pub(crate) id: DeploymentId,
    pub(crate) workflow: Workflow,
    pub(crate) definition: Arc<Definition>,
    steps: HashMap<String, DeployedStep>,
}

impl Deployed {
    /// The step of that namespace.
    pub(crate) fn step(&self, namespace: &str) -> Option<&DeployedStep> {
        self.steps.get(namespace)
    }

    /// The worker that runs a step's code.
    pub(crate) fn worker(&self, context: &WorkflowContext, step: &DeployedStep, env: BTreeMap<String, String>) -> WorkerSpec {
        self.spec(context, step.component.artifact_hash.clone(), env)
    }

    /// The worker that evaluates expressions.
    pub(crate) fn evaluator(&self, context: &WorkflowContext, env: BTreeMap<String, String>) -> WorkerSpec {
        self.spec(context, evaluator::artifact().hash.clone(), env)
    }

    fn spec(&self, context: &WorkflowContext, code: ArtifactHash, env: BTreeMap<String, String>) -> WorkerSpec {
        WorkerSpec {
            owner: WorkerOwner::Step {
                deployment: self.id.clone(),
                code: code.clone(),
            },
            tenant: self.workflow.owner.tenant().into(),
            is_isolated: false,
            artifact_hash: code.clone(),
            env,
            state: Arc::new(ArtifactState {
                store: Arc::clone(&context.core.store),
                artifact_hash: code,
            }),
        }
    }
}

impl DeployedStep {
    /// The values that the host gives the step: credentials, data stores, defaults.
    ///
    /// # Errors
    /// As [`crate::props::Props::finals`].
    pub(crate) async fn finals(&self, context: &WorkflowContext) -> Result<FinalProps, PlatformError> {
        let definitions = &self.component.description.props;
        context.props.finals(definitions, &self.configured).await
    }
}

/// Deployments in use, so that runs of one share it.
#[derive(Default)]
pub(crate) struct Deployments {
    by_id: Mutex<HashMap<DeploymentId, Weak<Deployed>>>,
}

impl Deployments {
    /// A deployment, loaded if need be.
    ///
    /// # Errors
    /// `Internal` when it is not in the store, or one of its components is not.
    pub(crate) async fn get(
        &self,
        context: &WorkflowContext,
        workflow: &Workflow,
        id: &DeploymentId,
    ) -> Result<Arc<Deployed>, PlatformError> {
        if let Some(deployed) = self.by_id.lock().get(id).and_then(Weak::upgrade) {
            return Ok(deployed);
        }
        let deployed = Arc::new(load(context, workflow, id).await?);
        let mut by_id = self.by_id.lock();
        by_id.retain(|_, deployed| deployed.strong_count() > 0);
        by_id.insert(id.clone(), Arc::downgrade(&deployed));
        Ok(deployed)
    }
}

async fn load(context: &WorkflowContext, workflow: &Workflow, id: &DeploymentId) -> Result<Deployed, PlatformError> {
    let store = &context.core.store;
    let missing = |what: &str| PlatformError::Internal(format!("{what} of workflow `{}` is missing from the store", workflow.id));
    let deployment = store.deployment(id).await?.ok_or_else(|| missing("a deployment"))?;
    let content = Content::of(&deployment)?;
    let definition = Arc::new(content.definition()?);
    let mut steps = HashMap::new();
    for node in definition.nodes() {
        let NodeKind::Step(step) = &node.kind else { continue };
        let namespace = node.namespace.as_str();
        let component = content.steps.get(namespace).ok_or_else(|| missing("a step's component"))?;
        let component = store.component(component).await?.ok_or_else(|| missing("a step's component"))?;
        let literal = |(name, value): (&String, &Value)| Some((name.clone(), compiled_literal(value)?));
        let deployed = DeployedStep {
            component,
            configured: step.props.iter().filter_map(literal).collect(),
            compiled: step.props.clone(),
        };
        steps.insert(namespace.to_owned(), deployed);
    }
    Ok(Deployed {
        id: id.clone(),
        workflow: workflow.clone(),
        definition,
        steps,
    })
}
