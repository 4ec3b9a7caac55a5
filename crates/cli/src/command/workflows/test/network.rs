//! The network of tests: a server that every request of a step reaches, whatever its host, and that knows no answers but
//! those of the test.
//!
//! Workers reach it as they reach a node's own API under an alias: over a socket, in plain HTTP, so that it sees requests
//! to `https` and to `http` alike. Not responsible for connections that are not HTTP, which the network policy refuses.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode, header};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::net::UnixListener;

use super::expectation::is_part_of;

/// Bytes of a request's body.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// An answer to some requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpMock {
    #[serde(rename = "match")]
    wanted: Wanted,
    reply: Replies,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Wanted {
    /// `METHOD URL`, or a URL.
    Text(String),
    Fields(Box<WantedFields>),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedFields {
    method: Option<String>,
    url: String,
    #[serde(default)]
    query: Map<String, Value>,
    #[serde(default)]
    headers: Map<String, Value>,
    body: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Replies {
    /// One per request; the last one again and again.
    Several(Vec<Reply>),
    One(Reply),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    body: Value,
}

fn ok() -> u16 {
    200
}

/// A request of a step.
struct Asked {
    method: String,
    /// Without a scheme, which nothing tells here, and without the query.
    url: String,
    query: Value,
    headers: Value,
    body: Value,
}

impl Asked {
    fn of(head: &Parts, body: &Bytes) -> Self {
        let headers = head.headers.iter();
        let text =
            |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers: Map<String, Value> = headers
            .map(|(name, value)| (name.to_string(), text(value).into()))
            .collect();
        let host = head.uri.host().map(str::to_owned);
        let host = host
            .or_else(|| head.headers.get(header::HOST).map(text))
            .unwrap_or_default();
        let query = head.uri.query().unwrap_or_default();
        let query = url::form_urlencoded::parse(query.as_bytes());
        let query: Map<String, Value> = query
            .map(|(name, value)| (name.into_owned(), value.into()))
            .collect();
        let body = serde_json::from_slice(body)
            .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(body).into_owned()));
        Self {
            method: head.method.to_string(),
            url: format!("{}{}", host.to_lowercase(), head.uri.path()),
            query: query.into(),
            headers: headers.into(),
            body,
        }
    }

    fn shown(&self) -> String {
        format!("{} https://{}", self.method, self.url)
    }
}

impl Wanted {
    fn fits(&self, asked: &Asked) -> bool {
        match self {
            Self::Fields(fields) => fields.fits(asked),
            Self::Text(text) => {
                let (method, url) = match text.split_once(' ') {
                    Some((method, url)) => (Some(method.to_owned()), url),
                    None => (None, text.as_str()),
                };
                let url = url.trim().to_owned();
                let fields = WantedFields {
                    method,
                    url,
                    ..WantedFields::default()
                };
                fields.fits(asked)
            }
        }
    }
}

impl WantedFields {
    fn fits(&self, asked: &Asked) -> bool {
        let is_method = |method: &String| method.eq_ignore_ascii_case(&asked.method);
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.clone()));
        self.method.as_ref().is_none_or(is_method)
            && is_url(&self.url, &asked.url)
            && is_part_of(&self.query.clone().into(), &asked.query)
            && is_part_of(&Value::Object(headers.collect()), &asked.headers)
            && self
                .body
                .as_ref()
                .is_none_or(|body| is_part_of(body, &asked.body))
    }
}

/// Whether a URL is meant; one that ends with `*` means all that begin so.
fn is_url(wanted: &str, asked: &str) -> bool {
    let wanted = wanted.split_once("://").map_or(wanted, |(_, rest)| rest);
    let same_root = |wanted: &str| match wanted.contains('/') {
        true => wanted.to_owned(),
        false => format!("{wanted}/"),
    };
    match wanted.strip_suffix('*') {
        Some(beginning) => asked.starts_with(beginning),
        None => asked == same_root(wanted),
    }
}

/// The network of the test that runs.
#[derive(Default)]
pub(super) struct Network {
    scene: Mutex<Scene>,
}

#[derive(Default)]
struct Scene {
    mocks: Vec<HttpMock>,
    /// The requests that each has answered.
    answered: Vec<usize>,
    unexpected: Vec<String>,
}

impl Network {
    /// Listens at a socket.
    pub(super) fn open(socket: &Path) -> Result<Arc<Self>> {
        let network = Arc::new(Self::default());
        let listener = UnixListener::bind(socket)
            .with_context(|| format!("cannot open the socket {}", socket.display()))?;
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&network));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(network)
    }

    /// Begins a test: from now on these are the answers.
    pub(super) fn set(&self, mocks: &[HttpMock]) {
        *self.scene.lock() = Scene {
            answered: vec![0; mocks.len()],
            mocks: mocks.to_vec(),
            unexpected: Vec::new(),
        };
    }

    /// The requests that had no answer.
    pub(super) fn unexpected(&self) -> Vec<String> {
        self.scene.lock().unexpected.clone()
    }

    fn reply(&self, asked: &Asked) -> Option<Reply> {
        let mut scene = self.scene.lock();
        let Some(index) = scene.mocks.iter().position(|mock| mock.wanted.fits(asked)) else {
            scene.unexpected.push(asked.shown());
            return None;
        };
        let nth = scene.answered[index];
        scene.answered[index] += 1;
        match &scene.mocks[index].reply {
            Replies::One(reply) => Some(reply.clone()),
            Replies::Several(replies) => replies.get(nth).or(replies.last()).cloned(),
        }
    }
}

async fn answer(State(network): State<Arc<Network>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_MAX).await else {
        return response(StatusCode::PAYLOAD_TOO_LARGE, &Map::new(), Body::empty());
    };
    let asked = Asked::of(&head, &body);
    match network.reply(&asked) {
        Some(reply) => {
            let status =
                StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            answered(status, reply)
        }
        None => {
            let text = format!(
                "tests of workflows are offline, and `http` of the test has no reply to {}",
                asked.shown()
            );
            response(StatusCode::NOT_IMPLEMENTED, &Map::new(), Body::from(text))
        }
    }
}

fn answered(status: StatusCode, mut reply: Reply) -> Response<Body> {
    let is_typed = reply
        .headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("content-type"));
    let body = match reply.body {
        Value::Null => Body::empty(),
        Value::String(text) => Body::from(text),
        json @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            if !is_typed {
                reply
                    .headers
                    .insert("content-type".to_owned(), "application/json".into());
            }
            Body::from(json.to_string())
        }
    };
    response(status, &reply.headers, body)
}

fn response(status: StatusCode, headers: &Map<String, Value>, body: Body) -> Response<Body> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        response = response.header(name, value);
    }
    response.body(body).unwrap_or_else(|error| {
        Response::new(Body::from(format!("the reply is not a response: {error}")))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(method: &str, url: &str, body: Value) -> Asked {
        Asked {
            method: method.to_owned(),
            url: url.to_owned(),
            query: json!({ "page": "2" }),
            headers: json!({ "idempotency-key": "test/a" }),
            body,
        }
    }

    fn network(mocks: Value) -> Network {
        let network = Network::default();
        network.set(&serde_json::from_value::<Vec<HttpMock>>(mocks).unwrap());
        network
    }

    #[test]
    fn the_first_that_fits_answers() {
        let network = network(json!([
            { "match": "POST https://a.example/one", "reply": { "status": 201 } },
            { "match": { "url": "a.example/*", "query": { "page": "2" }, "headers": { "Idempotency-Key": "test/a" }, "body": { "n": 1 } },
              "reply": [{ "status": 202 }, { "status": 203 }] },
            { "match": "https://a.example", "reply": {} },
        ]));
        let status = |asked: Asked| network.reply(&asked).map(|reply| reply.status);
        assert_eq!(
            status(asked("POST", "a.example/one", json!({ "n": 1 }))),
            Some(201)
        );
        for expected in [202, 203, 203] {
            assert_eq!(
                status(asked("GET", "a.example/one", json!({ "n": 1, "m": 2 }))),
                Some(expected)
            );
        }
        assert_eq!(status(asked("GET", "a.example/", Value::Null)), Some(200));
        assert_eq!(network.unexpected(), [""; 0]);
        assert_eq!(status(asked("GET", "b.example/", Value::Null)), None);
        assert_eq!(network.unexpected(), ["GET https://b.example/"]);
    }
}
