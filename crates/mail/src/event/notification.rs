//! The two halves of a receiving service's notification: `receipt`, about the delivery, and `mail`, about the
//! message. Members that only that service could fill, such as the action it took, are left out.

use serde_json::{Map, Value, json};

use super::{address, fields::Fields, header_values::iso_8601, options::Options, syntax};
use crate::receive::Received;

/// The delivery. Nothing about the sender was checked, which is said in the service's own word.
pub(super) fn receipt(received: &Received, options: &Options) -> Value {
    let unchecked = json!({ "status": "GRAY" });
    json!({
        "timestamp": iso_8601(options.received_at_ms),
        "recipients": received.recipients,
        "spamVerdict": unchecked,
        "virusVerdict": unchecked,
        "spfVerdict": unchecked,
        "dkimVerdict": unchecked,
        "dmarcVerdict": unchecked,
    })
}

/// The message: its envelope, its header as it was written, and the fields that everybody asks for.
pub(super) fn mail(received: &Received, options: &Options, fields: &Fields) -> Value {
    let headers = fields
        .iter()
        .map(|field| json!({ "name": field.name, "value": field.value }));
    json!({
        "timestamp": iso_8601(options.received_at_ms),
        "source": received.envelope_from,
        "messageId": options.id,
        "destination": destination(received, fields),
        "headersTruncated": fields.is_cut(),
        "headers": headers.collect::<Vec<_>>(),
        "commonHeaders": common_headers(received, fields),
    })
}

/// The addresses that the message names, which may be others than those it was delivered to.
fn destination(received: &Received, fields: &Fields) -> Vec<String> {
    let named = ["to", "cc", "bcc"]
        .into_iter()
        .filter_map(|name| fields.last(name));
    let named: Vec<_> = named
        .flat_map(|list| address::bare(&syntax::addresses(list)))
        .collect();
    match named.is_empty() {
        true => received.recipients.clone(),
        false => named,
    }
}

fn common_headers(received: &Received, fields: &Fields) -> Value {
    let mut common = Map::new();
    common.insert(
        "returnPath".to_owned(),
        received.envelope_from.clone().into(),
    );
    for (name, key) in [
        ("from", "from"),
        ("sender", "sender"),
        ("reply-to", "replyTo"),
        ("to", "to"),
        ("cc", "cc"),
        ("bcc", "bcc"),
    ] {
        if let Some(list) = fields.last(name) {
            let list = address::texts(&syntax::addresses(list));
            common.insert(key.to_owned(), list.into());
        }
    }
    for (name, key) in [
        ("date", "date"),
        ("message-id", "messageId"),
        ("subject", "subject"),
    ] {
        if let Some(value) = fields.last(name) {
            common.insert(key.to_owned(), syntax::decoded(value).into());
        }
    }
    common.into()
}
