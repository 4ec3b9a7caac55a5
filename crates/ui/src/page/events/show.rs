//! `/sources/{id}/events/{event_id}`: one event, whole, with the run that it is from and all that it caused.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use headwater_model::{
    channel::Channel,
    event::{Event, EventRef},
    id::{EmitterId, EventId, ListenerId},
    page::{Page as Listed, PageRequest},
};
use headwater_platform::{
    CappedCount, DeliveryFilter, FoundDeliveries, KnownNames, ListenerRun, LoggedEvent,
};
use maud::{Markup, html};
use serde_json::Value;

use super::neighbours::Neighbours;
use crate::{
    address::{self, Address as _},
    page::{
        deliveries::list::{capped, is_retryable},
        runs::show::delivery_state,
        webhooks::show::answer,
    },
    part::{
        code::copyable,
        event_row::summary,
        icon::{Icon, icon},
        name::{self, named},
        payload,
        text::{self, bytes},
        time,
        tree::Tree,
    },
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Runs and deliveries that are shown; the lists have the others.
const SHOWN: u32 = 20;

/// Shows an event.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> PageReply {
    let of = reference(&emitter, &event)?;
    let logged = ui.platform.event(visitor.caller(), &of).await?;
    let first = PageRequest::first(SHOWN);
    let runs = ui
        .platform
        .event_runs(visitor.caller(), &of, &first)
        .await?;
    let first = PageRequest::first(SHOWN);
    let deliveries = ui
        .platform
        .event_deliveries(visitor.caller(), &of, &first)
        .await?;
    let filter = DeliveryFilter {
        emitter: Some(of.emitter.clone()),
        event: Some(of.id),
        ..DeliveryFilter::default()
    };
    let counts = ui
        .platform
        .count_deliveries(visitor.caller(), &filter)
        .await?;
    let webhooks = deliveries
        .0
        .items
        .iter()
        .map(|one| ListenerId::Webhook(one.webhook_id.clone()));
    let listeners = runs.items.iter();
    let listeners = listeners.map(|one| one.listener.clone().into());
    let emitters = [of.emitter.clone()];
    let names = ui
        .platform
        .names(visitor.caller(), emitters, webhooks.chain(listeners))
        .await?;
    let channel = &logged.event.channel;
    let neighbours = Neighbours::of(&ui, visitor.caller(), &of, channel).await?;
    let base = of.emitter.address();
    let address = address::of_event(&of.emitter, &of.id);
    let body = html! {
        p.crumbs { (name::emitter(&names, &of.emitter)) " / " a href={ (base) "/events" } { "Events" } }
        header.title {
            h1 { (payload::inline(text::line(&summary(&logged.event)))) }
            div.actions {
                a.button href={ (address) "/raw" } download { "Download" }
                @if let Some(text) = as_parameter(&logged.event) {
                    a.button href={ (base) "/run?event=" (text) } { (icon(Icon::Play)) "Run again with it" }
                }
                a.button href={ "/events/selected?act=replay&id=" (of.id) "%40" (of.emitter) } { (icon(Icon::Delivery)) "Send again" }
                a.button href={ (address) "/send" } { "Send to a URL" }
                a.button href={ (address) "/fixture" } { (icon(Icon::Copy)) "As a test fixture" }
                @if matches!(of.emitter, EmitterId::Source(_)) { a.button.danger href={ (address) "/delete" } { "Delete" } }
            }
        }
        (neighbours.links(&of.emitter))
        (facts(&logged, &of, &visitor))
        h2 { "Value" }
        (value(&logged.event, &address, &visitor))
        (comparison(&address, neighbours.older.as_ref()))
        h2 { "Deliveries" }
        (delivered(&deliveries, is_retryable(&counts), &names, &of))
        h2 { "Runs of listeners" }
        (caused(&runs, &names, &visitor))
    };
    Ok(Page::of(Section::Sources, summary(&logged.event), body)
        .masked("Event")
        .command(format!("headwater events {} --json", of.emitter)))
}

/// The value of an event as it was emitted, for a file.
pub(crate) async fn raw(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let of = reference(&emitter, &event)?;
    let logged = ui.platform.event(visitor.caller(), &of).await?;
    let mut response = logged.event.event.get().to_owned().into_response();
    let name = format!("attachment; filename=\"{}-{}.json\"", of.emitter, of.id);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
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

/// The event in an address, if it fits one.
fn as_parameter(event: &Event) -> Option<String> {
    const MOST_BYTES: usize = 2_000;
    let text = event.event.get();
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    (encoded.len() <= MOST_BYTES).then_some(encoded)
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
            @if let Some(request) = &logged.origin.request_id { dt { "Request" } dd { a href=(address::of_origin(request)) { code { (request) } } } }
        }
    }
}

/// The value, or the part of it that the address names.
fn value(event: &Event, address: &str, visitor: &Visitor) -> Markup {
    let whole: Value = serde_json::from_str(event.event.get()).unwrap_or_default();
    let at = visitor.parameter("at").unwrap_or_default();
    let part = |pointer: &str| {
        let pointer: String = url::form_urlencoded::byte_serialize(pointer.as_bytes()).collect();
        format!("{address}?at={pointer}")
    };
    let tree = Tree {
        part: &part,
        name: "event",
        at: &at,
        from: Some(visitor.first_child()),
    };
    html! {
        @if !at.is_empty() { p { a href=(address) { "The whole value" } } }
        @match whole.pointer(&at) {
            // A long text is shown whole at its own address.
            Some(Value::String(text)) if !at.is_empty() => { (payload::block(html! { pre tabindex="0" { (text::value(text)) } })) }
            Some(shown) => { (tree.markup(shown)) }
            None => { p.note { "The event has nothing at " code { (text::visible(&at)) } "." } }
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

fn delivered(
    (found, total): &(FoundDeliveries, CappedCount),
    can_retry: bool,
    names: &KnownNames,
    of: &EventRef,
) -> Markup {
    html! {
        @if found.items.is_empty() { p.note { "No webhook was subscribed to it." } }
        @else {
            p.note { a href={ "/deliveries?emitter=" (of.emitter) "&event=" (of.id) } { (capped(*total)) " in all" }
                @if can_retry { ", " a href={ "/deliveries/retry?emitter=" (of.emitter) "&event=" (of.id) } { "send all again" } }
            }
            table.list {
                thead { tr { th scope="col" { "Webhook" } th scope="col" { "State" } th.number scope="col" { "Attempts" } th scope="col" { "Last answer" } } }
                tbody { @for delivery in &found.items { tr {
                    td { a href={ "/deliveries/" (delivery.id) } { (named(names.of(&ListenerId::Webhook(delivery.webhook_id.clone())), delivery.webhook_id.as_str())) } }
                    td data-label="State" { (delivery_state(delivery.state)) }
                    td.number data-label="Attempts" { (delivery.attempts.len()) }
                    td data-label="Last answer" { @if let Some(last) = delivery.attempts.last() { (answer(last)) } }
                } } }
            }
        }
    }
}

fn caused(runs: &Listed<ListenerRun>, names: &KnownNames, visitor: &Visitor) -> Markup {
    html! {
        @if runs.items.is_empty() { p.note { "No source or workflow ran for it, or their runs are not kept any more." } }
        @else {
            table.list {
                thead { tr { th scope="col" { "Listener" } th scope="col" { "Run" } th scope="col" { "Error" } } }
                tbody { @for one in &runs.items { tr {
                    td { (name::listener(names, &one.listener.clone().into())) }
                    td data-label="Run" { a href={ "/runs/" (one.run.id) } { (time::ago(one.run.queued_at_ms, visitor.now_ms)) } }
                    td data-label="Error" { @if let Some(error) = &one.run.error { (text::line(error)) } }
                } } }
            }
        }
    }
}
