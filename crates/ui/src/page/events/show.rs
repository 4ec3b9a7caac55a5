//! `/sources/{id}/events/{event_id}`: one event, whole, with the run that it is from and all that it caused.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use headwater_model::{
    channel::Channel,
    event::EventRef,
    id::{EmitterId, EventId},
};
use headwater_platform::{LoggedEvent, PlatformError};
use maud::{Markup, html};

use super::{caused::Caused, gone, neighbours::Neighbours, value};
use crate::{
    address::{self, Address as _},
    part::{
        code::copyable,
        event_list::live_bar,
        event_row::summary,
        icon::{Icon, icon},
        name, payload,
        text::{self, bytes},
        time,
    },
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Shows an event.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> PageReply {
    let of = reference(&emitter, &event)?;
    let logged = match ui.platform.event(visitor.caller(), &of).await {
        Ok(logged) => logged,
        Err(PlatformError::EventGone { retained, .. }) => {
            return gone::page(&ui, &visitor, &of, retained).await;
        }
        Err(error) => return Err(error.into()),
    };
    let caused = Caused::by(&ui, &visitor, &of).await?;
    let channel = &logged.event.channel;
    let neighbours = Neighbours::of(&ui, visitor.caller(), &of, channel).await?;
    let base = of.emitter.address();
    let address = address::of_event(&of.emitter, &of.id);
    let body = html! {
        p.crumbs { (name::emitter(&caused.names, &of.emitter)) " / " a href={ (base) "/events" } { "Events" } }
        header.title {
            h1 { (payload::inline(text::line(&summary(&logged.event)))) }
            div.actions {
                a.button href={ (address) "/raw" } download { "Download" }
                a.button href={ (base) "/run?event_id=" (of.id) } { (icon(Icon::Play)) "Run again with it" }
                a.button href={ (address) "/replay" } { (icon(Icon::Delivery)) "Send again" }
                a.button href={ (address) "/send" } { "Send to a URL" }
                a.button href={ (address) "/fixture" } { (icon(Icon::Copy)) "As a test fixture" }
                @if matches!(of.emitter, EmitterId::Source(_)) { a.button.danger href={ (address) "/delete" } { "Delete" } }
            }
        }
        (neighbours.links(&of.emitter))
        (facts(&logged, &of, &visitor))
        h2 { "Value" }
        (value::shown(&logged.event, &of, &address, &visitor))
        (comparison(&address, neighbours.older.as_ref()))
        (live_bar())
        h2 { "Deliveries" }
        div data-part="deliveries" { (caused.delivered(&of, "No webhook was subscribed to it.")) }
        h2 { "Runs of listeners" }
        div data-part="runs" { (caused.ran(&visitor)) }
    };
    Ok(Page::of(
        Section::of_emitter(&of.emitter),
        summary(&logged.event),
        body,
    )
    .masked("Event")
    .changing(&Topic::Webhooks, &visitor)
    .changing(&Topic::Runs, &visitor)
    .command(format!("headwater events {} {} --json", of.emitter, of.id)))
}

/// The value of an event as it was emitted, or the part of it at a pointer, for a file.
pub(crate) async fn raw(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let of = reference(&emitter, &event)?;
    let logged = ui.platform.event(visitor.caller(), &of).await?;
    let at = visitor.parameter("at").unwrap_or_default();
    let is_text = visitor.parameter("text").as_deref() == Some("true");
    let file = value::file(&logged.event, &at, is_text);
    let file = file.ok_or_else(|| Problem::not_found("part of the event", &at))?;
    let mut response = file.into_response();
    let (kind, ending) = match is_text {
        true => ("text/plain; charset=utf-8", "txt"),
        false => ("application/json", "json"),
    };
    let name = format!("attachment; filename=\"{}-{}.{ending}\"", of.emitter, of.id);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(name) = HeaderValue::try_from(name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// The event of an address.
pub(super) fn reference(emitter: &str, event: &str) -> Result<EventRef, Problem> {
    let id = event
        .parse::<EventId>()
        .map_err(|_| Problem::not_found("event", event))?;
    let emitter = emitter
        .parse()
        .map_err(|_| Problem::not_found("source", emitter))?;
    Ok(EventRef { emitter, id })
}

fn facts(logged: &LoggedEvent, of: &EventRef, visitor: &Visitor) -> Markup {
    let event = &logged.event;
    html! {
        dl.facts {
            dt { "Appended" } dd { (time::exact(event.indexed_at_ms)) " (" (time::ago(event.indexed_at_ms, visitor.now_ms)) ")" }
            @if let Some(ts) = event.ts { dt { "Its time" } dd { (time::exact(headwater_model::time::EpochMs(ts as u64))) } }
            @if let Some(at) = logged.deliver_at_ms { dt { "Released" } dd { (time::ago(at, visitor.now_ms)) } }
            @if event.channel != Channel::default() { dt { "Channel" } dd { (text::line(event.channel.name())) } }
            @if let Some(key) = &event.key { dt { "Id for dedupe" } dd { (payload::inline(text::line(&key.text()))) } }
            dt { "Id" } dd { (copyable(&of.id.to_string())) }
            dt { "Size" } dd { (bytes(event.event.get().len())) }
            @if let Some(run) = &event.run_id { dt { "From" } dd { a href={ "/runs/" (run) } { "this run" } } }
            @if let Some(trace) = &logged.origin.trace {
                @let id = format!("{:032x}", trace.trace_id);
                dt { "Trace" } dd { a href=(address::of_origin(&id)) { code { (id) } } }
            }
            @if let Some(request) = &logged.origin.request_id { dt { "Request" } dd { a href=(address::of_origin(request)) { code { (request) } } } }
        }
    }
}

/// The form that compares the event with another of its emitter, by default the one before.
fn comparison(address: &str, older: Option<&EventId>) -> Markup {
    html! {
        form.filters action={ (address) "/compare" } {
            div {
                label for="with" { "Compare with " }
                input #with name="with" required value=[older] placeholder="an event's id" autocomplete="off" spellcheck="false";
            }
            button { "Compare" }
        }
    }
}
