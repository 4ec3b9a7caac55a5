//! The newest events of all sources and workflows as rows, the same on the page and on its live stream.

use headwater_model::{event_search::EventPlace, time::EpochMs};
use maud::{Markup, html};

use super::{payload, text, time};
use crate::address::{self, Address as _};

/// Rows that a page shows, and keeps as others come.
pub(crate) const ROWS: usize = 20;

/// An event as its row shows it.
pub(crate) struct Line<'a> {
    pub(crate) place: EventPlace,
    pub(crate) indexed_at_ms: EpochMs,
    /// The name of its source or workflow.
    pub(crate) name: &'a str,
    /// The line that tells it from others.
    pub(crate) summary: &'a str,
}

/// The table, newest first.
pub(crate) fn table(lines: &[Line<'_>], now_ms: EpochMs) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Time" } th scope="col" { "Event" } th scope="col" { "Of" } } }
            tbody data-rows="events" data-rows-max=(ROWS) { @for line in lines { (row(line, now_ms)) } }
        }
    }
}

/// One row.
pub(crate) fn row(line: &Line<'_>, now_ms: EpochMs) -> Markup {
    let EventPlace { id, emitter } = &line.place;
    html! {
        tr data-row=(line.place) {
            td.narrow { (time::ago(line.indexed_at_ms, now_ms)) }
            th scope="row" { a href=(address::of_event(emitter, id)) { (payload::inline(text::line(line.summary))) } }
            td.named data-label="Of" { a href=(emitter.address()) { (text::line(line.name)) } }
        }
    }
}
