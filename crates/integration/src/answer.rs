//! An answer of a node, and what tests read from it.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// Status, headers and body of a response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub text: String,
    call: String,
}

impl Answer {
    pub(crate) async fn read(call: String, response: reqwest::Response) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response
                .text()
                .await
                .unwrap_or_else(|error| panic!("{call}: {error}")),
            call,
        }
    }

    /// The same answer, checked to have this status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.call, self.text);
        self
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.call, self.text))
    }

    /// `data` of the body.
    #[track_caller]
    pub fn data(&self) -> Value {
        let mut body = self.json();
        body.get_mut("data")
            .map(Value::take)
            .unwrap_or_else(|| panic!("{}: no data in {}", self.call, self.text))
    }

    /// The items of a list.
    #[track_caller]
    pub fn items(&self) -> Vec<Value> {
        let Value::Array(items) = self.data() else {
            panic!("{}: not a list: {}", self.call, self.text)
        };
        items
    }

    /// `error` of the body.
    #[track_caller]
    pub fn error(&self) -> Value {
        let error = self.json()["error"].take();
        assert!(
            error["code"].is_string() && error["message"].is_string(),
            "{}: {}",
            self.call,
            self.text
        );
        error
    }

    /// A header's value; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}
