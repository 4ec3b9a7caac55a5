//! The event of a message, as triggers for mail hand it to workflows.
//!
//! Two shapes lie beside each other, both of which steps written for Pipedream read: `headers`, `body` and
//! `attachments` as its parser gives them, and `mail` and `receipt` as the notifications of the receiving
//! service behind it have them. Nothing is checked about the sender: every verdict is `GRAY`.
//!
//! Messages are hostile until shown otherwise. Parts, nesting, header fields and texts are bounded, and the
//! event's `truncated` names what was left out; the message as a whole is always in `raw`. Storing that and
//! the attachments is the caller's, and so are their URLs.

mod address;
mod attachments;
mod body;
mod fields;
mod header_values;
mod mime;
mod notification;
mod options;
mod syntax;
mod trace;
mod transfer;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use serde_json::{Map, Value, json};

pub use self::{attachments::Attachment, options::Options};
use self::{body::Body, fields::Fields, trace::Trace};
use crate::receive::Received;

/// A message that was read.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The trigger's event, without URLs.
    pub event: Value,
    /// The attachments, in the order of `attachments` in the event.
    pub attachments: Vec<Attachment>,
    /// The message as it came in, below a `Return-Path` and a `Received` of this server.
    pub raw: Bytes,
}

impl Parsed {
    /// Tells where an attachment can be read, as its `contentUrl`.
    pub fn set_attachment_url(&mut self, index: usize, url: &str) {
        let attachments = self.event.get_mut("attachments");
        if let Some(attachment) = attachments.and_then(|list| list.get_mut(index)) {
            attachment["contentUrl"] = url.into();
        }
    }

    /// Tells where the message can be read, as `rawUrl` and `mail.content_url`.
    pub fn set_raw_url(&mut self, url: &str) {
        self.event["rawUrl"] = url.into();
        self.event["mail"]["content_url"] = url.into();
    }
}

/// Reads a message. Every message becomes an event, whatever is wrong with it.
pub fn parse(received: &Received, options: &Options) -> Parsed {
    let trace = Trace::new(received, options);
    let raw = trace.above(&received.message);
    let (fields, text) = fields::split(&received.message, fields::MESSAGE);
    let fields = trace.fields().followed_by(fields);
    let parts = mime::parts(&fields, text);
    let body = Body::of(&parts.list, options.text_bytes_max);
    let attachments = attachments::of(&parts.list);

    let mut event = Map::new();
    event.insert("notificationType".to_owned(), "Received".into());
    event.insert(
        "receipt".to_owned(),
        notification::receipt(received, options),
    );
    event.insert(
        "mail".to_owned(),
        notification::mail(received, options, &fields),
    );
    let headers = header_values::of(&fields, options.received_at_ms);
    for name in ["subject", "from", "to", "cc", "date"] {
        if let Some(value) = headers.get(name) {
            event.insert(name.to_owned(), value.clone());
        }
    }
    event.insert("headers".to_owned(), headers.into());
    event.insert("body".to_owned(), body.json());
    if !attachments.is_empty() {
        let inline_max = options.inline_bytes_max;
        event.insert(
            "attachments".to_owned(),
            attachments::json(&attachments, inline_max),
        );
    }
    let cut = cut(&fields, parts.is_cut, &body);
    if !cut.is_empty() {
        event.insert("truncated".to_owned(), json!(cut));
    }
    Parsed {
        event: event.into(),
        attachments,
        raw,
    }
}

/// The names of what is not in the event as a whole.
fn cut(fields: &Fields, parts_are_cut: bool, body: &Body) -> Vec<&'static str> {
    [
        ("headers", fields.is_cut()),
        ("parts", parts_are_cut),
        ("body.text", body.text_is_cut()),
        ("body.html", body.html_is_cut()),
    ]
    .into_iter()
    .filter_map(|(name, is_cut)| is_cut.then_some(name))
    .collect()
}
