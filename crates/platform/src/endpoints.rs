//! Endpoints of HTTP interfaces: which source or workflow a token leads to, remembered so that a request costs no look-up.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use headwater_model::{
    endpoint::EndpointToken,
    id::{RunnableId, SourceId, TriggerId, UserId},
};
use headwater_store::{
    Endpoint, EndpointKind, SavedComponent, Source, SourceState, Workflow, WorkflowEndpoint,
    WorkflowState,
};
use parking_lot::RwLock;

use crate::{
    core::Core,
    error::PlatformError,
    workflows::{Content, bearer::Bearer},
};

/// Endpoints remembered at once; beyond that they are looked up again.
const REMEMBERED: usize = 10_000;

/// The facts about its endpoint that a request needs.
#[derive(Debug, Clone)]
pub(crate) struct EndpointFacts {
    pub(crate) user_id: UserId,
    pub(crate) target: EndpointTarget,
}

/// The runnable that an endpoint leads to.
#[derive(Debug, Clone)]
pub(crate) enum EndpointTarget {
    Source { id: SourceId, custom_response: bool },
    Workflow(Arc<HttpTriggerFacts>),
}

/// The facts about the HTTP trigger of a workflow.
#[derive(Debug)]
pub(crate) struct HttpTriggerFacts {
    pub(crate) workflow: Workflow,
    pub(crate) trigger: TriggerId,
    /// Whether the workflow answers, not the platform.
    pub(crate) responds: bool,
    pub(crate) bearer: Option<Bearer>,
}

impl EndpointFacts {
    fn of_source(source: &Source, component: &SavedComponent, prop: &str) -> Self {
        let mut props = component.description.props.iter();
        let definition = props.find(|definition| definition.name == prop);
        Self {
            user_id: source.owner.user_id.clone(),
            target: EndpointTarget::Source {
                id: source.id.clone(),
                custom_response: definition
                    .is_some_and(|definition| definition.flag("customResponse")),
            },
        }
    }

    fn runnable(&self) -> RunnableId {
        match &self.target {
            EndpointTarget::Source { id, .. } => id.clone().into(),
            EndpointTarget::Workflow(facts) => facts.workflow.id.clone().into(),
        }
    }
}

/// Endpoints by token, remembered so that a request costs no look-up in the store.
pub(crate) struct Endpoints {
    core: Arc<Core>,
    by_token: RwLock<HashMap<EndpointToken, EndpointFacts>>,
    /// Counts forgettings: a result looked up before one may no longer be true.
    forgotten: AtomicU64,
}

impl Endpoints {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            by_token: RwLock::default(),
            forgotten: AtomicU64::new(0),
        }
    }

    /// The facts of the endpoint with that token.
    ///
    /// # Errors
    /// `NotFound` when no active source has it.
    pub(crate) async fn find(&self, token: &EndpointToken) -> Result<EndpointFacts, PlatformError> {
        if let Some(facts) = self.by_token.read().get(token) {
            return Ok(facts.clone());
        }
        let looked_up_at = self.forgotten.load(Ordering::Acquire);
        let facts = match self.source_facts(token).await? {
            Some(facts) => facts,
            None => {
                let facts = self.workflow_facts(token).await?;
                facts.ok_or_else(|| no_endpoint(token.as_str()))?
            }
        };
        self.remember(token, facts.clone(), looked_up_at);
        Ok(facts)
    }

    async fn source_facts(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<EndpointFacts>, PlatformError> {
        let source = self.core.store.source_by_endpoint(token).await?;
        let Some(source) = source.filter(accepts) else {
            return Ok(None);
        };
        let component = self.core.component_of(&source).await?;
        let mut endpoints = source.spec.endpoints.iter();
        let endpoint = endpoints.find(|endpoint| endpoint.token == *token);
        let prop = endpoint.map_or("", |endpoint| endpoint.prop.as_str());
        Ok(Some(EndpointFacts::of_source(&source, &component, prop)))
    }

    async fn workflow_facts(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<EndpointFacts>, PlatformError> {
        let found = self.core.store.workflow_by_endpoint(token).await?;
        let is_open = |(workflow, endpoint): &(Workflow, WorkflowEndpoint)| {
            workflow.state == WorkflowState::Active && endpoint.kind == EndpointKind::Http
        };
        let Some((workflow, endpoint)) = found.filter(is_open) else {
            return Ok(None);
        };
        let Some(deployment) = self.core.store.deployment(&workflow.deployment_id).await? else {
            return Ok(None);
        };
        let http = Content::of(&deployment)?.http_trigger(&endpoint.trigger)?;
        Ok(http.map(|http| EndpointFacts {
            user_id: workflow.owner.user_id.clone(),
            target: EndpointTarget::Workflow(Arc::new(HttpTriggerFacts {
                bearer: http.bearer,
                responds: http.responds,
                trigger: endpoint.trigger,
                workflow,
            })),
        }))
    }

    /// Forgets a runnable's endpoints because its life changed.
    pub(crate) fn forget(&self, id: &RunnableId) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.by_token
            .write()
            .retain(|_, facts| facts.runnable() != *id);
    }

    /// Forgets all endpoints because owners changed.
    pub(crate) fn forget_all(&self) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.by_token.write().clear();
    }

    /// Makes the endpoints of a version answer before it is recorded: services verify the URL while its
    /// `activate` registers it. The settlement, or its failure, forgets them.
    pub(crate) fn announce(
        &self,
        source: &Source,
        component: &SavedComponent,
        endpoints: &[Endpoint],
    ) {
        let mut by_token = self.by_token.write();
        for endpoint in endpoints {
            let facts = EndpointFacts::of_source(source, component, &endpoint.prop);
            by_token.insert(endpoint.token.clone(), facts);
        }
    }

    fn remember(&self, token: &EndpointToken, facts: EndpointFacts, looked_up_at: u64) {
        let mut by_token = self.by_token.write();
        if self.forgotten.load(Ordering::Acquire) != looked_up_at {
            return;
        }
        if by_token.len() >= REMEMBERED {
            by_token.clear();
        }
        by_token.insert(token.clone(), facts);
    }
}

fn accepts(source: &Source) -> bool {
    matches!(
        source.state,
        SourceState::Active | SourceState::Deploying | SourceState::Updating
    )
}

/// The error of a token that leads to no active source.
pub(crate) fn no_endpoint(token: &str) -> PlatformError {
    PlatformError::not_found("endpoint of an active source", token)
}
