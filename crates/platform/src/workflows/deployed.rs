//! A deployment with everything that its runs need: the definition, and the components of its steps.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
};

use headwater_engine::{WorkerOwner, WorkerSpec, WorkerState};
use headwater_model::{
    hash::ArtifactHash,
    id::{AccountId, ComponentId, DeploymentId, SourceId, TriggerId},
    prop::{ConfiguredProps, PropKind},
};
use headwater_store::{Deployment, SavedComponent, Store, Workflow};
use headwater_workflow::{
    definition::{Definition, HttpResponse, NodeKind, StepCode, Template, TriggerConfig},
    template::compiled_literal,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    account_masks::UsedAuth,
    bearer::Bearer,
    evaluator::{self, EvaluatorState},
    step_state::StepState,
    variables::Opened,
};
use crate::{
    artifact::ArtifactState,
    core::Core,
    error::PlatformError,
    props::{FinalProps, Props},
};

/// The place of expressions; no hash and no namespace is like it.
const EVALUATOR: &str = "expressions";
/// The call that answers a request.
const RESPOND: &str = "$.respond";
/// The action that makes it.
const RESPONDING_ACTION: &str = "http-return-http-response";

/// The stored content of a deployment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Content {
    /// The folder's files by relative path.
    pub(crate) files: Arc<BTreeMap<String, String>>,
    /// The saved component of each step by namespace.
    pub(crate) steps: BTreeMap<String, ComponentId>,
    /// The ids of the triggers, in the order of the file.
    pub(crate) triggers: Vec<TriggerId>,
    /// The sources that the workflow deployed, by trigger.
    #[serde(default)]
    pub(crate) sources: BTreeMap<TriggerId, SourceId>,
    /// The former deployment whose files these are, if it came from rolling back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restores: Option<DeploymentId>,
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

/// The HTTP trigger of a deployment.
pub(crate) struct HttpTrigger {
    /// Whether the workflow answers.
    pub(crate) responds: bool,
    pub(crate) bearer: Option<Bearer>,
}

impl Content {
    /// The HTTP trigger with that id, if there is one.
    ///
    /// # Errors
    /// As [`Content::definition`].
    pub(crate) fn http_trigger(
        &self,
        id: &TriggerId,
    ) -> Result<Option<HttpTrigger>, PlatformError> {
        let definition = self.definition()?;
        let mut triggers = definition.triggers.iter().zip(&self.triggers);
        let found = triggers
            .find(|(_, known)| *known == id)
            .map(|(trigger, _)| &trigger.config);
        let Some(TriggerConfig::Http(http)) = found else {
            return Ok(None);
        };
        let responds = match http.respond {
            Some(respond) => respond == HttpResponse::Workflow,
            None => self.has_response(&definition),
        };
        Ok(Some(HttpTrigger {
            responds,
            bearer: http.bearer.as_ref().and_then(Bearer::of),
        }))
    }

    /// The data stores of steps, as `STEP.PROP` with the name; without those that an expression names in each run.
    ///
    /// # Errors
    /// As [`Content::definition`], and those of the store.
    pub(crate) async fn data_stores(
        &self,
        store: &dyn Store,
    ) -> Result<Vec<(String, String)>, PlatformError> {
        let definition = self.definition()?;
        let mut found = Vec::new();
        for node in definition.nodes().filter(|node| !node.is_disabled) {
            let NodeKind::Step(step) = &node.kind else {
                continue;
            };
            let namespace = node.namespace.as_str();
            let Some(id) = self.steps.get(namespace) else {
                continue;
            };
            let component = store.component(id).await?;
            let props = component.into_iter().flat_map(|one| one.description.props);
            for prop in props.filter(|prop| prop.kind() == PropKind::DataStore) {
                let given = step.props.get(&prop.name);
                let literal = given.map(|given| compiled_literal(given).map(named));
                let value = literal.unwrap_or_else(|| prop.default_value().cloned());
                if let Some(Value::String(name)) = value {
                    found.push((format!("{namespace}.{}", prop.name), name));
                }
            }
        }
        Ok(found)
    }

    /// The accounts of steps, as `STEP.PROP` with the id; without those that an expression names in each run.
    ///
    /// # Errors
    /// As [`Content::definition`].
    pub(crate) fn accounts(&self) -> Result<Vec<(String, AccountId)>, PlatformError> {
        let definition = self.definition()?;
        let mut found = Vec::new();
        for node in definition.nodes().filter(|node| !node.is_disabled) {
            let NodeKind::Step(step) = &node.kind else {
                continue;
            };
            for (prop, given) in &step.props {
                let literal = compiled_literal(given);
                let id =
                    literal.and_then(|value| value.get("authProvisionId")?.as_str()?.parse().ok());
                found.extend(id.map(|id| (format!("{}.{prop}", node.namespace.as_str()), id)));
            }
        }
        Ok(found)
    }

    /// Whether a step responds, as far as its code tells.
    fn has_response(&self, definition: &Definition) -> bool {
        definition.nodes().any(|node| {
            let NodeKind::Step(step) = &node.kind else {
                return false;
            };
            match &step.code {
                StepCode::Inline(text) => text.contains(RESPOND),
                StepCode::File(path) => self
                    .files
                    .get(path)
                    .is_some_and(|text| text.contains(RESPOND)),
                StepCode::Component(reference) => reference.key == RESPONDING_ACTION,
                StepCode::Foreign { .. } => false,
            }
        })
    }
}

/// A step of a deployment.
pub(crate) struct DeployedStep {
    namespace: String,
    pub(crate) component: SavedComponent,
    /// The props of the file that stand for something of the node: accounts and data stores.
    configured: ConfiguredProps,
    /// The props of the file, compiled.
    pub(crate) compiled: Map<String, Value>,
}

/// A deployment that is loaded.
pub(crate) struct Deployed {
    pub(crate) id: DeploymentId,
    pub(crate) workflow: Workflow,
    pub(crate) definition: Arc<Definition>,
    /// The ids of its triggers, in their order.
    triggers: Vec<TriggerId>,
    steps: HashMap<String, DeployedStep>,
}

impl Deployed {
    /// The step of that namespace.
    pub(crate) fn step(&self, namespace: &str) -> Option<&DeployedStep> {
        self.steps.get(namespace)
    }

    /// The expression for the idempotency key of a trigger's events.
    pub(crate) fn idempotency_key(&self, trigger: &str) -> Option<&Template> {
        let mut triggers = self.definition.triggers.iter().zip(&self.triggers);
        let (found, _) = triggers.find(|(_, id)| id.as_str() == trigger)?;
        found.idempotency_key.as_ref()
    }

    /// The worker that runs a step's code.
    pub(crate) fn worker(
        &self,
        core: &Core,
        step: &DeployedStep,
        variables: &Opened,
    ) -> WorkerSpec {
        let store = &core.store;
        let hash = step.component.artifact_hash.clone();
        let definitions = &step.component.description.props;
        match definitions.iter().any(|prop| prop.kind() == PropKind::Db) {
            true => {
                let state = StepState {
                    store: Arc::clone(store),
                    artifact_hash: hash.clone(),
                    workflow: self.workflow.id.clone(),
                    namespace: step.namespace.clone(),
                };
                self.spec(core, (&step.namespace, hash), Arc::new(state), variables)
            }
            false => self.stateless(core, hash, variables),
        }
    }

    /// The worker that evaluates expressions.
    pub(crate) fn evaluator(&self, core: &Core, variables: &Opened) -> WorkerSpec {
        let hash = evaluator::artifact().hash.clone();
        self.spec(core, (EVALUATOR, hash), Arc::new(EvaluatorState), variables)
    }

    fn stateless(&self, core: &Core, hash: ArtifactHash, variables: &Opened) -> WorkerSpec {
        let state = ArtifactState {
            store: Arc::clone(&core.store),
            artifact_hash: hash.clone(),
            key_values: Map::new(),
        };
        let code = hash.as_str().to_owned();
        self.spec(core, (&code, hash), Arc::new(state), variables)
    }

    fn spec(
        &self,
        core: &Core,
        (sharing, artifact_hash): (&str, ArtifactHash),
        state: Arc<dyn WorkerState>,
        variables: &Opened,
    ) -> WorkerSpec {
        let mut env = variables.values.clone();
        env.insert(
            "PIPEDREAM_WORKFLOW_ID".to_owned(),
            self.workflow.id.to_string(),
        );
        WorkerSpec {
            owner: WorkerOwner::Step {
                deployment: self.id.clone(),
                // A place has the environment that it was loaded with.
                place: format!("{sharing} {}", variables.fingerprint).into(),
            },
            tenant: self.workflow.owner.tenant().into(),
            is_isolated: false,
            // The node may have permitted more when it was deployed.
            heap_mib: (self.definition.settings.memory_mb)
                .map(|mib| mib.min(core.config.workflow_memory_max_mib)),
            artifact_hash,
            env,
            state,
        }
    }
}

impl DeployedStep {
    /// The values that the host gives the step: credentials, data stores, and defaults of props that the file leaves out.
    /// The worker reads those that it has, with their expressions and in the types of their definitions.
    ///
    /// # Errors
    /// As [`crate::props::Props::finals`].
    pub(crate) async fn finals(&self, props: &Props) -> Result<FinalProps, PlatformError> {
        let definitions = &self.component.description.props;
        let mut finals = props.finals(definitions, &self.configured).await?;
        let is_given =
            |name: &str| self.configured.contains_key(name) || !self.compiled.contains_key(name);
        finals.values.retain(|name, _| is_given(name));
        Ok(finals)
    }
}

impl DeployedStep {
    /// The accounts that it uses, with the fields that it gets of them.
    pub(super) fn auths<'a>(&self, finals: &'a FinalProps) -> Vec<UsedAuth<'a>> {
        let auths = self.configured.iter().filter_map(|(prop, configured)| {
            let fields = finals.values.get(prop)?.get("$auth")?.as_object()?;
            let account = configured.get("authProvisionId")?.as_str()?.parse().ok()?;
            Some(UsedAuth { account, fields })
        });
        auths.collect()
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
        store: &dyn Store,
        workflow: &Workflow,
        id: &DeploymentId,
    ) -> Result<Arc<Deployed>, PlatformError> {
        if let Some(deployed) = self.by_id.lock().get(id).and_then(Weak::upgrade) {
            return Ok(deployed);
        }
        let deployed = Arc::new(load(store, workflow, id).await?);
        let mut by_id = self.by_id.lock();
        by_id.retain(|_, deployed| deployed.strong_count() > 0);
        by_id.insert(id.clone(), Arc::downgrade(&deployed));
        Ok(deployed)
    }
}

async fn load(
    store: &dyn Store,
    workflow: &Workflow,
    id: &DeploymentId,
) -> Result<Deployed, PlatformError> {
    let missing = |what: &str| {
        PlatformError::Internal(format!(
            "{what} of workflow `{}` is missing from the store",
            workflow.id
        ))
    };
    let deployment = store
        .deployment(id)
        .await?
        .ok_or_else(|| missing("a deployment"))?;
    let content = Content::of(&deployment)?;
    let definition = Arc::new(content.definition()?);
    let mut steps = HashMap::new();
    for node in definition.nodes().filter(|node| !node.is_disabled) {
        let NodeKind::Step(step) = &node.kind else {
            continue;
        };
        let namespace = node.namespace.as_str();
        let component = content
            .steps
            .get(namespace)
            .ok_or_else(|| missing("a step's component"))?;
        let component = store
            .component(component)
            .await?
            .ok_or_else(|| missing("a step's component"))?;
        let definitions = component.description.props.iter();
        let of_the_node = definitions
            .filter(|prop| matches!(prop.kind(), PropKind::App | PropKind::DataStore))
            .filter_map(|prop| {
                let value = compiled_literal(step.props.get(&prop.name)?)?;
                Some((prop.name.clone(), named(value)))
            });
        let configured = of_the_node.collect();
        let deployed = DeployedStep {
            namespace: namespace.to_owned(),
            component,
            configured,
            compiled: step.props.clone(),
        };
        steps.insert(namespace.to_owned(), deployed);
    }
    Ok(Deployed {
        id: id.clone(),
        workflow: workflow.clone(),
        definition,
        triggers: content.triggers,
        steps,
    })
}

/// The name of a data store, which files of workflows write as `{storeId}`; other values are themselves.
fn named(value: Value) -> Value {
    match value.get("storeId") {
        Some(Value::String(name)) => Value::from(name.clone()),
        _ => value,
    }
}
