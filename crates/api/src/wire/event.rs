//! Events of sources (spec "Source event summary", design section 7 "Event summary").

use headwater_model::{
    channel::Channel,
    event::{EmitKey, Event, EventData},
    id::{EmitterId, EventId},
};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// Integers beyond this are not exact as JavaScript numbers.
const EXACT_MAX: f64 = 9_007_199_254_740_991.0;

/// `GET …/event_summaries`, besides pagination.
#[derive(Debug, Deserialize)]
pub(crate) struct EventsRequest {
    expand: Option<String>,
    /// One channel, the default one when empty; absent: the default and all custom ones.
    pub(crate) event_name: Option<String>,
}

/// `GET /sources/{id}/logs`, besides pagination.
#[derive(Debug, Deserialize)]
pub(crate) struct LogsRequest {
    expand: Option<String>,
}

impl EventsRequest {
    /// Whether events are to be shown whole.
    pub(crate) fn expands_event(&self) -> bool {
        expands_event(self.expand.as_deref())
    }
}

impl LogsRequest {
    /// Whether events are to be shown whole.
    pub(crate) fn expands_event(&self) -> bool {
        expands_event(self.expand.as_deref())
    }
}

fn expands_event(expand: Option<&str>) -> bool {
    let mut names = expand.unwrap_or_default().split(',');
    names.any(|name| name.trim() == "event")
}

/// `DELETE /sources/{id}/events`.
#[derive(Debug, Deserialize)]
pub(crate) struct DeleteEvents {
    pub(crate) start_id: Option<EventId>,
    pub(crate) end_id: Option<EventId>,
    pub(crate) event_name: Option<String>,
}

/// An event as listings show it.
#[derive(Debug, Serialize)]
pub(crate) struct EventSummary {
    id: EventId,
    indexed_at_ms: u64,
    event: EventData,
    metadata: Metadata,
}

#[derive(Debug, Serialize)]
struct Metadata {
    emit_id: EventId,
    name: Channel,
    emitter_id: EmitterId,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<EmitKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Number>,
}

impl EventSummary {
    /// The event with its data whole, or as a preview when it is large and not to be expanded.
    pub(crate) fn new(event: Event, emitter_id: EmitterId, expands_event: bool) -> Self {
        Self {
            id: event.id,
            indexed_at_ms: event.indexed_at_ms,
            event: EventData::of(&event.event, expands_event),
            metadata: Metadata {
                emit_id: event.id,
                name: event.channel,
                emitter_id,
                summary: event.summary,
                id: event.key,
                ts: event.ts.and_then(number),
            },
        }
    }
}

/// Whole numbers without the `.0` that floats are written with.
fn number(value: f64) -> Option<Number> {
    match value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        true => Some(Number::from(value as i64)),
        false => Number::from_f64(value),
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::id::SourceId;
    use serde_json::{json, value::to_raw_value};

    use super::*;

    fn summary(data: &serde_json::Value, expands_event: bool) -> serde_json::Value {
        let event = Event {
            id: EventId {
                ms: 17,
                sequence: 3,
            },
            indexed_at_ms: 17,
            channel: Channel::named("new"),
            event: to_raw_value(data).unwrap(),
            key: Some(EmitKey::Number(7.into())),
            summary: None,
            ts: Some(1_767_225_600_000.0),
        };
        let emitter_id = EmitterId::from(SourceId::new(0, 0));
        serde_json::to_value(EventSummary::new(event, emitter_id, expands_event)).unwrap()
    }

    #[test]
    fn a_summary_has_the_shape_of_the_design() {
        let emitter_id = SourceId::new(0, 0);
        let expected = json!({
            "id": "17-3", "indexed_at_ms": 17, "event": {"a": 1},
            "metadata": {
                "emit_id": "17-3", "name": "new", "emitter_id": emitter_id, "id": 7,
                "ts": 1_767_225_600_000_i64,
            },
        });
        assert_eq!(summary(&json!({"a": 1}), false), expected);
    }

    #[test]
    fn large_data_is_whole_only_when_expanded() {
        let data = json!({"text": "x".repeat(2000)});
        assert_eq!(summary(&data, false)["event"]["truncated"], true);
        assert_eq!(summary(&data, true)["event"], data);
    }

    #[test]
    fn expand_names_what_is_shown_whole() {
        for (expand, whole) in [
            (None, false),
            (Some("event"), true),
            (Some("x, event"), true),
            (Some("events"), false),
        ] {
            assert_eq!(expands_event(expand), whole, "{expand:?}");
        }
    }
}
