//! The two fields that a server writes above the messages it takes: the way back, and where they came from.

use std::net::IpAddr;

use bytes::{BufMut as _, Bytes, BytesMut};
use chrono::DateTime;

use super::{
    fields::{Field, Fields},
    options::Options,
};
use crate::receive::Received;

/// The fields of a message.
pub(super) struct Trace {
    return_path: String,
    received: String,
}

impl Trace {
    pub(super) fn new(received: &Received, options: &Options) -> Self {
        let Received {
            helo,
            client_ip,
            tls,
            ..
        } = received;
        let client = match client_ip {
            IpAddr::V4(ip) => format!("[{ip}]"),
            IpAddr::V6(ip) => format!("[IPv6:{ip}]"),
        };
        let protocol = if *tls { "ESMTPS" } else { "ESMTP" };
        let received_at = i64::try_from(options.received_at_ms).ok();
        let date = received_at
            .and_then(DateTime::from_timestamp_millis)
            .unwrap_or_default();
        Self {
            return_path: format!("<{}>", received.envelope_from.replace(char::is_control, "")),
            received: format!(
                "from {} ({client}) by {} with {protocol} id {}; {}",
                word(helo),
                word(&options.host_name),
                word(&options.id),
                date.to_rfc2822()
            ),
        }
    }

    pub(super) fn fields(&self) -> Fields {
        let field = |name: &str, value: &str| Field {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        Fields::new(vec![
            field("Return-Path", &self.return_path),
            field("Received", &self.received),
        ])
    }

    /// The message below the fields.
    pub(super) fn above(&self, message: &[u8]) -> Bytes {
        let trace = format!(
            "Return-Path: {}\r\nReceived: {}\r\n",
            self.return_path, self.received
        );
        let mut whole = BytesMut::with_capacity(trace.len() + message.len());
        whole.put_slice(trace.as_bytes());
        whole.put_slice(message);
        whole.freeze()
    }
}

/// A name without characters that have a meaning in the field.
fn word(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "._-:[]@".contains(character);
    name.replace(|character| !is_plain(character), "?")
}
