//! The answers of handlers: a page, which the shell frames, or the way to another one.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use maud::Markup;

use crate::{cookie::Cookie, problem::Problem, visit::Visit};

/// The answer of most handlers.
pub(crate) type PageReply = Result<Page, Problem>;
/// The answer of forms.
pub(crate) type FormReply = Result<Response, Problem>;

/// The part of the product that a page belongs to, as the sidebar shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Sources,
    Events,
    Webhooks,
    Deliveries,
    Workflows,
    Runs,
    Accounts,
    Data,
    Settings,
}

/// A page, without its frame.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) section: Option<Section>,
    pub(crate) body: Arc<Markup>,
    pub(crate) status: StatusCode,
    /// The emitters and lists that the page follows, as `/live?of=` names them.
    pub(crate) live: Option<String>,
    /// The commands that show the same in a terminal.
    pub(crate) commands: Vec<String>,
}

impl Page {
    pub(crate) fn new(title: impl Into<String>, body: Markup) -> Self {
        Self {
            title: title.into(),
            section: None,
            body: Arc::new(body),
            status: StatusCode::OK,
            live: None,
            commands: Vec::new(),
        }
    }

    pub(crate) fn of(section: Section, title: impl Into<String>, body: Markup) -> Self {
        Self {
            section: Some(section),
            ..Self::new(title, body)
        }
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// With live parts: `of` names what is followed.
    pub(crate) fn live(self, of: impl Into<String>) -> Self {
        Self {
            live: Some(of.into()),
            ..self
        }
    }

    /// With the command line that does the same, and the request.
    pub(crate) fn command(mut self, command: impl Into<String>) -> Self {
        self.commands.push(command.into());
        self
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Sends the browser to another page, which it gets with GET.
pub(crate) fn see_other(target: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let target = HeaderValue::try_from(target).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, target);
    response
}

/// The same, and that page says this once.
pub(crate) fn see_other_saying(visit: &Visit, target: &str, line: &str) -> Response {
    let mut response = see_other(target);
    let cookie = visit.cookies.set(Cookie::Flash, line);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}
