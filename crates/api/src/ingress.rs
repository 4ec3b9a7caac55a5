//! Requests at the endpoints of HTTP interfaces: by path (`/e/{token}/…`) or by host
//! (`{token}.{domain}`), any method, no credentials but the token itself.
//!
//! Responsible for turning a request into the event that a component gets, and what the run says
//! into a response. Not responsible for queueing, running or deciding who answers.

mod address;
mod content;
mod event;
mod fields;
mod multipart;
mod reply;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    http::request::Parts,
    response::{IntoResponse, Response},
};
use headwater_app::{App, AppError, IngressRequest};
use headwater_model::limits::INGRESS_BODY_BYTES;

pub(crate) use self::address::{EndpointDomain, PREFIX};
use self::event::Arrived;
use crate::{body, error::ApiError};

/// `/e/{token}` and everything below.
pub(crate) async fn at_path(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let whole = parts
        .uri
        .path_and_query()
        .map_or("", |whole| whole.as_str());
    let url = format!("{}{whole}", app.config().public_url);
    match address::split(parts.uri.path()) {
        Some((token, path)) => answer(&app, token, path, &url, &parts, body).await,
        None => ApiError::NoEndpoint.into_response(),
    }
}

/// Everything at `{token}.{domain}`.
pub(crate) async fn at_host(app: &Arc<App>, token: String, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let domain = app.config().endpoint_domain.as_deref().unwrap_or_default();
    let whole = parts
        .uri
        .path_and_query()
        .map_or("", |whole| whole.as_str());
    let url = format!("https://{token}.{domain}{whole}");
    answer(app, &token, parts.uri.path(), &url, &parts, body).await
}

async fn answer(
    app: &Arc<App>,
    token: &str,
    path: &str,
    url: &str,
    parts: &Parts,
    body: axum::body::Body,
) -> Response {
    let taken = async {
        let body = body::read(body, INGRESS_BODY_BYTES).await?;
        let arrived = Arrived {
            path,
            url,
            parts,
            client_ip: client_ip(parts),
            body: &body,
        };
        let event = arrived
            .event()
            .map_err(|error| AppError::Internal(error.to_string()))?;
        let token = token.to_owned();
        Ok(app.ingress(IngressRequest { token, event }).await?)
    };
    match taken.await {
        Ok(ingress) => reply::to(ingress),
        Err(ApiError::App(AppError::NotFound { .. })) => ApiError::NoEndpoint.into_response(),
        Err(error) => error.into_response(),
    }
}

/// The peer's address. Forwarding headers are in the event; whom to believe is the component's choice.
fn client_ip(parts: &Parts) -> Option<IpAddr> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map(|ConnectInfo(address)| address.ip().to_canonical())
}
