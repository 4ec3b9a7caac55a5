//! `/events/replay`: all events that a search finds are sent again to those who listen now, with their number first.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use headwater_model::time::EpochMs;
use headwater_platform::{FoundReplayed, REPLAYED_FOUND_MAX, ReplayFound};
use maud::{Markup, html};
use serde_json::json;

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
        time,
    },
    problem::Problem,
    query::{since, until},
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

/// The search of the address, as it is written and up to now.
fn wanted(visitor: &Visitor) -> (Wanted, Wanted) {
    let (_, query) = visitor.location.split_once('?').unwrap_or_default();
    let written = Wanted::parse(query);
    (written.clone(), written.at(visitor.now_ms))
}

/// The conditions as they are written, with times as moments.
fn conditions(written: &Wanted, now_ms: EpochMs) -> Markup {
    let moment = |name: &str, value: &str| match name {
        "since" => since(value, now_ms),
        "until" => until(value, now_ms),
        _ => None,
    };
    html! {
        dl.facts {
            @for (name, value) in written.fields() {
                dt { (name) }
                dd { @match moment(name, value) { Some(moment) => (time::exact(moment)), None => code { (text::visible(value)) } } }
            }
        }
    }
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
    let (written, wanted) = wanted(&visitor);
    let would = replay(&ui, &visitor, &wanted, true).await?;
    let back = views::address(&visitor, &written);
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
            @if written.filters() { (conditions(&written, visitor.now_ms)) }
            @else { p { "Nothing narrows it: these are all that are kept" @if visitor.workspace.is_some() { " of the workspace" } "." } }
            (bound(&would))
            (consequences(&would.replayed))
        },
        action: &address(&visitor, &wanted),
        fields: &[],
        button: "Send again",
        back: &back,
    };
    let body = confirm_busy(&question, "Sending again…");
    let filter = json!({ "filter": wanted.filter(&visitor) });
    let page = Page::of(Section::Events, title.clone(), body);
    Ok(page.request_with(&ui, "POST", "/events/replay", &filter))
}

/// Sends them, and says what became of each.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
) -> Result<Response, Problem> {
    let (written, wanted) = wanted(&visitor);
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
            dt { "Gone" } dd { (grouped(replayed.gone)) @if replayed.gone > 0 { ": they or their emitters were deleted meanwhile, or retention has taken them" } }
            @if let Some(reason) = &replayed.reason { dt { "Not sent" } dd { (grouped(replayed.untried)) ": " (text::sentence(reason)) } }
        }
        @if !replayed.listeners.is_empty() || replayed.others > 0 { h2 { "Listeners" } (listeners(replayed)) }
        @if replayed.has_more { p { "An event has more than 1,000 subscriptions; those behind them get nothing." } }
        (rest(&visitor, &wanted, &done))
        p { a.button href=(views::address(&visitor, &written)) { "Go back to the list" } }
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
