//! Requests at HTTP interfaces (design section 7, "HTTP interface").
//!
//! Without `customResponse` a request is queued durably before it is acknowledged. With it, the
//! run itself answers, and nothing is queued: who gets no answer knows that it must ask again.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use headwater_engine::Response;
use headwater_model::id::{InvocationId, SourceId, UserId};
use headwater_store::{Endpoint, NewInvocation, SavedComponent, Source, SourceState, Trigger};
use parking_lot::RwLock;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{
    error::PlatformError,
    origin,
    platform::Platform,
    runner::{CustomResponse, Reply, Work},
};

/// Endpoints remembered at once; beyond that they are looked up again.
const REMEMBERED: usize = 10_000;

/// A request as the component gets it.
#[derive(Debug)]
pub struct IngressRequest {
    /// The token of the URL.
    pub token: String,
    /// The event `{method, path, query, headers, bodyRaw, body, …}` as JSON text.
    pub event: Box<RawValue>,
}

/// How to answer a request.
#[derive(Debug)]
pub enum Ingress {
    /// It is durable and will run.
    Accepted,
    /// What `respond()` said.
    Responded(Response),
    /// The run returned without `respond()`.
    NoResponse,
    /// The run threw before `respond()`.
    Threw,
    /// The run exceeded its time before `respond()`.
    TimedOut,
}

/// What a request needs to know of its endpoint.
#[derive(Debug, Clone)]
pub(crate) struct EndpointFacts {
    source_id: SourceId,
    user_id: UserId,
    custom_response: bool,
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
#[derive(Default)]
pub(crate) struct Endpoints {
    by_token: RwLock<HashMap<String, EndpointFacts>>,
    /// Counts forgettings: what was looked up before one may no longer be so.
    forgotten: AtomicU64,
}

impl Endpoints {
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

    fn remember(&self, token: &str, facts: EndpointFacts, looked_up_at: u64) {
        let mut by_token = self.by_token.write();
        if self.forgotten.load(Ordering::Acquire) != looked_up_at {
            return;
        }
        if by_token.len() >= REMEMBERED {
            by_token.clear();
        }
        by_token.insert(token.to_owned(), facts);
    }
}

fn accepts(source: &Source) -> bool {
    matches!(
        source.state,
        SourceState::Active | SourceState::Deploying | SourceState::Updating
    )
}

impl Platform {
    /// The user to whose source a request at an endpoint goes, if it is worth being read.
    ///
    /// # Errors
    /// `NotFound` when no active source has the endpoint.
    pub async fn find_endpoint(&self, token: &str) -> Result<UserId, PlatformError> {
        Ok(self.endpoint(token).await?.user_id)
    }

    /// Takes a request at an HTTP interface.
    ///
    /// # Errors
    /// `NotFound` when no active source has the endpoint; `QuotaExceeded` when its user has had its
    /// invocations of the day; `Unavailable` when it cannot be queued or run now.
    pub async fn ingress(
        self: &Arc<Self>,
        request: IngressRequest,
    ) -> Result<Ingress, PlatformError> {
        let facts = self.endpoint(&request.token).await?;
        self.take_invocation(&facts.user_id).await?;
        let answered = self.take_in(&facts, request).await;
        if answered.is_err() {
            self.give_invocation_back(&facts.user_id);
        }
        answered
    }

    async fn take_in(
        self: &Arc<Self>,
        facts: &EndpointFacts,
        request: IngressRequest,
    ) -> Result<Ingress, PlatformError> {
        if facts.custom_response {
            return self.answer(&facts.source_id, request.event).await;
        }
        let queued = self
            .start_work(&facts.source_id, Trigger::Http, request.event, Reply::None)
            .await;
        match queued {
            Ok(()) => Ok(Ingress::Accepted),
            // The source was paused or deleted after its endpoint had been looked up.
            Err(PlatformError::Conflict(_)) => Err(no_endpoint(&request.token)),
            Err(error) => Err(error),
        }
    }

    async fn endpoint(&self, token: &str) -> Result<EndpointFacts, PlatformError> {
        if let Some(facts) = self.endpoints.by_token.read().get(token) {
            return Ok(facts.clone());
        }
        let looked_up_at = self.endpoints.forgotten.load(Ordering::Acquire);
        let source = self.store.source_by_endpoint(token).await?.filter(accepts);
        let source = source.ok_or_else(|| no_endpoint(token))?;
        let component = self.component_of(&source).await?;
        let prop = source
            .spec
            .endpoints
            .iter()
            .find(|endpoint| endpoint.token == token)
            .map(|endpoint| endpoint.prop.as_str());
        let facts = EndpointFacts::of(&source, &component, prop.unwrap_or_default());
        self.endpoints.remember(token, facts.clone(), looked_up_at);
        Ok(facts)
    }

    async fn answer(
        self: &Arc<Self>,
        id: &SourceId,
        event: Box<RawValue>,
    ) -> Result<Ingress, PlatformError> {
        if !self.runners.has_room(id) {
            let reason = "the source has more requests than it can answer";
            return Err(PlatformError::Unavailable(reason.to_owned()));
        }
        let (reply, response) = oneshot::channel();
        let invocation = NewInvocation {
            id: self.env.id(InvocationId::new),
            source_id: id.clone(),
            trigger: Trigger::Http,
            event: event.into(),
            hops: 0,
            now_ms: self.env.now_ms(),
            origin: origin::origin(),
        };
        let work = Work::new(invocation, Reply::Response(reply));
        self.run_work(id, work);
        let unavailable =
            || PlatformError::Unavailable("the source's worker could not answer".to_owned());
        match response.await.map_err(|_| unavailable())? {
            CustomResponse::Responded(response) => Ok(Ingress::Responded(response)),
            CustomResponse::NoResponse => Ok(Ingress::NoResponse),
            CustomResponse::Threw => Ok(Ingress::Threw),
            CustomResponse::TimedOut => Ok(Ingress::TimedOut),
            CustomResponse::Unavailable => Err(unavailable()),
            CustomResponse::NotRunning => Err(no_endpoint("")),
        }
    }
}

fn no_endpoint(token: &str) -> PlatformError {
    PlatformError::not_found("endpoint of an active source", token)
}
