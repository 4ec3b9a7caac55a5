//! Endpoints of HTTP interfaces: which source a token leads to, remembered so that a request costs no look-up.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use headwater_model::{
    endpoint::EndpointToken,
    id::{SourceId, UserId},
};
use headwater_store::{Endpoint, SavedComponent, Source, SourceState};
use parking_lot::RwLock;

use crate::{core::Core, error::PlatformError};

/// Endpoints remembered at once; beyond that they are looked up again.
const REMEMBERED: usize = 10_000;

/// The facts about its endpoint that a request needs.
#[derive(Debug, Clone)]
pub(crate) struct EndpointFacts {
    pub(crate) source_id: SourceId,
    pub(crate) user_id: UserId,
    pub(crate) custom_response: bool,
}

impl EndpointFacts {
    fn of(source: &Source, component: &SavedComponent, prop: &str) -> Self {
        let mut props = component.description.props.iter();
        let definition = props.find(|definition| definition.name == prop);
        Self {
            source_id: source.id.clone(),
            user_id: source.owner.user_id.clone(),
            custom_response: definition.is_some_and(|definition| definition.flag("customResponse")),
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
        let source = self
            .core
            .store
            .source_by_endpoint(token)
            .await?
            .filter(accepts);
        let source = source.ok_or_else(|| no_endpoint(token.as_str()))?;
        let component = self.core.component_of(&source).await?;
        let prop = source
            .spec
            .endpoints
            .iter()
            .find(|endpoint| endpoint.token == *token)
            .map(|endpoint| endpoint.prop.as_str());
        let facts = EndpointFacts::of(&source, &component, prop.unwrap_or_default());
        self.remember(token, facts.clone(), looked_up_at);
        Ok(facts)
    }

    /// Forgets a source's endpoints because its life changed.
    pub(crate) fn forget(&self, id: &SourceId) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.by_token
            .write()
            .retain(|_, facts| facts.source_id != *id);
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
            let facts = EndpointFacts::of(source, component, &endpoint.prop);
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
