//! The network of tests: a server that every request of a step reaches, whatever its host, and that knows no answers but
//! those of the test.
//!
//! Workers reach it as they reach a node's own API under an alias: over a socket, in plain HTTP, so that it sees requests
//! to `https` and to `http` alike. Not responsible for connections that are not HTTP, which the network policy refuses.

mod asked;
mod mock;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::UnixListener;

use self::asked::Asked;
pub(super) use self::mock::HttpMock;
use self::mock::Reply;

/// Bytes of a request's body.
const BODY_MAX: usize = 64 * 1024 * 1024;

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
    /// The answers that each call of a step has had from each.
    given: HashMap<(String, usize), Given>,
    unexpected: Vec<String>,
}

/// The answers of one entry to one call of a step.
#[derive(Default)]
struct Given {
    /// Their numbers among all answers of the entry.
    numbers: Vec<usize>,
    /// The requests of the call so far, since it was made again.
    asked: usize,
}

impl Scene {
    /// The number of an entry's next answer. A call that is made again asks what it has asked before, and is answered so.
    fn number(&mut self, entry: usize, call: Option<&str>) -> usize {
        let Some(call) = call else {
            return self.next_number(entry);
        };
        let key = (call.to_owned(), entry);
        let given = self.given.entry(key.clone()).or_default();
        given.asked += 1;
        if let Some(number) = given.numbers.get(given.asked - 1) {
            return *number;
        }
        let number = self.next_number(entry);
        self.given.entry(key).or_default().numbers.push(number);
        number
    }

    fn next_number(&mut self, entry: usize) -> usize {
        let number = self.answered[entry];
        self.answered[entry] += 1;
        number
    }
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
            ..Scene::default()
        };
    }

    /// Another node goes on: calls that were interrupted are made again.
    pub(super) fn go_on(&self) {
        let mut scene = self.scene.lock();
        scene.given.values_mut().for_each(|given| given.asked = 0);
    }

    /// The requests that had no answer.
    pub(super) fn unexpected(&self) -> Vec<String> {
        self.scene.lock().unexpected.clone()
    }

    fn reply(&self, asked: &Asked) -> Option<Reply> {
        let mut scene = self.scene.lock();
        let Some(entry) = scene.mocks.iter().position(|mock| mock.fits(asked)) else {
            scene.unexpected.push(asked.shown());
            return None;
        };
        let number = scene.number(entry, asked.call.as_deref());
        Some(scene.mocks[entry].reply(number).clone())
    }
}

async fn answer(State(network): State<Arc<Network>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_MAX).await else {
        return response(
            StatusCode::PAYLOAD_TOO_LARGE,
            HeaderMap::new(),
            Body::empty(),
        );
    };
    let asked = Asked::of(&head, &body);
    match network.reply(&asked) {
        Some(reply) => answered(reply),
        None => {
            let text = format!(
                "tests of workflows are offline, and `http` of the test has no reply to {}",
                asked.shown()
            );
            response(
                StatusCode::NOT_IMPLEMENTED,
                HeaderMap::new(),
                Body::from(text),
            )
        }
    }
}

fn answered(mut reply: Reply) -> Response<Body> {
    let body = match reply.body {
        Value::Null => Body::empty(),
        Value::String(text) => Body::from(text),
        json @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            let json_type = header::HeaderValue::from_static("application/json");
            reply
                .headers
                .entry(header::CONTENT_TYPE)
                .or_insert(json_type);
            Body::from(json.to_string())
        }
    };
    response(reply.status, reply.headers, body)
}

fn response(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(method: &str, url: &str, body: Value) -> Asked {
        Asked {
            method: method.to_owned(),
            url: url.to_owned(),
            query_text: "page=2&tag=a&tag=b".to_owned(),
            query: asked::query("page=2&tag=a&tag=b").into(),
            headers: json!({ "idempotency-key": "test/a", "x-count": "3" }),
            body,
            call: None,
        }
    }

    fn network(mocks: Value) -> Network {
        let network = Network::default();
        let mocks = mocks.as_array().unwrap().iter();
        network.set(
            &mocks
                .map(|mock| HttpMock::read(mock).unwrap())
                .collect::<Vec<_>>(),
        );
        network
    }

    #[test]
    fn the_first_that_fits_answers() {
        let network = network(json!([
            { "match": "POST https://a.example/one", "reply": { "status": 201 } },
            { "match": { "url": "a.example/*", "query": { "page": 2 }, "headers": { "Idempotency-Key": "test/a", "x-count": 3 }, "body": { "n": 1 } },
              "reply": [{ "status": 202 }, { "status": 203 }] },
            { "match": "https://a.example", "reply": {} },
        ]));
        let status = |asked: Asked| network.reply(&asked).map(|reply| reply.status.as_u16());
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
        assert_eq!(
            network.unexpected(),
            ["GET https://b.example/?page=2&tag=a&tag=b"]
        );
    }

    #[test]
    fn a_url_is_meant_however_it_is_written() {
        for (wanted, is_meant) in [
            ("https://A.Example/One", true),
            ("get http://a.example/One", true),
            ("GET   a.example:443/One#there", true),
            ("https://a.example/One?page=2", true),
            ("https://a.example/One?tag=a&tag=b", true),
            ("https://A.example/O*", true),
            ("https://A.exam*", true),
            ("*", true),
            ("https://a.example/one", false),
            ("https://a.example/One?page=3", false),
            ("https://a.example/One?tag=a", false),
            ("https://a.example:8443/One", false),
            ("POST https://a.example/One", false),
        ] {
            let network = network(json!([{ "match": wanted, "reply": {} }]));
            let reply = network.reply(&asked("GET", "a.example/One", Value::Null));
            assert_eq!(reply.is_some(), is_meant, "{wanted}");
        }
    }

    #[test]
    fn a_call_that_is_made_again_has_the_answers_that_it_had() {
        let network = network(json!([
            { "match": "*", "reply": [{ "body": 0 }, { "body": 1 }, { "body": 2 }, { "body": 3 }, { "body": 4 }] },
        ]));
        let ask = |call: Option<&str>| {
            let mut asked = asked("GET", "a.example/", Value::Null);
            asked.call = call.map(str::to_owned);
            network.reply(&asked).unwrap().body
        };
        assert_eq!(
            [ask(Some("0")), ask(Some("1")), ask(Some("0")), ask(None)],
            [0, 1, 2, 3]
        );
        network.go_on();
        assert_eq!([ask(Some("0")), ask(None)], [0, 4]);
        assert_eq!([ask(Some("0")), ask(Some("1"))], [2, 1]);
    }
}
