//! An event as a row of a list, the same on the page and on its live stream.

use headwater_model::{
    channel::Channel, event::Event, id::EmitterId, time::EpochMs, webhook::DeliveryState,
};
use headwater_platform::RunDeliveries;
use maud::{Markup, html};

use crate::{address, visit::Visitor};

use super::{delivery::delivery_state, payload, selection, text, time};

/// Acts on events that are selected.
pub(crate) const ACTS: [(&str, &str); 1] = [("replay", "Send again to listeners")];

/// Characters of an event without a summary that its row shows.
const PREVIEW_CHARS: usize = 120;

/// The things about the events of a page that their log does not say, by their order.
#[derive(Default)]
pub(crate) struct About {
    /// Their deliveries.
    pub(crate) deliveries: Vec<RunDeliveries>,
    /// When those on `$in` are released.
    pub(crate) released_at_ms: Vec<Option<EpochMs>>,
}

/// The table of an emitter's events, newest first and in groups of days, with the bar of the acts on those that are
/// selected. Those of today, above which new ones appear, have no head.
pub(crate) fn table(
    emitter: &EmitterId,
    events: &[Event],
    about: &About,
    visitor: &Visitor,
) -> Markup {
    let is_checked = selection::is_all(visitor);
    let mut day = time::day(visitor.now_ms);
    let mut begins_day = |event: &Event| {
        let own = time::day(event.indexed_at_ms);
        let is_other = own != day;
        day = own;
        is_other
    };
    html! {
        (selection::bar(visitor, "/events/selected", &ACTS))
        table.list {
            thead {
                tr {
                    (selection::head())
                    th scope="col" { "Time" }
                    th scope="col" { "Summary" }
                    th scope="col" { "Channel" }
                    th scope="col" { "Deliveries" }
                    th scope="col" { "Id" }
                    th.number scope="col" { "Size" }
                }
            }
            tbody data-rows="events" {
                @for (at, event) in events.iter().enumerate() {
                    @if begins_day(event) { tr.group { th colspan="7" scope="rowgroup" { (time::date(event.indexed_at_ms)) } } }
                    @let released = about.released_at_ms.get(at).copied().flatten();
                    (full_row(emitter, event, (is_checked, visitor.now_ms), (about.deliveries.get(at), released)))
                }
            }
        }
    }
}

/// The row of an event that has just come.
pub(crate) fn row(emitter: &EmitterId, event: &Event, is_checked: bool, now_ms: EpochMs) -> Markup {
    full_row(emitter, event, (is_checked, now_ms), (None, None))
}

fn full_row(
    emitter: &EmitterId,
    event: &Event,
    (is_checked, now_ms): (bool, EpochMs),
    (deliveries, released_at_ms): (Option<&RunDeliveries>, Option<EpochMs>),
) -> Markup {
    let key = event.key.as_ref().map(|key| key.text());
    let place = format!("{}@{emitter}", event.id);
    html! {
        tr data-row=(event.id) {
            (selection::checkable(is_checked, &place, &event.id.to_string()))
            td.narrow {
                (time::ago(event.indexed_at_ms, now_ms))
                @if let Some(at) = released_at_ms { div.note { "released " (time::ago(at, now_ms)) } }
                @if let Some(ts) = own_time(event) { div.note { "of " (time::ago(ts, now_ms)) } }
            }
            th scope="row" { a href=(address::of_event(emitter, &event.id)) { (payload::inline(text::line(&summary(event)))) } }
            td data-label="Channel" { @if event.channel != Channel::default() { (text::line(event.channel.name())) } }
            td data-label="Deliveries" { @if let Some(deliveries) = deliveries { (states(deliveries)) } }
            td data-label="Id" { @if let Some(key) = &key { (payload::inline(text::line(key))) } }
            td.number data-label="Size" { (text::bytes(event.event.get().len())) }
        }
    }
}

/// The time that the source says the event is of, if that is another one than that of its appending.
fn own_time(event: &Event) -> Option<EpochMs> {
    const SAME_MS: u64 = 1_000;
    let own = event
        .ts
        .filter(|ts| *ts >= 0.0)
        .map(|ts| EpochMs(ts as u64))?;
    (own.0.abs_diff(event.indexed_at_ms.0) > SAME_MS).then_some(own)
}

/// The numbers of deliveries in each state; one alone is a link.
fn states(deliveries: &RunDeliveries) -> Markup {
    const STATES: [DeliveryState; 4] = [
        DeliveryState::Delivered,
        DeliveryState::Pending,
        DeliveryState::Dead,
        DeliveryState::Discarded,
    ];
    let counted = STATES.map(|state| {
        let mut of = deliveries.shown.iter().filter(|one| one.state == state);
        (state, of.next(), of.count() + 1)
    });
    html! {
        @for (state, first, count) in counted {
            @if let Some(first) = first {
                @if count == 1 { a href={ "/deliveries/" (first.id) } { (delivery_state(state)) } }
                @else { (delivery_state(state)) " " span.note { "× " (count) } }
                " "
            }
        }
        @if deliveries.has_more { span.note { "and more" } }
    }
}

/// The line that tells an event from others: its summary, or its beginning.
pub(crate) fn summary(event: &Event) -> String {
    match &event.summary {
        Some(summary) if !summary.trim().is_empty() => summary.clone(),
        _ => text::cut(event.event.get(), PREVIEW_CHARS).0.to_owned(),
    }
}
