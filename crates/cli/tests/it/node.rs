//! A node whose answers the test sets and whose requests it can read, and the binary run against it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde_json::{Value, json};
use tokio::process::Command;

type Answer = Arc<dyn Fn(&Received) -> Response + Send + Sync>;

#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// Method and path, such as `GET /v1/accounts`.
    pub(crate) call: String,
    pub(crate) query: HashMap<String, String>,
    pub(crate) body: Value,
    pub(crate) authorization: Option<String>,
    pub(crate) last_event_id: Option<String>,
}

#[derive(Clone, Default)]
struct Shared {
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    received: Arc<Mutex<Vec<Received>>>,
}

pub(crate) struct Node {
    pub(crate) url: String,
    shared: Shared,
}

/// What the person sees.
pub(crate) struct Seen {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Node {
    pub(crate) async fn start() -> Self {
        let shared = Shared::default();
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// Sets the answer to a call.
    pub(crate) fn on(
        &self,
        call: &str,
        answer: impl Fn(&Received) -> (u16, Value) + Send + Sync + 'static,
    ) {
        self.on_any(call, move |request| json_of(answer(request)));
    }

    /// Answers a call with a stream of events.
    pub(crate) fn stream<S>(
        &self,
        call: &str,
        events: impl Fn(&Received) -> S + Send + Sync + 'static,
    ) where
        S: Stream<Item = Result<String, Infallible>> + Send + 'static,
    {
        let event_stream = [(header::CONTENT_TYPE, "text/event-stream")];
        self.on_any(call, move |request| {
            (event_stream.clone(), Body::from_stream(events(request))).into_response()
        });
    }

    fn on_any(&self, call: &str, answer: impl Fn(&Received) -> Response + Send + Sync + 'static) {
        let mut answers = self.shared.answers.lock().unwrap();
        answers.insert(call.to_owned(), Arc::new(answer));
    }

    /// Answers a call with `{data}`.
    pub(crate) fn data(&self, call: &str, data: Value) {
        self.on(call, move |_| (200, json!({"data": data})));
    }

    /// Answers a call with one page of a list.
    pub(crate) fn list(&self, call: &str, items: Value) {
        self.on(call, move |_| {
            (200, json!({"page_info": {}, "data": items}))
        });
    }

    /// The requests of one call so far.
    pub(crate) fn received(&self, call: &str) -> Vec<Received> {
        let received = self.shared.received.lock().unwrap();
        received
            .iter()
            .filter(|request| request.call == call)
            .cloned()
            .collect()
    }

    /// The binary, knowing nothing but this node and a key.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
        command
            .env_clear()
            .env("HEADWATER_URL", &self.url)
            .env("HEADWATER_API_KEY", "secret")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Seen {
        self.command(arguments).output().await.unwrap().into()
    }
}

impl From<Output> for Seen {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
    let received = receive(request).await;
    shared.received.lock().unwrap().push(received.clone());
    let answer = shared.answers.lock().unwrap().get(&received.call).cloned();
    match answer {
        Some(answer) => answer(&received),
        None => {
            let message = format!("nothing at {}", received.call);
            json_of((
                404,
                json!({"error": {"code": "not_found", "message": message}}),
            ))
        }
    }
}

fn json_of((status, body): (u16, Value)) -> Response {
    let text = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let status = StatusCode::from_u16(status).unwrap();
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn receive(request: Request) -> Received {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let query = parts.uri.query().unwrap_or_default();
    let header = |name: &str| {
        let value = parts.headers.get(name)?;
        Some(value.to_str().unwrap().to_owned())
    };
    Received {
        call: format!("{} {}", parts.method, parts.uri.path()),
        query: url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
        authorization: header("authorization"),
        last_event_id: header("last-event-id"),
    }
}
