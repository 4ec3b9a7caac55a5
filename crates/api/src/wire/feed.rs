//! Events as a stream shows them: server-sent events (docs/guide/following-events.md).

use bytes::Bytes;
use headwater_model::{
    event::Event,
    id::{EmitterId, EventId},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{EventSummary, id};

/// The comment that a stream begins with and repeats, so that both ends know that the other is there.
pub(crate) const HANDSHAKE: Bytes = Bytes::from_static(b":sse-handshake\n\n");

/// `GET …/sse`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FeedRequest {
    /// One channel, the default one when empty; absent: the default one and all that components
    /// name.
    pub(crate) event_name: Option<String>,
    /// The last event the reader has, for clients that cannot set the header, which counts if
    /// there are both. Events after it that are still there come first; absent: only new ones.
    #[param(value_type = Option<id::Event>)]
    pub(crate) last_event_id: Option<EventId>,
}

/// Writes the event as a message of the stream: always whole, named by its channel unless that is the
/// default one.
pub(crate) fn write_message(event: &Event, emitter_id: &EmitterId, text: &mut Vec<u8>) {
    let summary = EventSummary::new(event.clone(), emitter_id.clone(), true);
    let data = serde_json::to_string(&summary).expect("a summary has string keys only");
    text.extend_from_slice(format!("id: {}\n", event.id).as_bytes());
    if !event.channel.name().is_empty() {
        // A line break would end the field; the data has the exact name.
        let name = event.channel.name().replace(['\r', '\n'], " ");
        text.extend_from_slice(format!("event: {name}\n").as_bytes());
    }
    for line in data.split(['\r', '\n']) {
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use headwater_model::{channel::Channel, id::SourceId, time::EpochMs};
    use serde_json::{Value, value::RawValue};

    use super::*;

    fn event(channel: &str, data: &str) -> Event {
        Event {
            id: EventId {
                ms: EpochMs(17),
                sequence: 3,
            },
            indexed_at_ms: EpochMs(17),
            channel: Channel::named(channel),
            event: RawValue::from_string(data.to_owned()).unwrap(),
            key: None,
            summary: None,
            ts: None,
            run_id: None,
        }
    }

    fn shown(channel: &str, data: &str) -> String {
        let emitter_id = EmitterId::from(SourceId::new(EpochMs(0), 0));
        let mut message = Vec::new();
        write_message(&event(channel, data), &emitter_id, &mut message);
        String::from_utf8(message).unwrap()
    }

    #[test]
    fn a_message_has_id_data_and_the_channel_when_it_is_named() {
        let emitter_id = SourceId::new(EpochMs(0), 0);
        for (channel, line) in [("", ""), ("new", "event: new\n")] {
            let expected = format!(
                "id: 17-3\n{line}data: {{\"id\":\"17-3\",\"indexed_at_ms\":17,\"event\":{{\"a\":1}},\
                 \"metadata\":{{\"emit_id\":\"17-3\",\"name\":\"{channel}\",\"emitter_id\":\"{emitter_id}\"}}}}\n\n"
            );
            assert_eq!(shown(channel, "{\"a\":1}"), expected);
        }
    }

    #[test]
    fn large_data_is_whole() {
        let data = format!("\"{}\"", "x".repeat(2000));
        assert!(shown("", &data).contains(&data));
    }

    #[test]
    fn line_breaks_do_not_end_the_message() {
        let message = shown("a\nid: 9-9\n\nb", "{\n\"a\":\r\n1}");
        let lines: Vec<_> = message.strip_suffix("\n\n").unwrap().lines().collect();
        assert_eq!(lines[1], "event: a id: 9-9  b");
        let data = lines[2..].iter().map(|line| &line["data: ".len()..]);
        let summary: Value = serde_json::from_str(&data.collect::<Vec<_>>().join("\n")).unwrap();
        assert_eq!(summary["event"]["a"], 1);
        assert_eq!(summary["metadata"]["name"], "a\nid: 9-9\n\nb");
    }
}
