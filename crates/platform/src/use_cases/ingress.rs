//! Requests at HTTP interfaces.
//!
//! Without `customResponse` a request is queued durably before it is acknowledged. With it, the
//! run itself answers, and nothing is queued: a caller without an answer retries.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use headwater_engine::Response;
use headwater_model::{
    endpoint::EndpointToken,
    id::{InvocationId, SourceId, UserId},
    time::EpochMs,
};
use headwater_store::{NewInvocation, Owner, Trigger};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{
    endpoints::{EndpointFacts, EndpointTarget, HttpTriggerFacts, no_endpoint},
    error::PlatformError,
    files::{EVENT_FILE_KEPT, EventFile},
    origin,
    platform::Platform,
    runner::{Command, CustomResponse, QueuedInvocation, Reply},
    workflows::{Head, HttpEvent, NewRun, RunResponse, UploadPlace, with_urls},
};

/// The header, or parameter of the query, of a request that starts no run.
const NO_TRIGGER: &str = "x-pd-notrigger";
/// The same of a request of whose run only the record is kept.
const NO_STORE: &str = "x-pd-nostore";
/// The time that a body is kept as a file.
const RAW_BODY_KEPT: Duration = Duration::from_secs(30 * 60);
/// The time after which there may be room for files again.
const FILES_RETRY_S: u64 = 60;

/// A request as the component gets it.
#[derive(Debug)]
pub struct IngressRequest {
    /// The token of the URL.
    pub token: EndpointToken,
    /// The event as JSON text: `{method, path, query, headers, bodyRaw, body, …}` for a source, and in the shape of its
    /// trigger for a workflow.
    pub event: Box<RawValue>,
    /// Files that a workflow finds at URLs in its event.
    pub uploads: Vec<Upload>,
}

/// A file that came with a request.
#[derive(Debug, Clone)]
pub struct Upload {
    /// The place of its URL in the event.
    pub place: UploadPlace,
    /// The name that the sender gave it.
    pub filename: String,
    /// Its content.
    pub bytes: Bytes,
}

/// An endpoint that requests are taken at.
#[derive(Debug, Clone)]
pub struct FoundEndpoint {
    /// The user to whose source or workflow they go.
    pub user_id: UserId,
    /// Whether it is a workflow's.
    pub is_workflow: bool,
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
    /// The endpoint that a request goes to, if it is worth being read.
    ///
    /// # Errors
    /// `NotFound` when no active source or workflow has the endpoint.
    pub async fn find_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<FoundEndpoint, PlatformError> {
        let facts = self.endpoints.find(token).await?;
        Ok(FoundEndpoint {
            is_workflow: matches!(facts.target, EndpointTarget::Workflow(_)),
            user_id: facts.user_id,
        })
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
                return match self.accept_for_workflow(facts, request).await {
                    // It was turned off or deleted after its endpoint had been looked up.
                    Err(PlatformError::Conflict(_)) => Err(no_endpoint("")),
                    answered => answered,
                };
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
        request: IngressRequest,
    ) -> Result<Ingress, PlatformError> {
        let event = HttpEvent::read(&request.event)?;
        if let Some(bearer) = &facts.bearer
            && !self
                .workflows
                .context()
                .is_borne(&facts.workflow, bearer, event.authorization())
                .await?
        {
            return Ok(Ingress::Unauthorized);
        }
        if event.has_flag(NO_TRIGGER) {
            return Ok(Ingress::AcceptedByWorkflow);
        }
        let head = event.has_flag(NO_STORE).then(|| Head {
            is_forgotten: true,
            ..Head::default()
        });
        let owner = &facts.workflow.owner;
        let (event, files) = self.with_uploads(owner, request).await?;
        let new = NewRun {
            workflow: facts.workflow.id.clone(),
            owner: owner.clone(),
            trigger: Trigger::Http,
            via: Some(facts.trigger.to_string()),
            event,
            head,
            hops: 0,
        };
        let answered = self.start_by_request(facts, new).await;
        // A node that stops has the run all the same.
        let is_refused = |error: &PlatformError| !matches!(error, PlatformError::Unavailable(_));
        if answered.as_ref().is_err_and(is_refused) {
            self.files.take_back(owner, &files).await;
        }
        answered
    }

    async fn start_by_request(
        &self,
        facts: &HttpTriggerFacts,
        new: NewRun,
    ) -> Result<Ingress, PlatformError> {
        if !facts.responds {
            self.workflows.queue(new).await?;
            return Ok(Ingress::AcceptedByWorkflow);
        }
        Ok(match self.workflows.respond(new).await? {
            RunResponse::Responded(response) => Ingress::Responded(response),
            RunResponse::Repeated => Ingress::AcceptedByWorkflow,
            RunResponse::None => Ingress::NoWorkflowResponse("No $.respond called in workflow"),
            RunResponse::Paused => {
                Ingress::NoWorkflowResponse("$.respond() not called for this invocation")
            }
        })
    }

    /// The event of a request with the URLs of its files, which are kept now.
    async fn with_uploads(
        &self,
        owner: &Owner,
        request: IngressRequest,
    ) -> Result<(Box<RawValue>, Vec<EventFile>), PlatformError> {
        if request.uploads.is_empty() {
            return Ok((request.event, Vec::new()));
        }
        let mut files = Vec::new();
        let mut urls = Vec::new();
        for upload in request.uploads {
            let kept = match upload.place {
                UploadPlace::RawBody => RAW_BODY_KEPT,
                UploadPlace::Field { .. } => EVENT_FILE_KEPT,
            };
            let put = self
                .files
                .put_for(owner, &upload.filename, upload.bytes, kept)
                .await;
            match put {
                Ok(file) => {
                    urls.push((upload.place, file.url.clone()));
                    files.push(file);
                }
                Err(error) => {
                    self.files.take_back(owner, &files).await;
                    return Err(no_room(error));
                }
            }
        }
        Ok((with_urls(&request.event, urls)?, files))
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

/// The error of a file that finds no room: the request may be sent again when there is some.
fn no_room(error: PlatformError) -> PlatformError {
    if let PlatformError::Conflict(reason) = error {
        return PlatformError::TooManyWaiting {
            reason,
            retry_after_s: FILES_RETRY_S,
        };
    }
    error
}
