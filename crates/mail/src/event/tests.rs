//! Whole messages and their events: the usual ones, and those that are meant to do harm.

mod hostile;
mod shapes;

use bytes::Bytes;

use super::{Options, Parsed, parse};
use crate::receive::Received;

const RECEIVED_AT_MS: u64 = 1_774_346_928_000;

fn received(message: &[u8]) -> Received {
    Received {
        envelope_from: "jane@a.example".to_owned(),
        recipients: vec!["token+order-7@mx.example".to_owned()],
        client_ip: "192.0.2.7".parse().unwrap(),
        message: Bytes::copy_from_slice(message),
        tls: true,
        helo: "mail.a.example".to_owned(),
    }
}

fn options() -> Options {
    Options::new("id-1", "mx.example", RECEIVED_AT_MS)
}

fn parsed(message: impl AsRef<[u8]>) -> Parsed {
    parse(&received(message.as_ref()), &options())
}
