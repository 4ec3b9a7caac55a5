//! Counters of requests, by the route's template, and `GET /metrics`.
//!
//! Endpoints of HTTP interfaces are busy: their counters are resolved at the start.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use headwater_platform::Platform;
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::{body::Bodies, connections::ConnectionCounts};

/// Upper bounds of how long an answer may take.
const SECONDS: [f64; 13] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0,
];
/// By [`method`]; an invented one must not add a counter.
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "other"];
/// By the status' hundreds.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// The route of every endpoint, by path or by host.
const ENDPOINTS: &str = "/e/{token}";
/// The route of requests that match no route.
const NOWHERE: &str = "none";
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Counters = Family<[(&'static str, String); 3], Counter>;
type Histograms = Family<[(&'static str, String); 2], Histogram, fn() -> Histogram>;

/// The counters since the node started.
pub(crate) struct Metrics {
    registry: Registry,
    bodies: Arc<Bodies>,
    /// The room that bodies take, as of the last look.
    body_bytes: Gauge,
    requests: Counters,
    seconds: Histograms,
    endpoints: [Counted; METHODS.len()],
}

/// The counters of one method of one route.
struct Counted {
    by_class: [Counter; CLASSES.len()],
    seconds: Histogram,
}

impl Metrics {
    pub(crate) fn new(connections: &ConnectionCounts, bodies: &Arc<Bodies>) -> Self {
        let mut registry = Registry::with_prefix("headwater");
        connections.register(&mut registry);
        let help = "Bytes of request bodies, and of the events created from them, in memory";
        let body_bytes = Gauge::default();
        registry.register_with_unit("http_bodies", help, Unit::Bytes, body_bytes.clone());
        let leading = Gauge::<i64>::default();
        leading.set(1);
        let help = "Whether this node has all work, and not another one of its cluster";
        registry.register("leading", help, leading);
        let requests = Counters::default();
        let help = "Requests answered, by route";
        registry.register("http_requests", help, requests.clone());
        let seconds = Histograms::new_with_constructor(|| Histogram::new(SECONDS));
        let help = "Time until the answer began";
        registry.register_with_unit(
            "http_request_duration",
            help,
            Unit::Seconds,
            seconds.clone(),
        );
        let endpoints = METHODS.map(|method| Counted {
            by_class: CLASSES
                .map(|class| requests.get_or_create_owned(&answer(method, ENDPOINTS, class))),
            seconds: seconds.get_or_create_owned(&call(method, ENDPOINTS)),
        });
        Self {
            registry,
            bodies: Arc::clone(bodies),
            body_bytes,
            requests,
            seconds,
            endpoints,
        }
    }

    /// A request at an endpoint was answered.
    pub(crate) fn endpoint(&self, given: &Method, status: StatusCode, time: Duration) {
        let counted = &self.endpoints[method(given)];
        counted.by_class[class(status)].inc();
        counted.seconds.observe(time.as_secs_f64());
    }

    /// Another request was answered, by this route if any.
    pub(crate) fn route(
        &self,
        given: &Method,
        route: Option<&MatchedPath>,
        status: StatusCode,
        time: Duration,
    ) {
        let route = route.map_or(NOWHERE, MatchedPath::as_str);
        let (method, class) = (METHODS[method(given)], CLASSES[class(status)]);
        self.requests
            .get_or_create(&answer(method, route, class))
            .inc();
        self.seconds
            .get_or_create(&call(method, route))
            .observe(time.as_secs_f64());
    }
}

fn call(method: &str, route: &str) -> [(&'static str, String); 2] {
    [("method", method.to_owned()), ("route", route.to_owned())]
}

fn answer(method: &str, route: &str, class: &str) -> [(&'static str, String); 3] {
    let [method, route] = call(method, route);
    [method, route, ("status", class.to_owned())]
}

/// The method's place among the counters.
fn method(method: &Method) -> usize {
    let other = METHODS.len() - 1;
    METHODS
        .iter()
        .position(|name| *name == method.as_str())
        .unwrap_or(other)
}

fn class(status: StatusCode) -> usize {
    usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1
}

/// Tells the edge which route answered.
pub(crate) async fn name_route(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(route);
    }
    response
}

/// All that the node counts: the platform's counts, and those of requests.
#[derive(Clone)]
pub(crate) struct Observed {
    pub(crate) platform: Arc<Platform>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Returns the node's metrics
///
/// Counts and no names, in the OpenMetrics text format.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "Node",
    security(()),
    responses((
        status = 200,
        description = "The counts.",
        body = String,
        content_type = "application/openmetrics-text",
    )),
)]
pub(crate) async fn show(
    State(Observed { platform, metrics }): State<Observed>,
) -> impl IntoResponse {
    let mut encoded = platform.metrics().await;
    let body_bytes = metrics.bodies.taken_bytes();
    metrics
        .body_bytes
        .set(i64::try_from(body_bytes).unwrap_or(i64::MAX));
    text::encode_registry(&mut encoded, &metrics.registry)
        .and_then(|()| text::encode_eof(&mut encoded))
        .expect("a String takes all text");
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_method_and_status_has_its_place() {
        for (name, counted_as) in [
            ("GET", "GET"),
            ("DELETE", "DELETE"),
            ("BREW", "other"),
            ("get", "other"),
        ] {
            let given = Method::from_bytes(name.as_bytes()).unwrap();
            assert_eq!(METHODS[method(&given)], counted_as);
        }
        for (status, counted_as) in [
            (101, "1xx"),
            (204, "2xx"),
            (404, "4xx"),
            (599, "5xx"),
            (999, "5xx"),
        ] {
            assert_eq!(
                CLASSES[class(StatusCode::from_u16(status).unwrap())],
                counted_as
            );
        }
    }
}
