//! Failures as pages: the thing, the fact and the next step. Details that must not leave the node are logged here, once.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use headwater_platform::{PlatformError, request_id};
use maud::{Markup, html};

use crate::{
    part::icon::{Icon, icon},
    reply::Page,
    visit::Visit,
};

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
    status: StatusCode,
    title: String,
    text: String,
    /// Of a component that failed.
    stack: Option<String>,
    retry_after_s: Option<u64>,
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

    /// The page of it.
    pub(crate) fn page(&self, visit: &Visit) -> Page {
        match self {
            Self::SignedOut => Page::new("Signed out", html! {}),
            Self::Told(told) => Page::new(&told.title, told.markup(visit)).with_status(told.status),
        }
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

impl Told {
    fn markup(&self, visit: &Visit) -> Markup {
        html! {
            section.problem {
                h1 { (icon(Icon::Warning)) (self.title) }
                p { (self.text) }
                @if let Some(stack) = &self.stack { pre.stack { (stack) } }
                @if let Some(seconds) = self.retry_after_s {
                    p { "Try again in " span data-countdown=(seconds) { (seconds) " s" } "." }
                }
                @if self.status.is_server_error() && let Some(id) = request_id() {
                    p.note { "The node's log has the cause under request " code { (id) } "." }
                }
                p.actions {
                    a.button href=(visit.path()) { "Try again" }
                    a.button.quiet href="/" { "Home" }
                }
            }
        }
    }
}

impl From<PlatformError> for Problem {
    fn from(error: PlatformError) -> Self {
        let text = capital(&error.to_string());
        let (status, title) = match &error {
            PlatformError::NotFound { kind, .. } => {
                return Self::new(
                    StatusCode::NOT_FOUND,
                    format!("This {kind} is not here"),
                    format!("{text}, or it belongs to somebody else. It may have been deleted."),
                );
            }
            PlatformError::EventGone { .. } => {
                let title = "This event is not kept any more";
                return Self::new(StatusCode::NOT_FOUND, title, text);
            }
            PlatformError::Invalid(_) => (StatusCode::BAD_REQUEST, "Something does not fit"),
            PlatformError::InvalidProps(_) | PlatformError::Unpublishable(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "Something does not fit")
            }
            PlatformError::Component { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "The component failed")
            }
            PlatformError::Conflict(_) => (StatusCode::CONFLICT, "This cannot be done now"),
            PlatformError::Unauthenticated => return Self::SignedOut,
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
            PlatformError::Unavailable(reason) => {
                tracing::warn!(reason, "unavailable");
                return Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "The node is busy or cannot reach its store",
                    "Nothing was changed. Try again in a moment; the node's log has the cause.",
                );
            }
            PlatformError::Internal(reason) => {
                tracing::error!(reason, "internal error");
                return Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "The node failed",
                    "This is a fault of the node; its log has the details.",
                );
            }
        };
        let mut told = Told {
            status,
            title: title.to_owned(),
            text,
            stack: None,
            retry_after_s: None,
        };
        match error {
            PlatformError::Component { error, .. } => {
                told.stack = Some(error.stack).filter(|stack| !stack.is_empty());
            }
            PlatformError::QuotaExceeded { retry_after_s, .. }
            | PlatformError::RateLimited { retry_after_s, .. }
            | PlatformError::SignInThrottled { retry_after_s }
            | PlatformError::TooManyWaiting { retry_after_s, .. } => {
                told.retry_after_s = Some(retry_after_s);
            }
            PlatformError::NotFound { .. }
            | PlatformError::EventGone { .. }
            | PlatformError::Invalid(_)
            | PlatformError::InvalidProps(_)
            | PlatformError::Unpublishable(_)
            | PlatformError::Conflict(_)
            | PlatformError::Unauthenticated
            | PlatformError::Forbidden(_)
            | PlatformError::AdminOnly
            | PlatformError::KeyTaken(_)
            | PlatformError::Unreachable(_)
            | PlatformError::Unavailable(_)
            | PlatformError::Internal(_) => {}
        }
        Self::Told(told)
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
