//! The door of a node: hands requests to the platform while the node leads, and else to the node that does. While nobody
//! leads, requests wait.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures::StreamExt as _;
use headwater_api::unavailable;
use headwater_store::NodeName;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{
    address::NodeAddress,
    passing::{Passing, Unpassed, directed, misdirected},
};

/// The time that a request waits for a node that leads, besides the time in which a node gives its work up: longer than a
/// take-over.
const WAITS: Duration = Duration::from_secs(20);
/// The time between two tries to reach the node that leads.
const TRIED_EVERY: Duration = Duration::from_millis(200);
const NOBODY: &str = "no node leads at present: another one takes over within seconds; try again";
const LOST: &str = "the node that leads was lost while it answered, and the request may have been carried out: look \
                    before you send it again";

/// The part that this node has.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Nobody is known to lead.
    Waits,
    /// This node leads, with that interface, until its term is over.
    Leads(Router, CancellationToken),
    /// Another one leads.
    Follows(Followed),
}

/// The node that leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Followed {
    pub(super) name: NodeName,
    pub(super) address: NodeAddress,
}

/// The way of every request into the node.
#[derive(Clone)]
pub(super) struct Door(Arc<Inside>);

struct Inside {
    part: watch::Sender<Part>,
    passing: Passing,
    is_draining: AtomicBool,
    /// Whether the node that leads cannot be reached from here, though it lives.
    is_cut_off: AtomicBool,
    /// With a dot before it: hosts below it are endpoints, whose paths are not the node's.
    endpoints: Option<String>,
    stopping: CancellationToken,
    waits: Duration,
}

impl Door {
    /// A door whose streams end when `stopping` is cancelled.
    pub(super) fn new(
        passing: Passing,
        endpoint_domain: Option<&str>,
        stopping: CancellationToken,
        given_up_within: Duration,
    ) -> Self {
        Self(Arc::new(Inside {
            part: watch::Sender::new(Part::Waits),
            passing,
            is_draining: AtomicBool::new(false),
            is_cut_off: AtomicBool::new(false),
            endpoints: endpoint_domain.map(|domain| format!(".{domain}")),
            stopping,
            waits: given_up_within + WAITS,
        }))
    }

    /// Everything that the node serves.
    pub(super) fn router(&self) -> Router {
        let door = self.clone();
        Router::new().fallback(move |request: Request| {
            let door = door.clone();
            async move { door.answer(request).await }
        })
    }

    /// Gives the node another part. Requests that are being answered are not touched.
    pub(super) fn set(&self, part: Part) {
        self.0.part.send_replace(part);
    }

    /// The node that is followed.
    pub(super) fn followed(&self) -> Option<Followed> {
        match &*self.0.part.borrow() {
            Part::Follows(followed) => Some(followed.clone()),
            Part::Waits | Part::Leads(..) => None,
        }
    }

    /// Notes whether the node is to be left alone by proxies.
    pub(super) fn set_draining(&self, is_draining: bool) {
        self.0.is_draining.store(is_draining, Relaxed);
    }

    /// Notes whether the node that leads cannot be reached: proxies do better with another node then.
    pub(super) fn set_cut_off(&self, is_cut_off: bool) {
        let was = self.0.is_cut_off.swap(is_cut_off, Relaxed);
        if is_cut_off && !was {
            tracing::error!(
                "cannot reach the node that leads, though it lives: this node is not ready; look at --node-address of that one, and at the network between them"
            );
        }
    }

    /// Answers a request, here or elsewhere.
    pub(super) async fn answer(&self, mut request: Request) -> Response {
        let is_passed = self.0.passing.take_words(&mut request);
        if let Some(answer) = self.about_itself(&request) {
            return answer;
        }
        let give_up_at = Instant::now() + self.0.waits;
        let mut part = self.0.part.subscribe();
        loop {
            let now = part.borrow_and_update().clone();
            request = match now {
                Part::Leads(router, over) => return led(router, over, request).await,
                Part::Waits | Part::Follows(_) if is_passed => {
                    return misdirected(unavailable(NOBODY));
                }
                Part::Waits => request,
                Part::Follows(leader) => {
                    let superseded = self.clone().superseded(leader.clone());
                    match self
                        .0
                        .passing
                        .pass(&leader.address, request, superseded)
                        .await
                    {
                        Ok(answer) => return self.bounded(answer, leader),
                        Err(Unpassed::Whole(request)) => *request,
                        Err(Unpassed::Begun) => return unavailable(LOST),
                    }
                }
            };
            if Instant::now() >= give_up_at {
                return unavailable(NOBODY);
            }
            let again_at = give_up_at.min(Instant::now() + TRIED_EVERY);
            let _ = timeout_at(again_at, part.changed()).await;
        }
    }

    /// Waits until another node than this leads, or none.
    pub(super) async fn superseded(self, leader: Followed) {
        let mut part = self.0.part.subscribe();
        let is_another =
            |part: &Part| !matches!(part, Part::Follows(followed) if *followed == leader);
        // The sender is in this door.
        let _ = part.wait_for(is_another).await;
    }

    /// The answer of another node; a stream of events ends with its lead, and with this node.
    fn bounded(&self, answer: Response, leader: Followed) -> Response {
        let kind = answer.headers().get(header::CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            return answer;
        }
        let (stopping, door) = (self.0.stopping.clone(), self.clone());
        let ended = async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = door.superseded(leader) => {}
            }
        };
        answer.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
    }

    /// The answer to a question about this node alone, while another one leads.
    fn about_itself(&self, request: &Request) -> Option<Response> {
        if self.is_of_endpoint(request) {
            return None;
        }
        let is_draining = self.0.is_draining.load(Relaxed);
        let part = self.0.part.borrow();
        match (request.uri().path(), &*part) {
            // A node that drains leads only where nobody else could.
            (_, Part::Leads(..)) => None,
            ("/readyz", _) if is_draining => {
                Some(state(StatusCode::SERVICE_UNAVAILABLE, "drains", None))
            }
            ("/readyz", Part::Follows(leader)) if self.0.is_cut_off.load(Relaxed) => Some(state(
                StatusCode::SERVICE_UNAVAILABLE,
                "cut off",
                Some(leader),
            )),
            ("/healthz", _) => Some(state(StatusCode::OK, "ok", None)),
            ("/readyz", Part::Follows(leader)) => Some(state(StatusCode::OK, "ok", Some(leader))),
            ("/readyz", Part::Waits) => {
                Some(state(StatusCode::SERVICE_UNAVAILABLE, "unavailable", None))
            }
            ("/metrics", _) => Some(metrics()),
            _ => None,
        }
    }

    fn is_of_endpoint(&self, request: &Request) -> bool {
        let named = request.headers().get(header::HOST);
        let named = named.and_then(|host| host.to_str().ok());
        let host = request.uri().host().or(named).unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
        let endpoints = self.0.endpoints.as_deref();
        endpoints.is_some_and(|domain| host.to_ascii_lowercase().ends_with(domain))
    }
}

fn state(code: StatusCode, status: &str, leader: Option<&Followed>) -> Response {
    let leader = leader.map(|leader| leader.name.as_str());
    let part = leader.map(|_| "follows");
    (
        code,
        axum::Json(json!({"status": status, "part": part, "leader": leader})),
    )
        .into_response()
}

/// The metrics of a node that has no work: that it has none.
fn metrics() -> Response {
    const TEXT: &str = "# HELP headwater_leading Whether this node has all work, and not another one of its cluster.\n\
                        # TYPE headwater_leading gauge\nheadwater_leading 0\n# EOF\n";
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], TEXT).into_response()
}

/// The answer of the platform. One that is not there when its term is over could be written beside the next one's work.
async fn led(router: Router, over: CancellationToken, request: Request) -> Response {
    tokio::select! {
        answered = router.oneshot(request) => match answered {
            Ok(answer) => directed(answer),
            Err(never) => match never {},
        },
        () = over.cancelled() => unavailable(LOST),
    }
}
