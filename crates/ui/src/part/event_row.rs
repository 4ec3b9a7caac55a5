//! An event as a row of a list, the same on the page and on its live stream.

use headwater_model::{channel::Channel, event::Event, id::EmitterId, time::EpochMs};
use maud::{Markup, html};

use crate::{address, visit::Visitor};

use super::{payload, selection, text, time};

/// Acts on events that are selected.
pub(crate) const ACTS: [(&str, &str); 1] = [("replay", "Send again to listeners")];

/// Characters of an event without a summary that its row shows.
const PREVIEW_CHARS: usize = 120;

/// The table of an emitter's events, newest first, with the bar of the acts on those that are selected.
pub(crate) fn table(emitter: &EmitterId, events: &[Event], visitor: &Visitor) -> Markup {
    let is_checked = selection::is_all(visitor);
    html! {
        (selection::bar(visitor, "/events/selected", &ACTS))
        table.list {
            thead {
                tr {
                    (selection::head())
                    th scope="col" { "Time" }
                    th scope="col" { "Summary" }
                    th scope="col" { "Channel" }
                    th scope="col" { "Id" }
                    th.number scope="col" { "Size" }
                }
            }
            tbody data-rows="events" {
                @for event in events { (row(emitter, event, is_checked, visitor.now_ms)) }
            }
        }
    }
}

/// One row.
pub(crate) fn row(emitter: &EmitterId, event: &Event, is_checked: bool, now_ms: EpochMs) -> Markup {
    let key = event.key.as_ref().map(|key| key.text());
    let place = format!("{}@{emitter}", event.id);
    html! {
        tr data-row=(event.id) {
            (selection::checkable(is_checked, &place, &event.id.to_string()))
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
