//! `/events/replay`: all events that a search finds are sent again to those who listen now, with their number first.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use headwater_platform::{FoundReplayed, REPLAYED_FOUND_MAX, ReplayFound};
use maud::{Markup, html};

use super::{
    selected::{consequences, left_out, listeners, told},
    views,
    wanted::Wanted,
};
use crate::{
    part::{
        confirm::{Question, confirm_busy},
        empty::empty,
        text::{self, counted, grouped},
    },
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// The address of the question about all that a search finds.
pub(super) fn address(visitor: &Visitor, wanted: &Wanted) -> String {
    let address = views::address(visitor, wanted).replacen("/events", "/events/replay", 1);
    if wanted.after.is_empty() {
        return address;
    }
    let joint = if address.contains('?') { '&' } else { '?' };
    let after: String = url::form_urlencoded::byte_serialize(wanted.after.as_bytes()).collect();
    format!("{address}{joint}after={after}")
}

/// The search of the address, up to now.
fn wanted(visitor: &Visitor) -> Wanted {
    let (_, query) = visitor.location.split_once('?').unwrap_or_default();
    Wanted::parse(query).at(visitor.now_ms)
}

async fn replay(
    ui: &Ui,
    visitor: &Visitor,
    wanted: &Wanted,
    is_dry: bool,
) -> Result<FoundReplayed, Problem> {
    let request = ReplayFound {
        search: wanted.search(visitor)?,
        only: None,
        is_dry,
    };
    Ok(ui.platform.replay_found(visitor.caller(), request).await?)
}

/// Asks, with the number of events and those who get them.
pub(crate) async fn ask(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let wanted = wanted(&visitor);
    let would = replay(&ui, &visitor, &wanted, true).await?;
    let back = views::address(&visitor, &wanted);
    if would.replayed.count == 0 {
        let (title, reason) = match would.found {
            0 => ("Send again", "No kept event is like this."),
            _ => (
                "Nobody would get them",
                "Nobody would get any of these events.",
            ),
        };
        let body = html! {
            h1 { (title) }
            (empty(reason, html! {
                @if would.replayed.unheard > 0 { p { "Events are sent again to those who listen now. Subscribe a webhook, a source or a workflow first." } }
                (listeners(&would.replayed))
                (left_out(&would.replayed))
                p { a href=(back) { "Go back to the list" } }
            }))
            (rest(&visitor, &wanted, &would))
        };
        return Ok(Page::of(Section::Events, title, body));
    }
    let title = format!(
        "Send {} again?",
        counted(would.replayed.count, "event", "events")
    );
    let question = Question {
        title: &title,
        consequences: html! {
            dl.facts { @for (name, value) in wanted.fields() { dt { (name) } dd { code { (text::visible(value)) } } } }
            @if wanted.fields().len() == 1 { p { "Nothing else narrows it: these are all that are kept" @if visitor.workspace.is_some() { " of the workspace" } "." } }
            (bound(&would))
            (consequences(&would.replayed))
        },
        action: &address(&visitor, &wanted),
        fields: &[],
        button: "Send again",
        back: &back,
    };
    let body = confirm_busy(&question, "Sending again…");
    Ok(Page::of(Section::Events, title.clone(), body))
}

/// Sends them, and says what became of each.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
) -> Result<Response, Problem> {
    let wanted = wanted(&visitor);
    let done = replay(&ui, &visitor, &wanted, false).await?;
    let replayed = &done.replayed;
    let title = told(replayed);
    let body = html! {
        h1 { (counted(replayed.count, "event is", "events are")) " sent again" }
        p role="status" { (title) "." }
        dl.facts {
            dt { "Found" } dd { (grouped(done.found)) }
            dt { "Sent again" } dd { (grouped(replayed.count)) }
            dt { "To nobody" } dd { (grouped(replayed.unheard)) @if replayed.unheard > 0 { ": nobody listens to them, or nobody that is active and has room" } }
            dt { "Gone" } dd { (grouped(replayed.gone)) @if replayed.gone > 0 { ": retention has taken them meanwhile" } }
        }
        @if !replayed.listeners.is_empty() || replayed.others > 0 { h2 { "Listeners" } (listeners(replayed)) }
        @if replayed.has_more { p { "An event has more than 1,000 subscriptions; those behind them get nothing." } }
        (rest(&visitor, &wanted, &done))
        p { a.button href=(views::address(&visitor, &wanted)) { "Go back to the list" } }
    };
    Ok(Page::of(Section::Events, "Sent again", body).into_response())
}

/// The bound of the act, where it takes effect.
fn bound(all: &FoundReplayed) -> Markup {
    html! {
        @if all.next.is_some() {
            p {
                @if all.found >= REPLAYED_FOUND_MAX as u64 { "At most " (grouped(REPLAYED_FOUND_MAX as u64)) " events are sent at once: these are the newest of those that match. " }
                @else { "Searched " (grouped(all.scanned)) " of " (grouped(all.kept_at_most)) " kept. " }
                "Older ones are asked about afterwards."
            }
        }
    }
}

/// The way to the older ones.
fn rest(visitor: &Visitor, wanted: &Wanted, all: &FoundReplayed) -> Markup {
    html! {
        @if let Some(next) = &all.next {
            @let older = Wanted { after: next.to_string(), ..wanted.clone() };
            p { a href=(address(visitor, &older)) { "Go on with the older ones" } }
        }
    }
}
