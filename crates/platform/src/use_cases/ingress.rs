//! Requests at HTTP interfaces.
//!
//! Without `customResponse` a request is queued durably before it is acknowledged. With it, the
//! run itself answers, and nothing is queued: a caller without an answer retries.

use std::sync::Arc;

use headwater_engine::Response;
use headwater_model::{
    endpoint::EndpointToken,
    id::{InvocationId, SourceId, UserId},
    time::EpochMs,
};
use headwater_store::{NewInvocation, Trigger};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{
    endpoints::{EndpointFacts, EndpointTarget, HttpTriggerFacts, no_endpoint},
    error::PlatformError,
    origin,
    platform::Platform,
    runner::{Command, CustomResponse, QueuedInvocation, Reply},
    workflows::{HttpEvent, NewRun, RunResponse},
};

/// A request as the component gets it.
#[derive(Debug)]
pub struct IngressRequest {
    /// The token of the URL.
    pub token: EndpointToken,
    /// The event `{method, path, query, headers, bodyRaw, body, …}` as JSON text.
    pub event: Box<RawValue>,
}

/// The way to answer a request.
#[derive(Debug)]
pub enum Ingress {
    /// It is durable and will run.
    Accepted,
    /// The response of `respond()`.
    Responded(Response),
    /// The run returned without `respond()`.
    NoResponse,
    /// The run threw before `respond()`.
    Threw,
    /// The run exceeded its time before `respond()`.
    TimedOut,
    /// A workflow will run.
    AcceptedByWorkflow,
    /// A workflow ran, or pauses, without `$.respond()`; the text says which.
    NoWorkflowResponse(&'static str),
    /// The trigger wants a bearer token that the request does not have.
    Unauthorized,
}

impl Platform {
    /// The user to whose source a request at an endpoint goes, if it is worth being read.
    ///
    /// # Errors
    /// `NotFound` when no active source has the endpoint.
    pub async fn find_endpoint(&self, token: &EndpointToken) -> Result<UserId, PlatformError> {
        Ok(self.endpoints.find(token).await?.user_id)
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
        let facts = self.endpoints.find(&request.token).await?;
        self.quotas.take_invocation(&facts.user_id).await?;
        let answered = self.accept(&facts, request).await;
        if answered.is_err() {
            self.quotas.give_invocation_back(&facts.user_id);
        }
        answered
    }

    async fn accept(
        self: &Arc<Self>,
        facts: &EndpointFacts,
        request: IngressRequest,
    ) -> Result<Ingress, PlatformError> {
        let (id, custom_response) = match &facts.target {
            EndpointTarget::Source {
                id,
                custom_response,
            } => (id, *custom_response),
            EndpointTarget::Workflow(facts) => {
                return self.accept_for_workflow(facts, &request.event).await;
            }
        };
        if custom_response {
            return self.answer(id, request.event).await;
        }
        let queued = self
            .runners
            .start(id, Trigger::Http, request.event, Reply::None)
            .await;
        match queued {
            Ok(()) => Ok(Ingress::Accepted),
            // The source was paused or deleted after its endpoint had been looked up.
            Err(PlatformError::Conflict(_)) => Err(no_endpoint(request.token.as_str())),
            Err(error) => Err(error),
        }
    }

    async fn accept_for_workflow(
        &self,
        facts: &HttpTriggerFacts,
        event: &RawValue,
    ) -> Result<Ingress, PlatformError> {
        let event = HttpEvent::read(event)?;
        if let Some(bearer) = &facts.bearer
            && !self
                .workflows
                .context()
                .is_borne(&facts.workflow, bearer, event.authorization())
                .await?
        {
            return Ok(Ingress::Unauthorized);
        }
        if event.has_flag("x-pd-notrigger") {
            return Ok(Ingress::AcceptedByWorkflow);
        }
        let new = NewRun {
            workflow: facts.workflow.id.clone(),
            trigger: Trigger::Http,
            via: Some(facts.trigger.to_string()),
            event: event.of_trigger()?,
            head: None,
            hops: 0,
        };
        if !facts.responds {
            self.workflows.queue(new).await?;
            return Ok(Ingress::AcceptedByWorkflow);
        }
        Ok(match self.workflows.respond(new).await? {
            RunResponse::Responded(response) => Ingress::Responded(response),
            RunResponse::None => Ingress::NoWorkflowResponse("No $.respond called in workflow"),
            RunResponse::Paused => {
                Ingress::NoWorkflowResponse("$.respond() not called for this invocation")
            }
        })
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
            id: self.core.env.id(InvocationId::new),
            runnable: id.clone().into(),
            trigger: Trigger::Http,
            via: None,
            event: event.into(),
            hops: 0,
            now_ms: self.core.env.now_ms(),
            due_at_ms: EpochMs(0),
            state: None,
            origin: origin::origin(),
        };
        let work = QueuedInvocation::new(invocation, Reply::Response(reply));
        self.runners.send(id, Command::Run(work));
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
