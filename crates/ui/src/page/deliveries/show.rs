//! `/deliveries/{id}`: one event for one webhook, with every attempt.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{id::DeliveryId, time::EpochMs, webhook::DeliveryState};
use headwater_platform::{Delivery, KnownNames};
use maud::{Markup, html};
use url::form_urlencoded::byte_serialize;

use super::{attempt, event::summary};
use crate::{
    address,
    page::webhooks::list::name as webhook_name,
    part::{
        delivery::delivery_state,
        event_list::live_bar,
        name, payload,
        text::{self, counted},
        time,
        tree::Tree,
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Characters of the body that are shown as they are sent.
const BODY_CHARS: usize = 20_000;

/// Shows a delivery.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<DeliveryId>,
) -> PageReply {
    let delivery = ui.platform.delivery(visitor.caller(), &id).await?;
    let webhook = ui
        .platform
        .webhook(visitor.caller(), &delivery.webhook_id)
        .await?;
    let emitters = [delivery.event.emitter.clone()];
    let names = ui.platform.names(visitor.caller(), emitters, []).await?;
    let event = serde_json::from_str(delivery.event.event.get()).unwrap_or_default();
    // Of the delivery's own copy: the event itself may not be kept any more.
    let part = |pointer: &str| {
        let pointer: String = byte_serialize(pointer.as_bytes()).collect();
        format!("?at={pointer}")
    };
    let at = visitor.parameter("at").unwrap_or_default();
    let body_tree = Tree {
        part: Some(&part),
        name: "event",
        at: &at,
        from: Some(visitor.first_child()),
        raw: None,
    };
    let is_pending = delivery.state == DeliveryState::Pending;
    let body = html! {
        @if is_pending { (live_bar()) }
        p.crumbs { a href="/webhooks" { "Webhooks" } " / " a href={ "/webhooks/" (webhook.id) } { (text::line(webhook_name(&webhook))) } }
        div data-part="delivery" {
        header.title {
            h1 { "Delivery" }
            (delivery_state(delivery.state))
            div.actions {
                form method="post" action={ "/deliveries/" (id) "/retry" } {
                    button { @match delivery.state { DeliveryState::Pending => "Send now", DeliveryState::Dead | DeliveryState::Delivered | DeliveryState::Discarded => "Send again" } }
                }
                @if matches!(delivery.state, DeliveryState::Pending | DeliveryState::Dead) {
                    form method="post" action={ "/deliveries/" (id) "/discard" } { button { "Discard" } }
                }
            }
        }
        (facts(&delivery, &names, &visitor))
        h2 { "Attempts" }
        (attempts(&delivery, &webhook.url, visitor.now_ms))
        }
        h2 { "Body" }
        (body_tree.part_of(&event, &format!("/deliveries/{id}")))
        (as_sent(delivery.event.event.get()))
    };
    let page = Page::of(Section::Deliveries, "Delivery", body)
        .command(format!("headwater deliveries describe {id}"));
    Ok(match is_pending {
        true => page.changing(&Topic::Webhooks, &visitor),
        false => page,
    })
}

/// The bytes that every attempt sends.
fn as_sent(body: &str) -> Markup {
    let (shown, is_cut) = text::cut(body, BODY_CHARS);
    html! {
        details.further {
            summary { "As it is sent (" (text::bytes(body.len())) ")" }
            (payload::block(html! { pre tabindex="0" { (text::value(shown)) @if is_cut { "…" } } }))
            @if is_cut { p.note { "The rest is left out here: " code { "headwater deliveries describe" } " with " code { "--json" } " has all of it." } }
        }
    }
}

/// Gives a delivery up.
pub(crate) async fn discard(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<DeliveryId>,
) -> FormReply {
    ui.platform.discard_delivery(visitor.caller(), &id).await?;
    let line = "The delivery is discarded: it is not attempted any more";
    Ok(see_other_saying(
        &visitor,
        &format!("/deliveries/{id}"),
        line,
    ))
}

/// Makes a delivery due now.
pub(crate) async fn retry(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<DeliveryId>,
) -> FormReply {
    ui.platform.retry_delivery(visitor.caller(), &id).await?;
    Ok(see_other_saying(
        &visitor,
        &format!("/deliveries/{id}"),
        "The delivery is on its way again",
    ))
}

fn facts(delivery: &Delivery, names: &KnownNames, visitor: &Visitor) -> Markup {
    let event = address::of_event(&delivery.event.emitter, &delivery.event.id);
    html! {
        dl.facts {
            dt { "Event" } dd { a href=(event) title=(delivery.event.id) { (payload::inline(text::line(&summary(delivery)))) } " of " (name::emitter(names, &delivery.event.emitter)) }
            @if !delivery.event.channel.name().is_empty() { dt { "Channel" } dd { (text::line(delivery.event.channel.name())) } }
            @if let Some(run) = &delivery.run_id { dt { "From" } dd { a href={ "/runs/" (run) } title=(run) { "this run" } } }
            dt { "Created" } dd { (time::exact(delivery.created_at_ms)) }
            @if let Some(next) = delivery.next_attempt_at_ms { dt { "Next attempt" } dd { (time::ago(next, visitor.now_ms)) } }
            dt { "Id" } dd { code { (delivery.id) } }
        }
    }
}

fn attempts(delivery: &Delivery, url: &str, now_ms: EpochMs) -> Markup {
    let body = delivery.event.event.get();
    let slowest = delivery
        .attempts
        .iter()
        .map(|attempt| attempt.latency_ms)
        .max()
        .unwrap_or(1)
        .max(1);
    html! {
        @if delivery.attempts.is_empty() { p.note { "It was not attempted yet." } }
        @else {
            p.note { (counted(delivery.attempts.len() as u64, "attempt", "attempts")) @if delivery.attempts.len() > 1 { ", the oldest first" } "." }
            @for attempt in &delivery.attempts { (attempt::card(attempt, slowest, now_ms, attempt::as_curl(attempt, url, body))) }
        }
    }
}
