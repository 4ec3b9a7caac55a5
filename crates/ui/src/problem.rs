//! Failures as people are told of them: the thing, the fact and the next step. Details that must not leave the node are
//! logged here, once. The page of a failure is made by `problem_page`, which knows the visit.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use headwater_platform::PlatformError;
use maud::html;

/// A page that is shown instead of the one that was asked for.
#[derive(Debug, Clone)]
pub(crate) enum Problem {
    /// Nobody is signed in.
    SignedOut,
    /// Something else.
    Told(Told),
}

/// Status and text of a problem.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) status: StatusCode,
    pub(crate) title: String,
    pub(crate) text: String,
    /// The stack of a component that failed.
    pub(crate) stack: Option<String>,
    pub(crate) retry_after_s: Option<u64>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        title: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self::Told(Told {
            status,
            title: title.into(),
            text: text.into(),
            stack: None,
            retry_after_s: None,
        })
    }

    pub(crate) fn signed_out() -> Self {
        Self::SignedOut
    }

    /// There is no such thing, or it is another tenant's.
    pub(crate) fn not_found(kind: &str, id: &str) -> Self {
        let text = format!(
            "There is no {kind} `{id}`, or it belongs to somebody else. It may have been deleted."
        );
        Self::new(
            StatusCode::NOT_FOUND,
            format!("This {kind} is not here"),
            text,
        )
    }

    /// The same without the frame of pages, where it is not known who asks.
    pub(crate) fn bare(&self) -> Response {
        let Self::Told(told) = self else {
            return StatusCode::UNAUTHORIZED.into_response();
        };
        let page = html! {
            (maud::DOCTYPE)
            html lang="en" {
                head { meta charset="utf-8"; title { (told.title) } }
                body { main { h1 { (told.title) } p { (told.text) } } }
            }
        };
        let mut response = (told.status, Html(page.into_string())).into_response();
        let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
        response
    }
}

const UNAVAILABLE: &str =
    "Nothing was changed. Try again in a moment; the node's log has the cause.";
const INTERNAL: &str = "This is a fault of the node; its log has the details.";

impl From<PlatformError> for Problem {
    fn from(error: PlatformError) -> Self {
        log(&error);
        let text = capital(&error.to_string());
        let (status, title) = heading(&error);
        let mut told = Told {
            status,
            title: title.to_owned(),
            text,
            stack: None,
            retry_after_s: None,
        };
        match error {
            PlatformError::Unauthenticated => return Self::SignedOut,
            PlatformError::NotFound { kind, id } => return Self::not_found(kind, &id),
            PlatformError::Unavailable(_) => UNAVAILABLE.clone_into(&mut told.text),
            PlatformError::Internal(_) => INTERNAL.clone_into(&mut told.text),
            PlatformError::Component { error, .. } => {
                told.stack = Some(error.stack).filter(|stack| !stack.is_empty());
            }
            PlatformError::QuotaExceeded { retry_after_s, .. }
            | PlatformError::RateLimited { retry_after_s, .. }
            | PlatformError::SignInThrottled { retry_after_s }
            | PlatformError::TooManyWaiting { retry_after_s, .. } => {
                told.retry_after_s = Some(retry_after_s);
            }
            PlatformError::EventGone { .. }
            | PlatformError::Invalid(_)
            | PlatformError::InvalidProps(_)
            | PlatformError::Unpublishable(_)
            | PlatformError::Conflict(_)
            | PlatformError::Forbidden(_)
            | PlatformError::AdminOnly
            | PlatformError::KeyTaken(_)
            | PlatformError::Unreachable(_) => {}
        }
        Self::Told(told)
    }
}

/// The status of an error, and the title of its page.
fn heading(error: &PlatformError) -> (StatusCode, &'static str) {
    match error {
        PlatformError::NotFound { .. } => (StatusCode::NOT_FOUND, "This is not here"),
        PlatformError::EventGone { .. } => {
            (StatusCode::NOT_FOUND, "This event is not kept any more")
        }
        PlatformError::Invalid(_) => (StatusCode::BAD_REQUEST, "Something does not fit"),
        PlatformError::InvalidProps(_) | PlatformError::Unpublishable(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, "Something does not fit")
        }
        PlatformError::Component { .. } => {
            (StatusCode::UNPROCESSABLE_ENTITY, "The component failed")
        }
        PlatformError::Conflict(_) => (StatusCode::CONFLICT, "This cannot be done now"),
        PlatformError::Unauthenticated => (StatusCode::UNAUTHORIZED, "Signed out"),
        PlatformError::Forbidden(_) | PlatformError::AdminOnly | PlatformError::KeyTaken(_) => {
            (StatusCode::FORBIDDEN, "This is not yours to do")
        }
        PlatformError::QuotaExceeded { .. }
        | PlatformError::RateLimited { .. }
        | PlatformError::SignInThrottled { .. }
        | PlatformError::TooManyWaiting { .. } => {
            (StatusCode::TOO_MANY_REQUESTS, "Too much at once")
        }
        PlatformError::Unreachable(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "A service outside does not answer",
        ),
        PlatformError::Unavailable(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "The node is busy or cannot reach its store",
        ),
        PlatformError::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "The node failed"),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other errors are told as they are"
)]
fn log(error: &PlatformError) {
    match error {
        PlatformError::Unavailable(reason) => tracing::warn!(reason, "unavailable"),
        PlatformError::Internal(reason) => tracing::error!(reason, "internal error"),
        _ => {}
    }
}

/// The page is made by the shell, which knows the visit.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::SignedOut => StatusCode::SEE_OTHER,
            Self::Told(told) => told.status,
        };
        let mut response = status.into_response();
        if let Self::Told(Told {
            retry_after_s: Some(seconds),
            ..
        }) = &self
        {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// A sentence of the platform as a page begins it.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
