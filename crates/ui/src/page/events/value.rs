//! The value of an event, in the ways that its page shows it: as a tree, as the text that was stored, the parts of a
//! request, and as webhooks get it.

use headwater_model::{
    event::{Event, EventRef},
    time::EpochMs,
};
use headwater_platform::{ForwardedEvent, WebhookRequest};
use maud::{Markup, html};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use crate::{
    part::{
        payload,
        text::{self, bytes, cut},
        tree::Tree,
        verification::{COPIED_BYTES_MAX, block},
    },
    visit::Visitor,
};

/// A way of showing a value, with its name in addresses and on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Tree,
    Headers,
    Query,
    Body,
    Raw,
    Delivery,
}

impl View {
    const ALL: [(Self, Option<&'static str>, &'static str); 6] = [
        (Self::Tree, None, "Tree"),
        (Self::Headers, Some("headers"), "Headers"),
        (Self::Query, Some("query"), "Query"),
        (Self::Body, Some("body"), "Body"),
        (Self::Raw, Some("raw"), "As it was stored"),
        (Self::Delivery, Some("delivery"), "As webhooks get it"),
    ];

    /// The view that an address asks for; one that there is not counts as the tree.
    fn of(visitor: &Visitor, is_request: bool) -> Self {
        let wanted = visitor.parameter("view");
        let found = Self::ALL
            .into_iter()
            .find(|(_, name, _)| *name == wanted.as_deref());
        let view = found.map_or(Self::Tree, |(view, _, _)| view);
        match is_request || !view.is_of_request() {
            true => view,
            false => Self::Tree,
        }
    }

    fn is_of_request(self) -> bool {
        matches!(self, Self::Headers | Self::Query | Self::Body)
    }
}

/// Whether a value is the request that an HTTP interface gave to its component.
fn is_request(value: &Value) -> bool {
    let is_text = |name: &str| value.get(name).is_some_and(Value::is_string);
    is_text("method") && is_text("path") && value.get("headers").is_some_and(Value::is_object)
}

/// The value as the address asks for it, with the ways to show it otherwise.
pub(super) fn shown(event: &Event, of: &EventRef, address: &str, visitor: &Visitor) -> Markup {
    let text = event.event.get();
    let whole: Value = serde_json::from_str(text).unwrap_or_default();
    let is_request = is_request(&whole);
    let view = View::of(visitor, is_request);
    let views = View::ALL
        .into_iter()
        .filter(|(view, _, _)| is_request || !view.is_of_request());
    html! {
        ul.chips aria-label="Ways to show the value" {
            @for (one, name, label) in views {
                li { a href={ (address) @if let Some(name) = name { "?view=" (name) } } aria-current=[(one == view).then_some("true")] { (label) } }
            }
        }
        @match view {
            View::Tree => { (tree(&whole, address, visitor)) }
            View::Headers => { (fields(whole.get("headers"))) }
            View::Query => { (fields(whole.get("query"))) }
            View::Body => { (body(&whole, address, visitor)) }
            View::Raw => { (raw(text, address)) }
            View::Delivery => { (delivery(event, of, address, visitor.now_ms)) }
        }
    }
}

/// The whole, or the part of it that the address names.
fn tree(whole: &Value, address: &str, visitor: &Visitor) -> Markup {
    let at = visitor.parameter("at").unwrap_or_default();
    tree_at(whole, &at, address, visitor)
}

fn tree_at(whole: &Value, at: &str, address: &str, visitor: &Visitor) -> Markup {
    let encoded = |pointer: &str| byte_serialize(pointer.as_bytes()).collect::<String>();
    let part = |pointer: &str| format!("?at={}", encoded(pointer));
    let raw = |pointer: &str| format!("{address}/raw?at={}", encoded(pointer));
    let tree = Tree {
        part: Some(&part),
        name: "event",
        at,
        from: Some(visitor.first_child()),
        raw: Some(&raw),
    };
    tree.part_of(whole, address)
}

/// The headers or the query of a request.
fn fields(of: Option<&Value>) -> Markup {
    let fields = of.and_then(Value::as_object);
    html! {
        @match fields.filter(|fields| !fields.is_empty()) {
            None => { p.note { "The request had none." } }
            Some(fields) => {
                (payload::block(html! { dl.facts { @for (name, value) in fields {
                    dt { (text::line(name)) }
                    dd { code { (text::value(value.as_str().unwrap_or(&value.to_string()))) } }
                } } }))
            }
        }
    }
}

/// The body of a request: as it was read, or else its text.
fn body(whole: &Value, address: &str, visitor: &Visitor) -> Markup {
    let is_empty = |value: &&Value| value.is_null() || value.as_str() == Some("");
    let of = |name: &str| whole.get(name).filter(|value| !is_empty(value));
    match (of("body"), of("bodyRaw")) {
        (Some(Value::String(text)), _) | (None, Some(Value::String(text))) => {
            excerpt(text, &format!("{address}/raw"))
        }
        (Some(_), _) => tree_at(whole, "/body", address, visitor),
        (None, _) => html! { p.note { "The request had none." } },
    }
}

/// The text that is kept, as it is.
fn raw(text: &str, address: &str) -> Markup {
    html! {
        @if text.len() <= COPIED_BYTES_MAX { (payload::block(block(text))) }
        @else { (excerpt(text, &format!("{address}/raw"))) }
    }
}

/// A text, or its beginning if it is large, with the address of the file that has all of it.
fn excerpt(text: &str, file: &str) -> Markup {
    let (shown, is_cut) = cut(text, COPIED_BYTES_MAX);
    html! {
        @if is_cut { p.note { "The beginning of " (bytes(text.len())) ". " a href=(file) download { "Download the event" } } }
        (payload::block(html! { pre tabindex="0" { (text::value(shown)) } }))
    }
}

/// The request that webhooks get, and the text of it that is signed.
fn delivery(event: &Event, of: &EventRef, address: &str, now_ms: EpochMs) -> Markup {
    let body = event.event.get();
    let forwarded = ForwardedEvent {
        emitter: &of.emitter,
        id: of.id,
        channel: &event.channel,
        body: body.to_owned().into(),
    };
    let request = WebhookRequest::unsigned(forwarded, now_ms);
    let own = [
        (
            "webhook-id",
            format!(
                "{}_{}_sub_…, with the id of the subscription: the same for each attempt",
                of.emitter, of.id
            ),
        ),
        (
            "webhook-timestamp",
            format!("the seconds of the attempt; now {}", now_ms.to_seconds().0),
        ),
        (
            "webhook-signature",
            "v1,… with base64 behind it, for each secret that is valid".to_owned(),
        ),
    ];
    let others = request.headers.iter().filter(|(name, _)| {
        let mut own = own.iter();
        own.all(|(own, _)| *own != name.as_str())
    });
    let (beginning, is_cut) = cut(body, COPIED_BYTES_MAX);
    let signed = format!("{{webhook-id}}.{{webhook-timestamp}}.{beginning}");
    html! {
        h3 { "Headers" }
        dl.facts {
            @for (name, value) in &own { dt { (name) } dd { (value) } }
            @for (name, value) in others { dt { (name.as_str()) } dd { code { (text::visible(&String::from_utf8_lossy(value.as_bytes()))) } } }
        }
        h3 { "Text that is signed" }
        p { "The signature is the HMAC-SHA256 of this text with the bytes of the webhook's secret, in base64:" }
        (payload::block(html! { pre tabindex="0" { (text::value(&signed)) @if is_cut { "…" } } }))
        p.note {
            "The body is the event " a href={ (address) "?view=raw" } { "as it was stored" } ". "
            a href="/guide/webhooks" { "Webhooks and subscriptions" } " has more, and the pages of deliveries have the headers that were sent."
        }
    }
}

/// The text of a file with an event, or with the part of it at a pointer; that of a string may be asked for alone.
pub(super) fn file(event: &Event, at: &str, is_text: bool) -> Option<String> {
    let json = event.event.get();
    if at.is_empty() && !is_text {
        return Some(json.to_owned());
    }
    let whole: Value = serde_json::from_str(json).ok()?;
    let part = whole.pointer(at)?;
    let text = part.as_str().filter(|_| is_text);
    Some(text.map_or_else(|| format!("{part:#}"), str::to_owned))
}

#[cfg(test)]
mod tests {
    use headwater_model::{channel::Channel, id::EventId};
    use serde_json::{json, value::RawValue};

    use super::*;

    #[test]
    fn requests_are_told_by_their_shape() {
        let request = json!({"method": "GET", "path": "/", "headers": {}});
        assert!(is_request(&request));
        for other in [
            json!(null),
            json!({"method": "GET", "path": "/"}),
            json!({"method": "GET", "path": 1, "headers": {}}),
            json!({"method": "GET", "path": "/", "headers": []}),
        ] {
            assert!(!is_request(&other), "{other}");
        }
    }

    #[test]
    fn headers_and_query_are_lists() {
        let shown = fields(Some(&json!({"accept": "*/*", "n": [1, "<b>"]}))).into_string();
        assert!(
            shown.contains("*/*") && shown.contains("[1,&quot;&lt;b&gt;&quot;]"),
            "{shown}"
        );
        assert!(fields(Some(&json!({}))).into_string().contains("had none"));
    }

    #[test]
    fn a_part_is_a_file_of_its_own() {
        let json = "{\"b\":{\"z\":1,\"a\":\"two\\nlines\"} }";
        let event = Event {
            id: EventId::default(),
            indexed_at_ms: EpochMs(1),
            channel: Channel::default(),
            event: RawValue::from_string(json.to_owned()).unwrap(),
            key: None,
            summary: None,
            ts: None,
            run_id: None,
        };
        let whole = file(&event, "", false);
        assert_eq!(whole.as_deref(), Some(json), "as it was stored");
        let text = file(&event, "/b/a", true);
        assert_eq!(text.as_deref(), Some("two\nlines"));
        let part = file(&event, "/b", false).unwrap();
        assert!(part.starts_with("{\n  \"z\": 1,"), "{part}");
        assert_eq!(file(&event, "/c", false), None);
    }
}
