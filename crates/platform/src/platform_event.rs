//! Events that the platform itself puts on a channel, and the form of their times.

use headwater_model::{channel::Channel, event::NewEvent, time::EpochMs};
use serde_json::{Value, value::RawValue};

fn raw(value: &Value) -> Box<RawValue> {
    // A `Value` is always JSON; only `Serialize` code with errors of its own could fail here.
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// An event that the platform itself puts on a channel.
pub(crate) fn platform_event(
    channel: Channel,
    event: &Value,
    summary: &str,
    hops: u32,
) -> NewEvent {
    let summary = summary.lines().next().map(str::to_owned);
    NewEvent {
        channel,
        event: raw(event),
        key: None,
        summary,
        ts: None,
        scheduled: None,
        hops,
        trace: None,
    }
}

/// `2026-01-31T12:00:00.000Z`.
pub(crate) fn iso_8601(moment: EpochMs) -> String {
    let moment = i64::try_from(moment.0)
        .ok()
        .and_then(chrono::DateTime::from_timestamp_millis);
    moment
        .map(|moment| moment.to_rfc3339_opts(chrono::SecondsFormat::Millis, true))
        .unwrap_or_default()
}
