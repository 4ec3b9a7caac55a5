//! The event of a request at the HTTP trigger of a workflow, and what the request says about itself
//! (docs/guide/workflows.md, "Requests").

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::error::PlatformError;

/// The parts of the event that the platform looks at.
#[derive(Deserialize)]
pub(crate) struct HttpEvent {
    #[serde(default)]
    headers: HashMap<String, Value>,
    #[serde(default)]
    query: HashMap<String, Value>,
}

/// The place in an event that a file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadPlace {
    /// `body.raw_body_url`: the whole body.
    RawBody,
    /// `body.<field>.url`, or `body.<field>[<index>].url` if the field has several values.
    Field {
        /// The name of the field.
        name: String,
        /// Which of its values.
        index: usize,
    },
}

impl HttpEvent {
    /// The event of a request.
    ///
    /// # Errors
    /// `Internal` when it is none.
    pub(crate) fn read(event: &RawValue) -> Result<Self, PlatformError> {
        serde_json::from_str(event.get()).map_err(|error| broken(&error))
    }

    /// The header with credentials.
    pub(crate) fn authorization(&self) -> Option<&str> {
        self.headers.get("authorization")?.as_str()
    }

    /// Whether a header, or else a parameter of the query, is 1.
    pub(crate) fn has_flag(&self, name: &str) -> bool {
        let is_set =
            |values: &HashMap<String, Value>| values.get(name).and_then(Value::as_str) == Some("1");
        is_set(&self.headers) || is_set(&self.query)
    }
}

/// The event with the URLs of its files.
///
/// # Errors
/// `Internal` when it is no event.
pub(crate) fn with_urls(
    event: &RawValue,
    urls: Vec<(UploadPlace, String)>,
) -> Result<Box<RawValue>, PlatformError> {
    let mut event: Value = serde_json::from_str(event.get()).map_err(|error| broken(&error))?;
    for (place, url) in urls {
        match place {
            UploadPlace::RawBody => event["body"] = json!({ "raw_body_url": url }),
            UploadPlace::Field { name, index } => {
                let field = event.get_mut("body").and_then(|body| body.get_mut(&name));
                let value = match field {
                    Some(Value::Array(values)) => values.get_mut(index),
                    value => value,
                };
                if let Some(Value::Object(file)) = value {
                    file.insert("url".to_owned(), url.into());
                }
            }
        }
    }
    to_raw_value(&event).map_err(|error| broken(&error))
}

fn broken(error: &serde_json::Error) -> PlatformError {
    PlatformError::Internal(format!("a request as an event: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_query_tell_about_the_request() {
        let event = to_raw_value(&json!({
            "headers": { "authorization": "Bearer x", "x-pd-notrigger": "1", "x-pd-nostore": "0" },
            "query": { "x-pd-upload-body": "1", "list": ["1"] },
        }));
        let event = HttpEvent::read(&event.unwrap()).unwrap();
        assert_eq!(event.authorization(), Some("Bearer x"));
        for (flag, is_set) in [
            ("x-pd-notrigger", true),
            ("x-pd-upload-body", true),
            ("x-pd-nostore", false),
            ("list", false),
        ] {
            assert_eq!(event.has_flag(flag), is_set, "{flag}");
        }
    }

    #[test]
    fn files_get_their_urls() {
        let event = json!({ "body": {
            "one": { "filename": "a" }, "two": ["text", { "filename": "b" }], "text": "c",
        } });
        let field = |name: &str, index| UploadPlace::Field {
            name: name.to_owned(),
            index,
        };
        let urls = [
            (field("one", 0), "u:1"),
            (field("two", 1), "u:2"),
            (field("text", 0), "u:3"),
            (field("absent", 0), "u:4"),
        ];
        let urls = urls.map(|(place, url)| (place, url.to_owned())).into();
        let event = with_urls(&to_raw_value(&event).unwrap(), urls).unwrap();
        let event: Value = serde_json::from_str(event.get()).unwrap();
        let expected = json!({ "body": {
            "one": { "filename": "a", "url": "u:1" }, "two": ["text", { "filename": "b", "url": "u:2" }], "text": "c",
        } });
        assert_eq!(event, expected);
        let whole = vec![(UploadPlace::RawBody, "u:5".to_owned())];
        let event = with_urls(&to_raw_value(&json!({ "path": "/" })).unwrap(), whole).unwrap();
        let event: Value = serde_json::from_str(event.get()).unwrap();
        assert_eq!(
            event,
            json!({ "path": "/", "body": { "raw_body_url": "u:5" } })
        );
    }
}
