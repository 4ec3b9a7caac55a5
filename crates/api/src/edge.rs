//! The steps of every request before it is routed and of every response before it leaves: the request
//! id, hosts and paths that are endpoints, trailing slashes, panics. Knows no other route.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{Method, StatusCode, Uri, uri::PathAndQuery},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use headwater_model::{endpoint::EndpointToken, origin::Origin};
use headwater_platform::{Attribute, NewSpan, Platform, Span, SpanKind};

use crate::{
    error::{self, ApiError},
    ingress::{self, EndpointDomain, IngressState, Place},
    metrics::Metrics,
    request_id::RequestId,
    routes::{files, waits},
};

/// The prefix of a workflow's stream, and of its other name.
const WORKFLOWS: &str = "/v1/workflows/";
const PIPELINES: &str = "/v1/pipelines/";

/// The parts of the node that the edge needs.
pub(crate) struct Edge {
    ingress: Arc<IngressState>,
    metrics: Arc<Metrics>,
    domain: Option<EndpointDomain>,
}

impl Edge {
    pub(crate) fn new(ingress: Arc<IngressState>, metrics: Arc<Metrics>) -> Self {
        let domain = EndpointDomain::of(ingress.platform.config());
        Self {
            ingress,
            metrics,
            domain,
        }
    }

    fn platform(&self) -> &Platform {
        &self.ingress.platform
    }

    /// The request's span, in the trace of its caller if it names one.
    fn begin_span(&self, request: &Request, is_endpoint: bool) -> Span {
        let header = request.headers().get("traceparent");
        let parent = header.and_then(|header| header.to_str().ok()?.parse().ok());
        let method = request.method().as_str();
        // Machines that look every few seconds whether the node is there would fill the collector.
        if !is_endpoint && !request.uri().path().starts_with("/v1") {
            return Span::unrecorded(parent);
        }
        self.platform().begin_span(NewSpan {
            name: if is_endpoint { "endpoint" } else { "api" },
            kind: SpanKind::Server,
            parent,
            attributes: &[
                ("http.request.method", Attribute::Text(method)),
                (
                    "url.path",
                    Attribute::Text(shown_path(request.uri().path(), is_endpoint)),
                ),
            ],
        })
    }

    fn endpoint_of_host(&self, request: &Request) -> Option<EndpointToken> {
        self.domain.as_ref()?.token(request)
    }
}

/// Takes a request in and lets its response out.
pub(crate) async fn receive(
    State(edge): State<Arc<Edge>>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let id = RequestId::of(request.headers(), edge.platform().environment());
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let endpoint = edge.endpoint_of_host(&request);
    let is_endpoint = endpoint.is_some() || uri.path().starts_with(ingress::PREFIX);
    let at_path = ingress::split(uri.path());
    let place = match endpoint {
        Some(_) => Place::Host,
        None => Place::Path {
            token: at_path.map_or("", |(token, _)| token),
        },
    };
    let span = edge.begin_span(&request, is_endpoint);
    let origin = Origin {
        request_id: Some(id.as_str().into()),
        trace: span.context(),
    };
    let answering = async {
        let answering = async {
            match (endpoint, at_path) {
                (Some(token), _) => ingress::at_host(&edge.ingress, token, request).await,
                // The busiest of all paths, and known by now: the router would match and copy it once more.
                (None, Some(at_path)) => ingress::at_path(&edge.ingress, at_path, request).await,
                (None, None) => {
                    trim_trailing_slash(request.uri_mut());
                    read_name_of_stream(request.uri_mut());
                    next.run(request).await
                }
            }
        };
        let answered = AssertUnwindSafe(answering).catch_unwind().await;
        answered.unwrap_or_else(|_| ApiError::Panicked.into_response())
    };
    let response = headwater_platform::on_behalf_of(origin, answering).await;
    let mut response = error::name_request(response, &id);
    let (status, time) = (response.status(), begun.elapsed());
    log_answer(&id, &method, shown_path(uri.path(), is_endpoint), status);
    id.write(response.headers_mut());
    if is_endpoint {
        edge.ingress.sites.seal(place, response.headers_mut());
    }
    end_span(span, status);
    match is_endpoint {
        true => edge.metrics.endpoint(&method, status, time),
        false => {
            let route = response.extensions_mut().remove::<MatchedPath>();
            let route = route.as_ref();
            edge.metrics.route(&method, route, status, time);
        }
    }
    response
}

fn end_span(span: Span, status: StatusCode) {
    let code = Attribute::Number(status.as_u16().into());
    let failure = status
        .is_server_error()
        .then_some("answered with a server error");
    span.end(&[("http.response.status_code", code)], failure);
}

/// A request that the node failed is worth a line; why, was said when it failed.
fn log_answer(id: &RequestId, method: &Method, path: &str, status: StatusCode) {
    let (request_id, method, status_code) = (id.as_str(), method.as_str(), status.as_u16());
    match status.is_server_error() {
        true => tracing::info!(
            request_id,
            method,
            path,
            status = status_code,
            "a request failed"
        ),
        false => tracing::debug!(request_id, method, path, status = status_code, "answered"),
    }
}

/// The path as it is logged: the token of an endpoint, of a wait or of a file is enough to call it, so it is left out.
fn shown_path(path: &str, is_endpoint: bool) -> &str {
    match is_endpoint {
        true => "/e/{token}",
        false if path.starts_with(waits::PREFIX) => "/w/{token}",
        false if path.starts_with(files::PREFIX) => "/f/{token}",
        false => path,
    }
}

/// Every route may be called with a slash at its end. Endpoints are spared: there the path is data.
fn trim_trailing_slash(uri: &mut Uri) {
    let path = uri.path();
    if !path.ends_with('/') || path.len() == 1 || path.starts_with(ingress::PREFIX) {
        return;
    }
    let trimmed = match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    };
    replace_path(uri, &trimmed);
}

/// The stream of a workflow has another name in Pipedream's API.
fn read_name_of_stream(uri: &mut Uri) {
    let named = uri.path().strip_prefix(PIPELINES);
    let id = named.and_then(|rest| rest.strip_suffix("/sse"));
    if let Some(path) = id.map(|id| format!("{WORKFLOWS}{id}/sse")) {
        replace_path(uri, &path);
    }
}

fn replace_path(uri: &mut Uri, path: &str) {
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    let changed = path_and_query.parse::<PathAndQuery>().ok().and_then(|new| {
        parts.path_and_query = Some(new);
        Uri::from_parts(parts).ok()
    });
    if let Some(changed) = changed {
        *uri = changed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_trimmed_except_at_endpoints() {
        for (given, expected) in [
            ("/v1/sources/", "/v1/sources"),
            ("/v1/sources/?limit=2", "/v1/sources?limit=2"),
            ("/v1/sources//", "/v1/sources"),
            ("/v1/", "/v1"),
            ("/", "/"),
            ("//", "/"),
            ("/e/token/a/b/", "/e/token/a/b/"),
            ("/e/token/", "/e/token/"),
            ("http://node/v1/users/me/", "http://node/v1/users/me"),
        ] {
            let mut uri: Uri = given.parse().unwrap();
            trim_trailing_slash(&mut uri);
            assert_eq!(uri, expected.parse::<Uri>().unwrap(), "{given}");
        }
    }

    #[test]
    fn the_stream_of_a_workflow_is_found_under_both_names() {
        for (given, expected) in [
            ("/v1/pipelines/p_1/sse", "/v1/workflows/p_1/sse"),
            (
                "/v1/pipelines/p_1/sse?channel=a",
                "/v1/workflows/p_1/sse?channel=a",
            ),
            ("/v1/pipelines/p_1", "/v1/pipelines/p_1"),
            ("/v1/pipelines", "/v1/pipelines"),
        ] {
            let mut uri: Uri = given.parse().unwrap();
            read_name_of_stream(&mut uri);
            assert_eq!(uri, expected.parse::<Uri>().unwrap(), "{given}");
        }
    }

    #[test]
    fn tokens_are_not_logged() {
        assert_eq!(shown_path("/e/secret/a", true), "/e/{token}");
        assert_eq!(shown_path("/w/secret/resume", false), "/w/{token}");
        assert_eq!(shown_path("/v1/users/me", false), "/v1/users/me");
    }
}
