//! A request as the HTTP trigger of a workflow has it (docs/guide/workflows.md, "Triggers").

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::PlatformError;

/// The event of an endpoint: that of a source, of which a workflow gets the body once.
#[derive(Deserialize)]
pub(crate) struct HttpEvent<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(borrow)]
    query: &'a RawValue,
    headers: serde_json::Map<String, serde_json::Value>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
    #[serde(borrow, rename = "bodyRaw", default)]
    body_raw: Option<&'a RawValue>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    client_ip: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct TriggerEvent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
    client_ip: Option<&'a str>,
    headers: &'a serde_json::Map<String, serde_json::Value>,
    method: &'a str,
    path: &'a str,
    query: &'a RawValue,
    url: &'a str,
}

impl<'a> HttpEvent<'a> {
    /// The event of an endpoint.
    ///
    /// # Errors
    /// `Internal` when it is none.
    pub(crate) fn read(event: &'a RawValue) -> Result<Self, PlatformError> {
        serde_json::from_str(event.get())
            .map_err(|error| PlatformError::Internal(format!("a request as an event: {error}")))
    }

    /// The header with credentials.
    pub(crate) fn authorization(&self) -> Option<&str> {
        self.headers.get("authorization")?.as_str()
    }

    /// Whether a header is set to 1.
    pub(crate) fn has_flag(&self, header: &str) -> bool {
        self.headers.get(header).and_then(|value| value.as_str()) == Some("1")
    }

    /// The event of the trigger: the parsed body, or else its text.
    ///
    /// # Errors
    /// `Internal` when it cannot be written.
    pub(crate) fn of_trigger(&self) -> Result<Box<RawValue>, PlatformError> {
        let is_text = |raw: &&RawValue| raw.get() != "\"\"";
        let event = TriggerEvent {
            body: self.body.or(self.body_raw.filter(is_text)),
            client_ip: self.client_ip.as_deref(),
            headers: &self.headers,
            method: &self.method,
            path: &self.path,
            query: self.query,
            url: &self.url,
        };
        to_raw_value(&event).map_err(|error| PlatformError::Internal(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn trigger_event(event: &Value) -> Value {
        let event = to_raw_value(event).unwrap();
        let event = HttpEvent::read(&event).unwrap().of_trigger().unwrap();
        serde_json::from_str(event.get()).unwrap()
    }

    fn request(more: Value) -> Value {
        let mut request = json!({
            "method": "POST", "path": "/a\"b", "query": { "q": "1" }, "headers": { "authorization": "Bearer x", "x-pd-notrigger": "1" },
            "url": "https://example.com/a", "client_ip": "127.0.0.1",
        });
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        request
    }

    #[test]
    fn the_body_comes_once_and_parsed_if_it_can_be() {
        let event = trigger_event(&request(
            json!({ "bodyRaw": "{\"a\":1}", "body": { "a": 1 } }),
        ));
        assert_eq!(event["body"], json!({ "a": 1 }));
        assert_eq!(event.get("bodyRaw"), None);
        assert_eq!(event["path"], "/a\"b");
        let event = trigger_event(&request(json!({ "bodyRaw": "plain" })));
        assert_eq!(event["body"], "plain");
        let event = trigger_event(&request(json!({ "bodyRaw": "" })));
        assert_eq!(event.get("body"), None);
    }

    #[test]
    fn headers_tell_about_the_request() {
        let event = to_raw_value(&request(json!({}))).unwrap();
        let event = HttpEvent::read(&event).unwrap();
        assert_eq!(event.authorization(), Some("Bearer x"));
        assert!(event.has_flag("x-pd-notrigger") && !event.has_flag("x-pd-nostore"));
    }
}
