//! `/sources/{id}/events`: what it emitted, newest first, as it comes.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::event::Event;
use headwater_model::{
    channel::Channel,
    id::{EmitterId, EventId},
    page::Page as Listed,
};
use headwater_platform::{EventsQuery, default_channels};
use maud::{Markup, html};

use super::{event_row, head::Shown};
use crate::{
    part::{
        code::copyable,
        empty::empty,
        pager::{Ends, pager},
        text::counted,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
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
        (channels(&visitor, channel.as_deref()))
        (live_bar(&visitor))
        (event_row::table(&emitter, &events.items, visitor.now_ms))
        @if events.items.is_empty() {
            (nothing(&ui, &shown, channel.as_deref()))
        } @else {
            (pager(&visitor, &Ends::of(&events, |event| event.id)))
        }
    };
    let page = Page::of(Section::Sources, format!("{} · events", shown.name()), body)
        .command(format!("headwater events {}", shown.quoted()));
    Ok(match is_newest(&visitor) {
        true => page.live(stream(&id.to_string(), channel.as_deref(), &events)),
        false => page,
    })
}

/// Whether the page shows the newest rows, above which new ones appear.
fn is_newest(visitor: &Visitor) -> bool {
    visitor.parameter("after").is_none() && visitor.parameter("before").is_none()
}

/// The stream of what comes after the rows of the page: nothing is missed between the two, and nothing comes twice.
fn stream(id: &str, channel: Option<&str>, events: &Listed<Event>) -> String {
    let last = events
        .items
        .first()
        .map(|event| event.id)
        .unwrap_or_default();
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("of", &format!("source:{id}"));
    query.append_pair("after", &EventId::to_string(&last));
    if let Some(channel) = channel {
        query.append_pair("channel", channel);
    }
    format!("/live?{}", query.finish())
}

fn channels(visitor: &Visitor, current: Option<&str>) -> Markup {
    let others = current.filter(|name| CHANNELS.iter().all(|(known, _)| known != name));
    html! {
        ul.chips aria-label="Channels" {
            @for (name, label) in CHANNELS {
                li {
                    a href=(visitor.with(&[("channel", (!name.is_empty()).then_some(name))]))
                        aria-current=[(current.unwrap_or_default() == name).then_some("true")] { (label) }
                }
            }
            @if let Some(name) = others { li { a href=(visitor.with(&[])) aria-current="true" { (name) } } }
        }
    }
}

fn live_bar(visitor: &Visitor) -> Markup {
    html! {
        @if is_newest(visitor) {
            div.livebar data-livebar hidden {
                span { span.dot {} span data-live-state { "Live" } }
                button.quiet type="button" data-live-pause data-key="p" { "Pause" }
                button type="button" data-live-show hidden { "Show new" }
            }
        }
    }
}

/// Why there are no events, and what helps.
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
    empty(
        &format!("It ran, and emitted nothing that is still kept ({runs} in 24 hours)."),
        html! { p { "Of each source, this node keeps the newest " (ui.platform.config().retained_events) " events. " a href={ (shown.base()) "/runs" } { "Show its runs" } } },
    )
}
