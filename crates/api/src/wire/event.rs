//! Events of sources (docs/api-design.md, "Events").

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::{EmitKey, Event, EventData},
    id::{EmitterId, EventId, InvocationId, WorkflowId},
    time::EpochMs,
};
use headwater_platform::FoundEvent;
use serde::{Deserialize, Serialize};
use serde_json::{
    Number,
    value::{RawValue, to_raw_value},
};
use utoipa::{
    IntoParams, ToSchema,
    openapi::{
        Object, ObjectBuilder,
        schema::{SchemaType, Type},
    },
};

use super::{id, lenient::expands};

/// Integers beyond this are not exact as JavaScript numbers.
const EXACT_MAX: f64 = 9_007_199_254_740_991.0;

/// `GET …/event_summaries`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsRequest {
    /// `event` shows event data whole that would be truncated beyond 1 KB.
    expand: Option<String>,
    /// One channel, the default one when empty; absent: the default one and all that components
    /// name.
    pub(crate) event_name: Option<String>,
}

/// Listings of one channel, such as `GET /sources/{id}/logs`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChannelRequest {
    /// `event` shows event data whole that would be truncated beyond 1 KB.
    expand: Option<String>,
}

impl EventsRequest {
    /// Whether events are to be shown whole.
    pub(crate) fn expands_event(&self) -> bool {
        expands_event(self.expand.as_deref())
    }
}

impl ChannelRequest {
    /// Whether events are to be shown whole.
    pub(crate) fn expands_event(&self) -> bool {
        expands_event(self.expand.as_deref())
    }
}

/// Whether an `expand` parameter names `event`.
pub(super) fn expands_event(expand: Option<&str>) -> bool {
    expands(expand, "event")
}

/// `DELETE /sources/{id}/events`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeleteEvents {
    /// Deletes this event and all later ones, up to `end_id`.
    #[param(value_type = Option<id::Event>)]
    pub(crate) start_id: Option<EventId>,
    /// Deletes this event and all earlier ones, down to `start_id`.
    #[param(value_type = Option<id::Event>)]
    pub(crate) end_id: Option<EventId>,
    /// One channel, the default one when empty; absent: the default one and all that components
    /// name.
    pub(crate) event_name: Option<String>,
}

/// An event as listings show it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventSummary {
    #[schema(value_type = id::Event)]
    id: EventId,
    /// The time it was emitted, in epoch milliseconds.
    #[schema(value_type = u64)]
    indexed_at_ms: EpochMs,
    /// The emitted event. Beyond 1 KB of JSON and without `expand=event`:
    /// `{"truncated": true, "preview": "…", "size_bytes": n}`.
    #[schema(value_type = Value)]
    event: EventData,
    metadata: EventMetadata,
}

/// The details of an emit.
#[derive(Debug, Serialize, ToSchema)]
struct EventMetadata {
    #[schema(value_type = id::Event)]
    emit_id: EventId,
    /// The channel; empty for the default one.
    #[schema(value_type = String)]
    name: Channel,
    #[schema(value_type = id::Emitter)]
    emitter_id: EmitterId,
    /// The emit's `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The emit's `id`, which dedupe compares.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = number_or_text, required = false)]
    id: Option<EmitKey>,
    /// The emit's `ts`, epoch milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    ts: Option<Number>,
    /// The run that emitted it; absent for events of the platform itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Invocation>)]
    run_id: Option<InvocationId>,
}

pub(super) fn number_or_text() -> Object {
    let either = SchemaType::from_iter([Type::Number, Type::String]);
    ObjectBuilder::new().schema_type(either).build()
}

impl EventSummary {
    /// The event with its data whole, or as a preview when it is large and not to be expanded.
    pub(crate) fn new(event: Event, emitter_id: EmitterId, expands_event: bool) -> Self {
        Self {
            id: event.id,
            indexed_at_ms: event.indexed_at_ms,
            event: EventData::of(&event.event, expands_event),
            metadata: EventMetadata {
                emit_id: event.id,
                name: event.channel,
                emitter_id,
                summary: event.summary,
                id: event.key,
                ts: event.ts.and_then(number),
                run_id: event.run_id,
            },
        }
    }

    /// An event that was found. Its data is as it was emitted, by a workflow too: a search looks for its places.
    pub(crate) fn found(event: FoundEvent) -> Self {
        Self {
            id: event.id,
            indexed_at_ms: event.indexed_at_ms,
            event: event.data,
            metadata: EventMetadata {
                emit_id: event.id,
                name: event.channel,
                emitter_id: event.emitter,
                summary: event.summary,
                id: event.key,
                ts: event.ts.and_then(number),
                run_id: event.run_id,
            },
        }
    }

    /// The same for an event of a workflow: Pipedream shows emitted data as `raw_event`, and those of `$errors` as they are.
    pub(crate) fn of_workflow(mut event: Event, id: &WorkflowId, expands_event: bool) -> Self {
        if event.channel.class() == ChannelClass::Ordinary {
            let wrapped = to_raw_value(&RawEvent {
                raw_event: &event.event,
            });
            event.event = wrapped.expect("JSON within an object is JSON");
        }
        Self::new(event, EmitterId::Workflow(id.clone()), expands_event)
    }
}

/// Emitted data of a workflow.
#[derive(Serialize)]
struct RawEvent<'a> {
    raw_event: &'a RawValue,
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
    use serde_json::json;

    use super::*;

    fn event(channel: &str, data: &serde_json::Value) -> Event {
        Event {
            id: EventId {
                ms: EpochMs(17),
                sequence: 3,
            },
            indexed_at_ms: EpochMs(17),
            channel: Channel::named(channel),
            event: to_raw_value(data).unwrap(),
            key: Some(EmitKey::Number(7.into())),
            summary: None,
            ts: Some(1_767_225_600_000.0),
            run_id: Some(InvocationId::new(EpochMs(0), 0)),
        }
    }

    fn summary(data: &serde_json::Value, expands_event: bool) -> serde_json::Value {
        let emitter_id = EmitterId::from(SourceId::new(EpochMs(0), 0));
        let summary = EventSummary::new(event("new", data), emitter_id, expands_event);
        serde_json::to_value(summary).unwrap()
    }

    #[test]
    fn emitted_data_of_a_workflow_are_its_raw_event() {
        let (id, data) = (WorkflowId::new(EpochMs(0), 0), json!([1.5]));
        for (channel, expected) in [
            ("", json!({"raw_event": [1.5]})),
            ("news", json!({"raw_event": [1.5]})),
            (Channel::ERRORS, data.clone()),
        ] {
            let summary = EventSummary::of_workflow(event(channel, &data), &id, false);
            let shown = serde_json::to_value(summary).unwrap();
            assert_eq!(shown["event"], expected, "{channel}");
            assert_eq!(shown["metadata"]["emitter_id"], json!(id));
        }
    }

    #[test]
    fn a_summary_has_the_shape_of_the_design() {
        let emitter_id = SourceId::new(EpochMs(0), 0);
        let expected = json!({
            "id": "17-3", "indexed_at_ms": 17, "event": {"a": 1},
            "metadata": {
                "emit_id": "17-3", "name": "new", "emitter_id": emitter_id, "id": 7,
                "ts": 1_767_225_600_000_i64, "run_id": InvocationId::new(EpochMs(0), 0),
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
