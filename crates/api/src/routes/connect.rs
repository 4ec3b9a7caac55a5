//! `/connect`: pages for the browser in which an account is connected. No key: the token in a link
//! opens it, and the state that an app sends back. Neither is logged, cached or sent on as a referrer.

mod page;

use std::sync::Arc;

use axum::{
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
};
use headwater_platform::{Callback, ConnectError, LinkOpened, Platform};
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::ApiState;
use crate::{auth, body::RequestBody, error::ApiError, extract::PathText};

/// A filled-in form. Keys of services are a few KiB at most.
const FORM_BYTES: usize = 256 * 1024;
/// A little longer than the link that it belongs to.
const COOKIE_MAX_AGE_S: u32 = 900;

/// Opens a link. That does not use it up: programs may preview it as often as they like.
pub(crate) async fn open(
    State(platform): ApiState,
    PathText(slug): PathText<String>,
    uri: Uri,
) -> Response {
    let opened = platform.open_link(&slug, &parameter(&uri, "token")).await;
    answer(&platform, opened)
}

/// Handles the submitted form of a link.
pub(crate) async fn submit_form(
    State(platform): ApiState,
    PathText(slug): PathText<String>,
    Extension(reading): Extension<RequestBody>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let token = parameter(&parts.uri, "token");
    // Nothing is read for a link that is not valid.
    if let Err(error) = platform.open_link(&slug, &token).await {
        return guarded(failed(error));
    }
    let bytes = match reading.read(None, body, FORM_BYTES).await {
        Ok(bytes) => bytes,
        Err(error) => return guarded(error.into_response()),
    };
    let entered: Map<String, Value> = form_urlencoded::parse(&bytes)
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect();
    let from = auth::remote(&platform, &parts.extensions, &parts.headers);
    let submitted = {
        let platform = Arc::clone(&platform);
        async move { platform.submit_form(&slug, &token, entered, &from).await }
    };
    // Once the account is there, its record is written, even if the browser goes away.
    let opened = platform.carry_out(submitted).await;
    answer(&platform, opened)
}

/// Handles an app's redirect back to the node.
pub(crate) async fn handle_callback(
    State(platform): ApiState,
    PathText(slug): PathText<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    let callback = Callback {
        parameters: form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        cookies: cookies(&parts.headers),
        from: auth::remote(&platform, &parts.extensions, &parts.headers),
    };
    guarded(match platform.handle_callback(&slug, callback).await {
        Ok(connected) => Html(page::connected(&connected)).into_response(),
        Err(error) => failed(error),
    })
}

fn answer(platform: &Arc<Platform>, opened: Result<LinkOpened, ConnectError>) -> Response {
    guarded(match opened {
        Ok(LinkOpened::Form(form)) => {
            let status = match form.problem {
                Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
                None => StatusCode::OK,
            };
            (status, Html(page::form(&form))).into_response()
        }
        Ok(LinkOpened::Connected(connected)) => Html(page::connected(&connected)).into_response(),
        Ok(LinkOpened::Redirect {
            url,
            cookie,
            browser,
        }) => redirect(platform, &url, &format!("{cookie}={browser}")),
        Err(error) => failed(error),
    })
}

/// 303: the browser requests the app with GET, whatever the method of its request here.
fn redirect(platform: &Arc<Platform>, url: &str, cookie: &str) -> Response {
    let secure = match platform.config().public_url.starts_with("https://") {
        true => "; Secure",
        false => "",
    };
    // Lax: the app's redirect back comes from another site.
    let cookie =
        format!("{cookie}; Path=/; Max-Age={COOKIE_MAX_AGE_S}; HttpOnly; SameSite=Lax{secure}");
    let headers = [(header::LOCATION, url), (header::SET_COOKIE, &*cookie)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

fn failed(error: ConnectError) -> Response {
    match error {
        ConnectError::Invalid(reason) => {
            let page = page::failed(reason);
            (StatusCode::BAD_REQUEST, Html(page)).into_response()
        }
        ConnectError::Failed(reason) => {
            let page = page::failed(&reason);
            (StatusCode::UNPROCESSABLE_ENTITY, Html(page)).into_response()
        }
        ConnectError::Platform(error) => {
            let status = ApiError::Platform(error).into_response().status();
            let page = page::failed(
                "The node could not complete this step; its log has the cause. Try again.",
            );
            (status, Html(page)).into_response()
        }
    }
}

/// Keeps the address and the entered values between the browser and the node.
fn guarded(response: Response) -> Response {
    let mut response = crate::page::guarded(response);
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

fn parameter(uri: &Uri, wanted: &str) -> String {
    let mut parameters = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let found = parameters.find(|(name, _)| name == wanted);
    found
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

fn cookies(headers: &HeaderMap) -> Vec<(String, String)> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    let texts = lines.filter_map(|line| line.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
