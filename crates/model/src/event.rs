//! Events: the emits of a component and their records in the log.

use serde::{Deserialize, Serialize};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    channel::Channel,
    error::Invalid,
    id::{EmitterId, EventId, InvocationId},
    limits::{EVENT_PREVIEW_BYTES, HOPS_MAX},
    time::EpochMs,
    trace::TraceParent,
};

/// The `id` option of `$emit`: a string or a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EmitKey {
    /// A number; `greatest` compares these.
    Number(serde_json::Number),
    /// Any text.
    Text(String),
}

impl EmitKey {
    /// The key as text: 7 and "7" are the same id, as in a JavaScript object's keys.
    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The key as a number, when it is one or spells one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            Self::Text(text) => text.trim().parse().ok(),
        }
        .filter(|number: &f64| number.is_finite())
    }
}

/// The options of one `$emit` call (docs/guide/writing-a-component.md, "Events"). `delivery_ts` holds
/// the event on `$in` until then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EmitOptions {
    /// The value that dedupe compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EmitKey>,
    /// The channel; the default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Channel>,
    /// A line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Epoch milliseconds; orders the events of one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<f64>,
    /// Epoch milliseconds at which the event is to leave `$in`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_ts: Option<f64>,
}

/// One `$emit` call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Emit {
    /// The emitted data as JSON text, exactly as the component serialized it (`null` when absent).
    pub event: Box<RawValue>,
    /// The call's options.
    pub options: EmitOptions,
}

impl Emit {
    /// Checks that the channel is not one of the platform's own, to which components may not write.
    ///
    /// # Errors
    /// Names the option of `$emit` that is wrong.
    pub fn check(&self) -> Result<(), Invalid> {
        match &self.options.name {
            Some(name) if name.class() != crate::channel::ChannelClass::Ordinary => {
                Err(Invalid::new(
                    "name",
                    format!(
                        "$emit: `{}` is the platform's own channel; choose a name without `$`",
                        name.name()
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}

/// An event as it is referred to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventRef {
    /// Its emitter.
    pub emitter: EmitterId,
    /// Its id, which only its emitter's other events do not have.
    pub id: EventId,
}

/// An event to append to the log; the log gives it its id.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The channel that lists it; `$in` for a scheduled one.
    pub channel: Channel,
    /// The emitted data as JSON text.
    pub event: Box<RawValue>,
    /// The call's `id`.
    pub key: Option<EmitKey>,
    /// The call's `summary`.
    pub summary: Option<String>,
    /// The call's `ts`.
    pub ts: Option<f64>,
    /// For an event on `$in`: when it leaves, and for which channel.
    pub scheduled: Option<Scheduled>,
    /// Sources and workflows that the event's cause has passed through.
    pub hops: u32,
    /// The span that emitted it.
    pub trace: Option<TraceParent>,
}

/// The time and the channel for which an event on `$in` leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// Epoch milliseconds.
    pub deliver_at_ms: EpochMs,
    /// The channel it is appended to then.
    pub channel: Channel,
}

/// The event on `$errors` about one that has passed through the maximum number of sources and
/// workflows.
pub fn hop_limit_error(id: EventId, channel: &Channel, event: &RawValue) -> NewEvent {
    let message = format!(
        "event {id} has passed through {HOPS_MAX} sources and workflows and is not passed on: check \
         the subscriptions for a loop"
    );
    let error = json!({
        "error": { "code": "hop_limit", "name": "HopLimitError", "message": message },
        "original_event": event,
        "original_context": { "id": id, "event_name": channel },
    });
    on_errors(message, &error, HOPS_MAX)
}

/// The event on a listener's `$errors` when events are no longer queued for the sources of its owner.
pub fn queue_full_error(
    emitter: &str,
    id: EventId,
    channel: &Channel,
    queued_max: u32,
    hops: u32,
) -> NewEvent {
    let message = format!(
        "the limit of {queued_max} events, or their bytes, that wait for the sources of this owner is \
         reached: event {id} of {emitter} and later ones are not queued until there is room; check the \
         subscriptions for a loop, and for a source that cannot keep up"
    );
    let error = json!({
        "error": { "code": "queue_full", "name": "QueueFullError", "message": message },
        "original_context": { "id": id, "emitter_id": emitter, "event_name": channel },
    });
    on_errors(message, &error, hops)
}

fn on_errors(message: String, error: &Value, hops: u32) -> NewEvent {
    NewEvent {
        channel: Channel::errors(),
        event: to_raw_value(error).unwrap_or_else(|_| RawValue::NULL.to_owned()),
        key: None,
        summary: Some(message),
        ts: None,
        scheduled: None,
        hops,
        trace: None,
    }
}

/// An event of the log.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its id, unique and increasing per emitter.
    pub id: EventId,
    /// The time it was appended, in epoch milliseconds.
    pub indexed_at_ms: EpochMs,
    /// The channel that lists it.
    pub channel: Channel,
    /// The emitted data as JSON text.
    pub event: Box<RawValue>,
    /// The call's `id`.
    pub key: Option<EmitKey>,
    /// The call's `summary`.
    pub summary: Option<String>,
    /// The call's `ts`.
    pub ts: Option<f64>,
    /// The run that emitted it; none for events of the platform itself.
    pub run_id: Option<InvocationId>,
}

/// Event data as a listing shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum EventData {
    /// The whole data.
    Whole(Box<RawValue>),
    /// A preview of data over [`EVENT_PREVIEW_BYTES`].
    Preview(Value),
}

impl EventData {
    /// The data itself when `expand` or small, else its beginning flagged `"truncated": true`
    /// (docs/api-design.md, "Events").
    pub fn of(event: &RawValue, expand: bool) -> Self {
        let text = event.get();
        if expand || text.len() <= EVENT_PREVIEW_BYTES {
            return Self::Whole(event.to_owned());
        }
        let end = text.floor_char_boundary(EVENT_PREVIEW_BYTES);
        Self::Preview(
            json!({ "truncated": true, "preview": &text[..end], "size_bytes": text.len() }),
        )
    }
}
