//! `/w/{token}/{action}`: answers to the waits of workflows' runs, by whoever was given the URL. No key: the token
//! is enough, and is not logged. People open these URLs in browsers, so the answers are pages.

use axum::{
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use headwater_model::limits::INGRESS_BODY_BYTES;
use headwater_platform::{Platform, PlatformError, WaitAction, WaitAnswer};

use super::ApiState;
use crate::{
    body::RequestBody,
    error::ApiError,
    extract::PathText,
    ingress::answer_event,
    page::{Told, asked, told},
};

/// Below this path every segment is a token.
pub(crate) const PREFIX: &str = "/w/";
/// Methods without an effect, by which programs look whether something is there.
const LOOKING: [Method; 2] = [Method::HEAD, Method::OPTIONS];
const ALLOWED: &str = "GET, POST, PUT, PATCH, DELETE";
/// Headers by which browsers say that nobody has opened the page yet.
const PURPOSES: [&str; 2] = ["sec-purpose", "purpose"];

/// Answers a wait.
pub(crate) async fn answer(
    State(platform): ApiState,
    PathText((token, action)): PathText<(String, String)>,
    Extension(reading): Extension<RequestBody>,
    request: Request,
) -> Response {
    let method = request.method().clone();
    let Some(action) = wait_action(&action) else {
        return ApiError::NoRoute {
            method,
            meant: None,
        }
        .into_response();
    };
    if is_prefetch(request.headers()) {
        return StatusCode::NO_CONTENT.into_response();
    }
    let methods = match platform.wait_methods(&token).await {
        Ok(methods) => methods,
        Err(PlatformError::NotFound { .. }) => return told(NOT_FOUND),
        Err(error) => return ApiError::from(error).into_response(),
    };
    match effect(&method, methods.as_deref()) {
        Effect::Answers => {}
        Effect::Asks => return confirm(action),
        Effect::Nothing => return not_allowed(method, methods.as_deref()),
    }
    match take(&platform, (&token, action), &reading, request).await {
        Ok(answer) => told(answered(action, answer)),
        // Callers without credentials are not told which token was looked for.
        Err(ApiError::Platform(PlatformError::NotFound { .. })) => told(NOT_FOUND),
        Err(error) => error.into_response(),
    }
}

async fn take(
    platform: &Platform,
    (token, action): (&str, WaitAction),
    reading: &RequestBody,
    request: Request,
) -> Result<WaitAnswer, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = reading.read(None, body, INGRESS_BODY_BYTES).await?;
    let path = match action {
        WaitAction::Resume => "/resume",
        WaitAction::Cancel => "/cancel",
        WaitAction::Rerun => "/rerun",
    };
    let event = answer_event(platform, path, &parts, &bytes, |more| reading.unpack(more))?;
    Ok(platform.answer_wait(token, action, event).await?)
}

fn wait_action(name: &str) -> Option<WaitAction> {
    match name {
        "resume" => Some(WaitAction::Resume),
        "cancel" => Some(WaitAction::Cancel),
        "rerun" => Some(WaitAction::Rerun),
        _ => None,
    }
}

/// The effect of a request with some method.
#[derive(Debug, PartialEq, Eq)]
enum Effect {
    /// It answers the wait.
    Answers,
    /// It shows a page with a button, which answers it.
    Asks,
    /// It has none.
    Nothing,
}

/// The effect of a method, if only `methods` are to answer the wait.
fn effect(method: &Method, methods: Option<&[String]>) -> Effect {
    let answers = |wanted: &Method| {
        methods.is_none_or(|methods| methods.iter().any(|known| known == wanted.as_str()))
    };
    match *method {
        _ if LOOKING.contains(method) => Effect::Nothing,
        _ if answers(method) => Effect::Answers,
        Method::GET if answers(&Method::POST) => Effect::Asks,
        _ => Effect::Nothing,
    }
}

fn not_allowed(method: Method, methods: Option<&[String]>) -> Response {
    let allowed = methods.map_or_else(|| ALLOWED.to_owned(), |methods| methods.join(", "));
    let mut response = ApiError::MethodNotAllowed {
        method,
        meant: None,
    }
    .into_response();
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

/// A page that asks whether it is meant. The form posts to the address of the page.
fn confirm(action: WaitAction) -> Response {
    let (question, button) = match action {
        WaitAction::Resume => ("Let the workflow go on?", "Go on"),
        WaitAction::Cancel => ("Cancel the run of the workflow?", "Cancel the run"),
        WaitAction::Rerun => ("Run the step of the workflow again?", "Run again"),
    };
    asked(
        question,
        &format!("<form method=\"post\"><button type=\"submit\">{button}</button></form>"),
    )
}

fn is_prefetch(headers: &HeaderMap) -> bool {
    let values = PURPOSES.iter().flat_map(|name| headers.get_all(*name));
    let mut texts = values.filter_map(|value| value.to_str().ok());
    texts.any(|text| text.to_ascii_lowercase().contains("prefetch"))
}

const NOT_FOUND: Told = (
    StatusCode::NOT_FOUND,
    "Unknown link",
    "This node did not create it. Check that the address is complete.",
);

fn answered(action: WaitAction, answer: WaitAnswer) -> Told {
    match (answer, action) {
        (WaitAnswer::Taken, WaitAction::Resume) => {
            (StatusCode::OK, "Success!", "The workflow goes on.")
        }
        (WaitAnswer::Taken, WaitAction::Cancel) => (
            StatusCode::OK,
            "Success!",
            "The run of the workflow is cancelled.",
        ),
        (WaitAnswer::Taken, WaitAction::Rerun) => (
            StatusCode::OK,
            "Success!",
            "The step of the workflow runs again.",
        ),
        (WaitAnswer::Before, _) => (
            StatusCode::CONFLICT,
            "Already answered",
            "The workflow had its answer before, or waits no longer. Nothing has changed.",
        ),
        (WaitAnswer::Ended, _) => (
            StatusCode::GONE,
            "The run has ended",
            "The workflow needs no answer any more. Nothing has changed.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_say_what_they_are() {
        for (name, value, is) in [
            ("Sec-Purpose", "prefetch;prerender", true),
            ("purpose", "Prefetch", true),
            ("purpose", "preview", false),
            ("x-purpose", "prefetch", false),
        ] {
            let name: header::HeaderName = name.parse().unwrap();
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            assert_eq!(is_prefetch(&headers), is, "{value}");
        }
    }

    #[test]
    fn methods_that_do_not_count_ask_or_do_nothing() {
        let post = ["POST".to_owned()];
        let put = ["PUT".to_owned()];
        for (method, methods, expected) in [
            (Method::GET, None, Effect::Answers),
            (Method::HEAD, None, Effect::Nothing),
            (Method::GET, Some(&post[..]), Effect::Asks),
            (Method::POST, Some(&post[..]), Effect::Answers),
            (Method::DELETE, Some(&post[..]), Effect::Nothing),
            (Method::OPTIONS, Some(&post[..]), Effect::Nothing),
            (Method::GET, Some(&put[..]), Effect::Nothing),
        ] {
            assert_eq!(effect(&method, methods), expected, "{method} {methods:?}");
        }
    }

    #[test]
    fn an_answer_counts_once() {
        let status = |answer| answered(WaitAction::Resume, answer).0.as_u16();
        let answers = [WaitAnswer::Taken, WaitAnswer::Before, WaitAnswer::Ended];
        assert_eq!(answers.map(status), [200, 409, 410]);
    }
}
