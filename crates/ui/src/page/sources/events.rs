//! `/sources/{id}/events`: what it emitted, newest first, as it comes.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{channel::Channel, id::EmitterId};
use headwater_platform::{EventsQuery, default_channels};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    part::{
        code::copyable,
        empty::empty,
        event_list, event_row,
        pager::{Ends, pager},
        text::counted,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// Channels that every source has, with their names for people.
const CHANNELS: [(&str, &str); 4] = [
    ("", "Events"),
    (Channel::ERRORS, "Errors"),
    (Channel::LOGS, "Logs"),
    (Channel::SCHEDULED, "Scheduled"),
];

/// Lists the events of a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let channel = visitor.parameter("channel");
    let query = EventsQuery {
        channels: default_channels(channel.as_deref()),
        page: visitor.page_request(),
    };
    let events = ui
        .platform
        .source_events(visitor.caller(), &id, &query)
        .await?;
    let emitter = EmitterId::Source(id.clone());
    let body = html! {
        (shown.head(&ui, &visitor, "events"))
        (event_list::channels(&visitor, &CHANNELS))
        (event_list::live_bar())
        (event_row::table(&emitter, &events.items, visitor.now_ms))
        @if events.items.is_empty() {
            (nothing(&ui, &shown, channel.as_deref()))
        } @else {
            (pager(&visitor, &Ends::of(&events, |event| event.id)))
        }
    };
    let page = Page::of(Section::Sources, format!("{} · events", shown.name()), body)
        .command(format!("headwater events {}", shown.quoted()));
    let page = page.changing(&Topic::Source(id), &visitor);
    Ok(event_list::followed(page, &visitor, &emitter, &events))
}

/// The reason why there are no events, and what helps.
fn nothing(ui: &Ui, shown: &Shown, channel: Option<&str>) -> Markup {
    let health = &shown.health;
    if channel == Some(Channel::ERRORS) {
        return empty(
            "No error is kept.",
            html! { p { "Errors of runs appear here, with the event that they were about." } },
        );
    }
    if channel.is_some() {
        return empty(
            "Nothing is kept on this channel.",
            html! { p { a href={ (shown.base()) "/events" } { "Show the other events" } } },
        );
    }
    if !shown.view.active() {
        return empty(
            "The source is paused, so it does not run.",
            html! { p { "Resume it with the button above." } },
        );
    }
    let urls = shown.endpoint_urls(ui);
    let Some(run) = &health.last_run else {
        return match urls.first() {
            Some(url) => empty(
                "Nothing was sent to its endpoint yet.",
                html! {
                    p { "Send a request:" }
                    p { (copyable(&format!("curl -s {url} -H 'content-type: application/json' -d '{{\"hello\":\"world\"}}'"))) }
                },
            ),
            None => empty(
                "It has not run yet.",
                html! { p { "It runs on " (shown.triggers()) ". " a href={ (shown.base()) "/run" } { "Run it now" } "." } },
            ),
        };
    };
    let runs = counted(health.recent.runs.into(), "run", "runs");
    let dropped = run.ended.dropped.count;
    if let Some(error) = &run.ended.error {
        return empty(
            &format!("The last run failed: {error}"),
            html! { p { a href={ "/runs/" (run.id) } { "Show the run" } } },
        );
    }
    if dropped > 0 {
        let reason = format!(
            "Dedupe dropped all that the last run emitted ({}).",
            counted(dropped.into(), "event", "events")
        );
        return empty(
            &reason,
            html! { p { "It had emitted events with the same ids before. " a href={ "/runs/" (run.id) } { "Show which" } } },
        );
    }
    if run.ended.has_scheduled {
        return empty(
            "The last run scheduled its events for later.",
            html! { p { a href={ (shown.base()) "/events?channel=" (Channel::SCHEDULED) } { "Show those that wait" } } },
        );
    }
    if run.ended.emitted == 0 {
        return empty(
            &format!("The last run emitted nothing ({runs} in 24 hours)."),
            html! { p { a href={ "/runs/" (run.id) } { "Show the run and its log" } " or " a href={ (shown.base()) "/runs" } { "all runs" } } },
        );
    }
    empty(
        &format!("Nothing that it emitted is kept any more ({runs} in 24 hours)."),
        html! { p { "Of each source, this node keeps the newest " (ui.platform.config().retained_events) " events. " a href={ (shown.base()) "/runs" } { "Show its runs" } } },
    )
}
