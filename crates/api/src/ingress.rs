//! Requests at the endpoints of HTTP interfaces: by path (`/e/{token}/…`) or by host
//! (`{token}.{domain}`), any method, no credentials but the token itself.
//!
//! Responsible for turning a request into the event that a component gets, and the run's answer into a
//! response. Not responsible for queueing, running or deciding who answers. Requests that answer waits of workflows
//! become events in the same way.

mod address;
mod content;
mod cors;
mod event;
mod fields;
mod multipart;
mod reply;
mod site;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
    http::{Extensions, HeaderMap, Method, request::Parts, uri::PathAndQuery},
    response::{IntoResponse, Response},
};
use headwater_model::{
    endpoint::EndpointToken,
    limits::{INGRESS_BODY_BYTES, INGRESS_EVENT_BYTES},
};
use headwater_platform::{
    FoundEndpoint, Ingress, IngressRequest, Platform, PlatformError, Upload, UploadPlace,
};
use serde_json::value::RawValue;
use url::form_urlencoded;

use self::event::Arrived;
pub(crate) use self::{
    address::{EndpointDomain, PREFIX, split},
    site::{Place, Sites},
};
use crate::{
    body::{self, Bodies, Room},
    error::ApiError,
};

/// The header in which proxies name their callers, each at the end.
pub(crate) const FORWARDED_FOR: &str = "x-forwarded-for";

/// The header that has the body kept as a file.
const UPLOAD_BODY: &str = "x-pd-upload-body";
/// The parameters of the query that do so.
const UPLOAD_PARAMETERS: [&str; 2] = [UPLOAD_BODY, "pipedream_upload_body"];
/// The name of that file.
const RAW_BODY: &str = "body";

/// The event of a request, its files, and the room that they take.
type Event = (Box<RawValue>, Vec<Upload>, Room);

/// The endpoint that a request is meant for.
struct Target<'a> {
    token: EndpointToken,
    /// The component's part of the path.
    path: &'a str,
    /// The whole URL as the outside knows it.
    url: String,
    place: Place<'a>,
}

/// The parts of the node that requests at endpoints need.
pub(crate) struct IngressState {
    pub(crate) platform: Arc<Platform>,
    pub(crate) bodies: Arc<Bodies>,
    pub(crate) sites: Sites,
}

/// `/e/{token}` and everything below, split into these two.
pub(crate) async fn at_path(
    ingress: &IngressState,
    (token, path): (&str, &str),
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let url = format!(
        "{}{}",
        ingress.platform.config().public_url,
        whole_path(&parts)
    );
    let target = Target {
        token: EndpointToken::new(token),
        path,
        url,
        place: Place::Path { token },
    };
    ingress.answer(target, &parts, body).await
}

/// Everything at `{token}.{domain}`.
pub(crate) async fn at_host(
    ingress: &IngressState,
    token: EndpointToken,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let domain = ingress.platform.config().endpoint_domain.as_deref();
    let domain = domain.unwrap_or_default();
    let url = format!("https://{}.{domain}{}", token.as_str(), whole_path(&parts));
    let target = Target {
        token,
        path: parts.uri.path(),
        url,
        place: Place::Host,
    };
    ingress.answer(target, &parts, body).await
}

fn whole_path(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("", PathAndQuery::as_str)
}

/// The way in which a request was taken.
enum Taken {
    /// The platform answers.
    In(Ingress),
    /// A browser asks whether a page may send a request to a workflow.
    Preflight,
}

impl IngressState {
    async fn answer(&self, target: Target<'_>, parts: &Parts, body: Body) -> Response {
        let place = target.place;
        // Callers without credentials are not told which id was looked for, and where.
        let found = match self.platform.find_endpoint(&target.token).await {
            Ok(found) => found,
            Err(PlatformError::NotFound { .. }) => return ApiError::NoEndpoint.into_response(),
            Err(error) => return ApiError::from(error).into_response(),
        };
        let is_workflow = found.is_workflow;
        let response = match self.take(target, &found, parts, body).await {
            Ok(Taken::In(ingress)) => reply::to(ingress, &self.sites, place),
            Ok(Taken::Preflight) => return cors::preflight(&parts.headers),
            Err(ApiError::Platform(PlatformError::NotFound { .. })) => {
                ApiError::NoEndpoint.into_response()
            }
            Err(error) => error.into_response(),
        };
        match is_workflow {
            true => cors::readable(response),
            false => response,
        }
    }

    async fn take(
        &self,
        target: Target<'_>,
        found: &FoundEndpoint,
        parts: &Parts,
        body: Body,
    ) -> Result<Taken, ApiError> {
        if found.is_workflow && parts.method == Method::OPTIONS {
            return Ok(Taken::Preflight);
        }
        // Nothing is read, and kept, for nobody. An owner of many sources has one share of the room for
        // all.
        let owner = Some(found.user_id.clone());
        let body = self.bodies.read(owner, body, INGRESS_BODY_BYTES).await?;
        let (event, uploads, room) = match found.is_workflow {
            true => self.workflow_event(&target, parts, body)?,
            false => self.event(&target, parts, body)?,
        };
        let request = IngressRequest {
            token: target.token,
            event,
            uploads,
        };
        let ingress = self.platform.ingress(request).await?;
        drop(room);
        Ok(Taken::In(ingress))
    }

    /// The event of the request, and the room that it takes. Of the body itself nothing is kept.
    fn event(
        &self,
        target: &Target<'_>,
        parts: &Parts,
        body: body::Arrived,
    ) -> Result<Event, ApiError> {
        let body::Arrived { bytes, mut room } = body;
        let event = self.arrived(target, parts, &bytes);
        let event = event.event();
        if !room.is_small() {
            // Before there is memory for it. That of a small body is bounded by the body's own bound.
            room_for(event.json_bytes().map_err(unwritten)?, &mut room)?;
        }
        let json = event.json().map_err(unwritten)?;
        if room.is_small() {
            room_for(json.get().len(), &mut room)?;
        }
        room.drop_body();
        Ok((json, Vec::new(), room))
    }

    /// The event of a request to a workflow, its files, and the room that they take.
    fn workflow_event(
        &self,
        target: &Target<'_>,
        parts: &Parts,
        body: body::Arrived,
    ) -> Result<Event, ApiError> {
        let body::Arrived { bytes, mut room } = body;
        let is_upload = is_upload(parts);
        let shown = match is_upload {
            true => &[],
            false => &bytes[..],
        };
        let arrived = self.arrived(target, parts, shown);
        let event = arrived.event();
        let mut uploads: Vec<Upload> = event
            .files()
            .map(|(field, index, filename, content)| Upload {
                place: UploadPlace::Field {
                    name: field.to_owned(),
                    index,
                },
                filename: filename.to_owned(),
                bytes: bytes.slice_ref(content),
            })
            .collect();
        if is_upload {
            uploads.push(Upload {
                place: UploadPlace::RawBody,
                filename: RAW_BODY.to_owned(),
                bytes: bytes.clone(),
            });
        }
        let event = event.of_trigger();
        room_for(event.json_bytes().map_err(unwritten)?, &mut room)?;
        let json = event.json().map_err(unwritten)?;
        if uploads.is_empty() {
            room.drop_body();
        }
        Ok((json, uploads, room))
    }

    fn arrived<'a>(&self, target: &'a Target<'_>, parts: &'a Parts, body: &'a [u8]) -> Arrived<'a> {
        Arrived {
            path: target.path,
            url: &target.url,
            parts,
            client_ip: client_ip(&self.platform, &parts.extensions, &parts.headers),
            body,
        }
    }
}

/// Whether the body is to be kept as a file.
fn is_upload(parts: &Parts) -> bool {
    let header = parts.headers.get(UPLOAD_BODY);
    let query = parts.uri.query().unwrap_or_default();
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    header.is_some_and(|value| value == "1")
        || parameters.any(|(name, value)| UPLOAD_PARAMETERS.contains(&&*name) && value == "1")
}

/// The event of a request that answers a wait, in the shape of a workflow's HTTP trigger. `make_room` is asked before
/// memory is taken for it.
///
/// # Errors
/// `EventTooLarge` beyond the bound of events, and that of `make_room`.
pub(crate) fn answer_event(
    platform: &Platform,
    path: &str,
    parts: &Parts,
    body: &[u8],
    make_room: impl FnOnce(usize) -> Result<(), ApiError>,
) -> Result<Box<RawValue>, ApiError> {
    let arrived = Arrived {
        path,
        url: &format!("{}{}", platform.config().public_url, whole_path(parts)),
        parts,
        client_ip: client_ip(platform, &parts.extensions, &parts.headers),
        body,
    };
    let event = arrived.event().of_trigger();
    let event_bytes = event.json_bytes().map_err(unwritten)?;
    if event_bytes > INGRESS_EVENT_BYTES {
        return Err(ApiError::EventTooLarge);
    }
    make_room(event_bytes)?;
    Ok(event.json().map_err(unwritten)?)
}

fn unwritten(error: serde_json::Error) -> PlatformError {
    PlatformError::Internal(error.to_string())
}

fn room_for(event_bytes: usize, room: &mut Room) -> Result<(), ApiError> {
    if event_bytes > INGRESS_EVENT_BYTES {
        return Err(ApiError::EventTooLarge);
    }
    room.grow(event_bytes)
}

/// The peer's address, or whom a trusted proxy names. The headers are in the event too.
pub(crate) fn client_ip(
    platform: &Platform,
    extensions: &Extensions,
    headers: &HeaderMap,
) -> Option<IpAddr> {
    let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
    let forwarded = headers.get_all(FORWARDED_FOR).iter();
    let forwarded = forwarded.filter_map(|header| header.to_str().ok());
    let proxies = &platform.config().trusted_proxies;
    Some(proxies.caller(peer.ip(), forwarded))
}
