//! An event as a row of a list, the same on the page and on its live stream.

use headwater_model::{channel::Channel, event::Event, id::EmitterId, time::EpochMs};
use maud::{Markup, html};

use crate::address;

use super::{payload, text, time};

/// Characters of an event without a summary that its row shows.
const PREVIEW_CHARS: usize = 120;

/// The table of an emitter's events, newest first.
pub(crate) fn table(emitter: &EmitterId, events: &[Event], now_ms: EpochMs) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Time" }
                    th scope="col" { "Summary" }
                    th scope="col" { "Channel" }
                    th scope="col" { "Id" }
                    th.number scope="col" { "Size" }
                }
            }
            tbody data-rows="events" {
                @for event in events { (row(emitter, event, now_ms)) }
            }
        }
    }
}

/// One row.
pub(crate) fn row(emitter: &EmitterId, event: &Event, now_ms: EpochMs) -> Markup {
    let key = event.key.as_ref().map(|key| key.text());
    html! {
        tr data-row=(event.id) {
            td.narrow { (time::ago(event.indexed_at_ms, now_ms)) }
            th scope="row" { a href=(address::of_event(emitter, &event.id)) { (payload::inline(text::line(&summary(event)))) } }
            td data-label="Channel" { @if event.channel != Channel::default() { (text::line(event.channel.name())) } }
            td data-label="Id" { @if let Some(key) = &key { (payload::inline(text::line(key))) } }
            td.number data-label="Size" { (text::bytes(event.event.get().len())) }
        }
    }
}

/// The line that tells an event from others: its summary, or its beginning.
pub(crate) fn summary(event: &Event) -> String {
    match &event.summary {
        Some(summary) if !summary.trim().is_empty() => summary.clone(),
        _ => text::cut(event.event.get(), PREVIEW_CHARS).0.to_owned(),
    }
}
