//! The type of a body: `body` of the event and its `inferred_body_type`.
//!
//! Senders often give the wrong type (curl calls any text a form, AWS SNS calls its JSON plain text),
//! and registry components rely on it being recognised. So an object or list in JSON is one whatever
//! its type says, and a type is believed only as far as the body bears it out.

use std::borrow::Cow;

use headwater_model::limits::FORM_FIELDS_MAX;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    fields::{self, Fields},
    multipart::{self, Part},
};

/// A body that is not empty.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    /// Valid JSON, passed on as it is written.
    Json(&'a RawValue),
    /// `application/x-www-form-urlencoded`.
    Form(Fields<'a, Cow<'a, str>>),
    /// `multipart/form-data`.
    MultipartForm(Fields<'a, Part<'a>>),
    /// Any other text.
    Text(&'a str),
    /// Bytes that are not text; they are in `bodyRaw` only.
    Binary,
}

impl<'a> Content<'a> {
    /// The type of the body; `None` if it is empty.
    pub(super) fn of(content_type: &str, body: &'a [u8]) -> Option<Self> {
        if body.is_empty() {
            return None;
        }
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("multipart/form-data")
            && let Some(fields) = multipart::parse(content_type, body)
        {
            return Some(Self::MultipartForm(fields));
        }
        let Ok(text) = std::str::from_utf8(body) else {
            return Some(Self::Binary);
        };
        if (is_json(essence) || text.trim_start().starts_with(['{', '[']))
            && let Ok(json) = serde_json::from_str(text)
        {
            return Some(Self::Json(json));
        }
        Some(match is_form(essence, text) {
            true => Self::Form(fields::url_encoded(text)),
            false => Self::Text(text),
        })
    }

    /// `inferred_body_type`.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Json(_) => "JSON",
            Self::Form(_) => "FORM",
            Self::MultipartForm(_) => "MULTIPART_FORM",
            Self::Text(_) => "TEXT",
            Self::Binary => "BINARY",
        }
    }

    /// The fields of a `multipart/form-data` body.
    pub(super) fn multipart(&self) -> Option<&Fields<'a, Part<'a>>> {
        if let Self::MultipartForm(fields) = self {
            return Some(fields);
        }
        None
    }

    /// Whether there is something to show as `body`.
    pub(super) fn has_value(&self) -> bool {
        !matches!(self, Self::Binary)
    }
}

fn is_json(essence: &str) -> bool {
    let essence = essence.to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json")
}

fn is_form(essence: &str, text: &str) -> bool {
    let ends = text.bytes().filter(|byte| *byte == b'&');
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded")
        && ends.count() < FORM_FIELDS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_inferred_from_header_and_content() {
        let form = "application/x-www-form-urlencoded";
        let multipart = "multipart/form-data; boundary=B";
        for (content_type, body, type_name, expected) in [
            ("application/json", r#"{"a": 1}"#, "JSON", r#"{"a": 1}"#),
            ("application/json", "7", "JSON", "7"),
            ("application/vnd.x+JSON; v=1", "null", "JSON", "null"),
            ("application/json", "{\"a\":", "TEXT", r#""{\"a\":""#),
            ("application/json", "nan", "TEXT", r#""nan""#),
            ("text/plain; charset=UTF-8", " [1]", "JSON", "[1]"),
            ("text/plain", "7", "TEXT", r#""7""#),
            ("", r#"{"a":1}"#, "JSON", r#"{"a":1}"#),
            ("", "a=1", "TEXT", r#""a=1""#),
            (form, "a=1&b=x+y", "FORM", r#"{"a":"1","b":"x y"}"#),
            (form, r#"{"a":1}"#, "JSON", r#"{"a":1}"#),
            (multipart, "no parts", "TEXT", r#""no parts""#),
        ] {
            let content = Content::of(content_type, body.as_bytes()).unwrap();
            assert_eq!(content.type_name(), type_name, "{content_type} {body}");
            assert_eq!(serde_json::to_string(&content).unwrap(), expected);
        }
        let fields = |count| vec!["a"; count].join("&");
        for (count, type_name) in [(FORM_FIELDS_MAX, "FORM"), (FORM_FIELDS_MAX + 1, "TEXT")] {
            let body = fields(count);
            let content = Content::of(form, body.as_bytes()).unwrap();
            assert_eq!(content.type_name(), type_name, "{count} fields");
        }
        assert!(Content::of("application/json", b"").is_none());
        assert_eq!(Content::of("", &[0xFF]).unwrap().type_name(), "BINARY");
    }
}
