//! A request of a step.

use axum::body::Bytes;
use axum::http::{HeaderValue, header, request::Parts};
use serde_json::{Map, Value};

/// The header with the mark of the call that a request belongs to (`runtime/worker/invocation.ts`).
const CALL_HEADER: &str = "x-headwater-call";

/// A request of a step.
pub(super) struct Asked {
    pub(super) method: String,
    /// Without a scheme, which nothing tells here, and without the query.
    pub(super) url: String,
    pub(super) query_text: String,
    pub(super) query: Value,
    pub(super) headers: Value,
    pub(super) body: Value,
    /// The call of a step that it belongs to, as far as its worker knows.
    pub(super) call: Option<String>,
}

impl Asked {
    pub(super) fn of(head: &Parts, body: &Bytes) -> Self {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let call = head.headers.get(CALL_HEADER).map(text);
        let headers = head.headers.iter();
        let headers: Map<String, Value> = headers
            .filter(|(name, _)| name.as_str() != CALL_HEADER)
            .map(|(name, value)| (name.to_string(), text(value).into()))
            .collect();
        let host = head.uri.authority().map(ToString::to_string);
        let host = host
            .or_else(|| head.headers.get(header::HOST).map(text))
            .unwrap_or_default();
        let query_text = head.uri.query().unwrap_or_default().to_owned();
        let body = serde_json::from_slice(body)
            .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(body).into_owned()));
        Self {
            method: head.method.to_string(),
            url: format!("{}{}", plain_host(&host), head.uri.path()),
            query: query(&query_text).into(),
            query_text,
            headers: headers.into(),
            body,
            call,
        }
    }

    pub(super) fn shown(&self) -> String {
        let mark = if self.query_text.is_empty() { "" } else { "?" };
        format!(
            "{} https://{}{mark}{}",
            self.method, self.url, self.query_text
        )
    }
}

/// A host and its port, without the port that follows from a scheme.
pub(super) fn plain_host(host: &str) -> String {
    let host = host.to_lowercase();
    let named = host.strip_suffix(":443").or(host.strip_suffix(":80"));
    named.map(str::to_owned).unwrap_or(host)
}

/// The parameters of a query. One that is there several times is a list.
pub(super) fn query(text: &str) -> Map<String, Value> {
    let mut query = Map::new();
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
        let value = Value::from(value);
        match query.get_mut(&*name) {
            None => drop(query.insert(name.into_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(single) => *single = Value::Array(vec![single.take(), value]),
        }
    }
    query
}
