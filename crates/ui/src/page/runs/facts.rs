//! Facts of a run that has ended, beside its times: its starts, its answer, its writes and its time limit.

use std::time::Duration;

use headwater_platform::{ChangedKeys, RunFacts};
use maud::{Markup, html};

use crate::part::{
    text::{self, counted},
    time,
};

/// Rows for a list of facts. `took`: the time from its last start to its end.
pub(super) fn rows(facts: &RunFacts, took: Duration) -> Markup {
    html! {
        @match facts.starts {
            0 => { dt { "Starts" } dd { "none: it was cancelled before it began" } }
            1 => {}
            starts => { dt { "Starts" } dd { (starts) ": a worker or a node was lost, or credentials were renewed" } }
        }
        @if let Some(limit_ms) = facts.time_limit_ms {
            dt { "Time used" }
            dd { (time::took(took)) " of " (time::took(Duration::from_millis(limit_ms))) }
        }
        @if let Some(sent) = facts.response {
            dt { "Answered" }
            dd { code { (sent.status) } ", " (text::bytes(usize::try_from(sent.bytes).unwrap_or(usize::MAX))) }
        }
        (changed(&facts.changed))
    }
}

fn changed(changed: &ChangedKeys) -> Markup {
    let more = u64::from(changed.count).saturating_sub(changed.keys.len() as u64);
    html! {
        @if changed.count > 0 {
            dt { "Changed" }
            dd {
                (counted(changed.count.into(), "key", "keys")) " of its map: "
                @for (place, key) in changed.keys.iter().enumerate() {
                    @if place > 0 { ", " }
                    code { (text::line(key)) }
                }
                @if more > 0 { ", and " (more) " more" }
            }
        }
    }
}
