//! The event of a request (docs/api-design.md, "Requests at endpoints"), written straight to JSON text:
//! no tree of values is built on the way.

use std::{borrow::Cow, io, net::IpAddr};

use axum::http::{HeaderMap, HeaderValue, header, request::Parts};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    content::Content,
    fields::{self, Fields},
    multipart::Part,
    site,
};

/// A request at an endpoint, arrived whole.
pub(super) struct Arrived<'a> {
    /// The component's part of the path.
    pub(super) path: &'a str,
    /// The whole URL as the outside knows it.
    pub(super) url: &'a str,
    pub(super) parts: &'a Parts,
    pub(super) client_ip: Option<IpAddr>,
    pub(super) body: &'a [u8],
}

/// All that the component is told.
#[derive(Serialize)]
pub(super) struct Event<'a> {
    method: &'a str,
    path: &'a str,
    query: Fields<'a, Cow<'a, str>>,
    headers: Headers<'a>,
    #[serde(rename = "bodyRaw")]
    body_raw: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Content<'a>>,
    #[serde(rename = "isBase64", skip_serializing_if = "Option::is_none")]
    is_base64: Option<bool>,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_ip: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inferred_body_type: Option<&'static str>,
}

impl Arrived<'_> {
    /// The event, not written yet.
    pub(super) fn event(&self) -> Event<'_> {
        let headers = &self.parts.headers;
        let content_type = headers
            .get(header::CONTENT_TYPE)
            .map(text)
            .unwrap_or_default();
        let body = Content::of(&content_type, self.body);
        let utf8 = std::str::from_utf8(self.body).ok();
        Event {
            method: self.parts.method.as_str(),
            path: self.path,
            query: fields::url_encoded(self.parts.uri.query().unwrap_or_default()),
            headers: Headers(headers),
            body_raw: utf8.map_or_else(|| STANDARD.encode(self.body).into(), Cow::Borrowed),
            inferred_body_type: body.as_ref().map(Content::type_name),
            body: body.filter(Content::has_value),
            is_base64: utf8.is_none().then_some(true),
            url: self.url,
            client_ip: self.client_ip,
        }
    }
}

impl<'a> Event<'a> {
    /// The event as JSON text.
    pub(super) fn json(&self) -> Result<Box<RawValue>, serde_json::Error> {
        to_raw_value(self)
    }

    /// The bytes of that text, without the memory for it.
    pub(super) fn json_bytes(&self) -> Result<usize, serde_json::Error> {
        json_bytes(self)
    }

    /// The files of the body: the name of each one's field, its number among the field's values, its name and content.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, usize, &str, &'a [u8])> {
        let fields = self.body.as_ref().and_then(Content::multipart);
        let values = fields.into_iter().flat_map(Fields::iter);
        values.filter_map(|(field, number, part)| match part {
            Part::File {
                filename, content, ..
            } => Some((field, number, &**filename, *content)),
            Part::Field(_) => None,
        })
    }

    /// The same as the HTTP trigger of a workflow has it.
    pub(super) fn of_trigger(self) -> TriggerEvent<'a> {
        let raw = Some(self.body_raw).filter(|raw| !raw.is_empty());
        TriggerEvent {
            body: self.body.map(Body::Parsed).or(raw.map(Body::Raw)),
            client_ip: self.client_ip,
            headers: self.headers,
            method: self.method,
            path: self.path,
            query: self.query,
            url: self.url,
        }
    }
}

/// A request as the HTTP trigger of a workflow has it: the body once, parsed if it can be.
#[derive(Serialize)]
pub(super) struct TriggerEvent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Body<'a>>,
    client_ip: Option<IpAddr>,
    headers: Headers<'a>,
    method: &'a str,
    path: &'a str,
    query: Fields<'a, Cow<'a, str>>,
    url: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Parsed(Content<'a>),
    Raw(Cow<'a, str>),
}

impl TriggerEvent<'_> {
    /// The event as JSON text.
    pub(super) fn json(&self) -> Result<Box<RawValue>, serde_json::Error> {
        to_raw_value(self)
    }

    /// The bytes of that text, without the memory for it.
    pub(super) fn json_bytes(&self) -> Result<usize, serde_json::Error> {
        json_bytes(self)
    }
}

fn json_bytes(event: &impl Serialize) -> Result<usize, serde_json::Error> {
    let mut count = Count(0);
    serde_json::to_writer(&mut count, event)?;
    Ok(count.0)
}

/// Counts the bytes written.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Header names in lower case; repeated ones joined as one line. Cookies of the node's own pages are not shown.
struct Headers<'a>(&'a HeaderMap);

impl Serialize for Headers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.keys_len()))?;
        for name in self.0.keys() {
            let mut values = self.0.get_all(name).iter();
            let first = values.next().map(text).unwrap_or_default();
            let separator = if name == header::COOKIE { "; " } else { ", " };
            let line = values.fold(first, |line, value| {
                Cow::Owned(format!("{line}{separator}{}", text(value)))
            });
            let line = match *name == header::COOKIE {
                true => site::without_nodes_cookies(line),
                false => Some(line),
            };
            if let Some(line) = line {
                map.serialize_entry(name.as_str(), &line)?;
            }
        }
        map.end()
    }
}

/// UTF-8 if it is, else Latin-1, which every byte sequence is.
fn text(value: &HeaderValue) -> Cow<'_, str> {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => value
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use serde_json::{Value, json};

    use super::*;

    fn event(request: axum::http::request::Builder, body: &[u8]) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let arrived = Arrived {
            path: "/a",
            url: "http://node/e/tok/a",
            parts: &parts,
            client_ip: Some([192, 0, 2, 1].into()),
            body,
        };
        let event = arrived.event();
        let json = event.json().unwrap();
        assert_eq!(event.json_bytes().unwrap(), json.get().len());
        serde_json::from_str(json.get()).unwrap()
    }

    #[test]
    fn a_request_is_told_whole() {
        let request = Request::post("/e/tok/a?x=1&y=a&y=b&z")
            .header("Content-Type", "application/json; charset=utf-8")
            .header("X-Two", "1")
            .header("x-two", "2")
            .header("cookie", "a=1")
            .header("cookie", "headwater_c_1=x; b=2");
        assert_eq!(
            event(request, br#"{"n": 1}"#),
            json!({
                "method": "POST",
                "path": "/a",
                "query": {"x": "1", "y": ["a", "b"], "z": ""},
                "headers": {
                    "content-type": "application/json; charset=utf-8",
                    "x-two": "1, 2",
                    "cookie": "a=1; b=2",
                },
                "bodyRaw": r#"{"n": 1}"#,
                "body": {"n": 1},
                "url": "http://node/e/tok/a",
                "client_ip": "192.0.2.1",
                "inferred_body_type": "JSON",
            })
        );
    }

    fn trigger_event(request: axum::http::request::Builder, body: &[u8]) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let arrived = Arrived {
            path: "/resume",
            url: "http://node/w/tok/resume",
            parts: &parts,
            client_ip: None,
            body,
        };
        let event = arrived.event().of_trigger();
        let json = event.json().unwrap();
        assert_eq!(event.json_bytes().unwrap(), json.get().len());
        serde_json::from_str(json.get()).unwrap()
    }

    #[test]
    fn a_workflow_gets_the_body_once() {
        let request = Request::post("/w/tok/resume?a=1").header("x-a", "1");
        assert_eq!(
            trigger_event(request, br#"{"ok": true}"#),
            json!({
                "body": {"ok": true},
                "client_ip": null,
                "headers": {"x-a": "1"},
                "method": "POST",
                "path": "/resume",
                "query": {"a": "1"},
                "url": "http://node/w/tok/resume",
            })
        );
        for (body, expected) in [(&b"yes"[..], json!("yes")), (&[0xFF, 0x00], json!("/wA="))] {
            assert_eq!(trigger_event(Request::post("/"), body)["body"], expected);
        }
        let event = trigger_event(Request::get("/"), b"");
        assert!(event.get("body").is_none());
    }

    #[test]
    fn without_a_body_there_is_none() {
        let event = event(Request::get("/e/tok/a"), b"");
        assert_eq!(event["bodyRaw"], "");
        assert_eq!(event["query"], json!({}));
        for absent in ["body", "isBase64", "inferred_body_type"] {
            assert!(event.get(absent).is_none(), "{absent}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_come_as_base64() {
        let event = event(Request::put("/"), &[0xFF, 0x00]);
        assert_eq!(
            (&event["bodyRaw"], &event["isBase64"]),
            (&json!("/wA="), &json!(true))
        );
        assert!(event.get("body").is_none());
    }

    #[test]
    fn control_characters_are_twelve_times_as_long() {
        let (parts, ()) = Request::post("/").body(()).unwrap().into_parts();
        let told = |body| Arrived {
            path: "/",
            url: "/",
            parts: &parts,
            client_ip: None,
            body,
        };
        let bytes = |body| told(body).event().json_bytes().unwrap();
        assert_eq!(bytes(&[1; 1_000]) - bytes(&[1; 1]), 12 * 999);
    }

    #[test]
    fn header_values_may_hold_any_bytes() {
        let request = Request::get("/")
            .header("x-utf8", HeaderValue::from_bytes("ü".as_bytes()).unwrap())
            .header("x-latin1", HeaderValue::from_bytes(&[0xFC]).unwrap());
        let event = event(request, b"");
        assert_eq!(event["headers"], json!({"x-utf8": "ü", "x-latin1": "ü"}));
    }
}
