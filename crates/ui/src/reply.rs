//! The answers of handlers: a page, which the shell frames, or the way to another one.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use headwater_model::id::{EmitterId, WorkspaceId};
use headwater_platform::LogPosition;
use maud::Markup;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::{
    cookie::Cookie,
    part::{
        code::{api_request, copyable},
        payload,
    },
    problem::Problem,
    state::Ui,
    topic::Topic,
    visit::Visit,
};

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

impl Section {
    /// The part that an emitter's events belong to.
    pub(crate) fn of_emitter(id: &EmitterId) -> Self {
        match id {
            EmitterId::Source(_) => Self::Sources,
            EmitterId::Workflow(_) => Self::Workflows,
        }
    }
}

/// The stream of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    of: Vec<String>,
    parameters: Vec<(&'static str, String)>,
}

impl Live {
    /// Its address, if the page follows something.
    pub(crate) fn address(&self) -> Option<String> {
        if self.of.is_empty() {
            return None;
        }
        let mut query = Serializer::new(String::new());
        query.append_pair("of", &self.of.join(","));
        query.extend_pairs(&self.parameters);
        Some(format!("/live?{}", query.finish()))
    }
}

/// A page, without its frame.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The title where payloads are hidden, if the other one has a part of one.
    pub(crate) masked_title: Option<&'static str>,
    pub(crate) section: Option<Section>,
    pub(crate) body: Arc<Markup>,
    pub(crate) status: StatusCode,
    /// The stream that the page follows.
    pub(crate) live: Live,
    /// The commands that show the same in a terminal.
    pub(crate) commands: Vec<Markup>,
}

impl Page {
    pub(crate) fn new(title: impl Into<String>, body: Markup) -> Self {
        Self {
            title: title.into(),
            masked_title: None,
            section: None,
            body: Arc::new(body),
            status: StatusCode::OK,
            live: Live::default(),
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

    /// Takes another title where payloads are hidden.
    pub(crate) fn masked(self, title: &'static str) -> Self {
        Self {
            masked_title: Some(title),
            ..self
        }
    }

    /// Adds rows that come: `of` names the emitter, the parameters say from where on.
    pub(crate) fn live(mut self, of: String, parameters: Vec<(&'static str, String)>) -> Self {
        self.live.of.push(of);
        self.live.parameters.extend(parameters);
        self
    }

    /// Adds rows of everything that comes: of a workspace, or of all that the visitor deployed.
    pub(crate) fn news(self, workspace: Option<&WorkspaceId>, up_to: LogPosition) -> Self {
        let of = workspace.map_or("own", WorkspaceId::as_str);
        self.live(format!("news:{of}"), vec![("after", up_to.0.to_string())])
    }

    /// Adds parts that are fetched again when something of the topic has changed since the page was read.
    pub(crate) fn changing(mut self, topic: &Topic, visit: &Visit) -> Self {
        if self
            .live
            .parameters
            .iter()
            .all(|(name, _)| *name != "since")
        {
            let since = visit.now_ms.0.to_string();
            self.live.parameters.push(("since", since));
        }
        self.live.of.push(topic.name());
        self
    }

    /// Adds the command line that does the same, and the request.
    pub(crate) fn command(mut self, command: impl Into<String>) -> Self {
        self.commands.push(copyable(&command.into()));
        self
    }

    /// Adds the request to the API that does the same.
    pub(crate) fn request(self, ui: &Ui, method: &str, path: &str) -> Self {
        let url = &ui.platform.config().public_url;
        self.command(api_request(url, method, path, None))
    }

    /// The same with a body.
    pub(crate) fn request_with(self, ui: &Ui, method: &str, path: &str, body: &Value) -> Self {
        let url = &ui.platform.config().public_url;
        self.command(api_request(url, method, path, Some(&body.to_string())))
    }

    /// Adds a command line that has a payload among its arguments.
    pub(crate) fn command_with_payload(mut self, command: &str) -> Self {
        self.commands.push(payload::inline(copyable(command)));
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
