//! `/webhooks/{id}`: its settings, who it gets events from, and its deliveries.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    id::{ListenerId, WebhookId},
    subscription::Subscription,
    webhook::{DeliveryOrder, DeliveryState},
};
use headwater_platform::{
    Delivery, DeliveryCounts, DeliveryFilter, KnownNames, RecentAttempts, Webhook,
};
use maud::{Markup, html};

use super::{
    health::{Scope, facts},
    list::{name as webhook_name, state_of},
};
use crate::{
    page::{
        deliveries::{
            event::{names_of, summary},
            list::capped,
        },
        subscribing::{self, Refused, Things},
    },
    part::{
        code::copyable,
        delivery::{answer, delivery_state},
        empty::empty,
        event_list::live_bar,
        history::history,
        icon::{Icon, icon},
        name,
        pager::{Ends, pager},
        payload,
        state::{Tone, state},
        text, time,
        verification::snippets,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Shows a webhook.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    page(&ui, &visitor, &id, None).await
}

/// The page, with the form for another emitter as it was refused.
pub(super) async fn page(
    ui: &Ui,
    visitor: &Visitor,
    id: &WebhookId,
    refused: Option<&Refused>,
) -> PageReply {
    let caller = visitor.caller();
    let webhook = ui.platform.webhook(caller, id).await?;
    let wanted = visitor.parameter("state");
    let state = wanted.as_deref().and_then(state_named);
    let deliveries = ui
        .platform
        .deliveries(caller, id, state, &visitor.page_request())
        .await?;
    let of_webhook = DeliveryFilter {
        webhook_id: Some(id.clone()),
        ..DeliveryFilter::default()
    };
    let counts = ui.platform.count_deliveries(caller, &of_webhook).await?;
    let recent = ui
        .platform
        .webhooks_health(std::slice::from_ref(id))
        .await?
        .pop()
        .unwrap_or_default();
    let listener = ListenerId::Webhook(id.clone());
    let workspace = webhook.owner.workspace_id.clone();
    let mut subscriptions = super::list::subscriptions(ui, visitor, workspace.clone()).await?;
    subscriptions.retain(|one| one.listener == listener);
    let things = Things::of(ui, visitor, workspace.as_ref()).await?;
    let things = things.naming(ui, visitor, &subscriptions).await?;
    let names = names_of(ui, visitor, &deliveries.items).await?;
    let body = html! {
        div data-part="head" { (head(&webhook, &recent, visitor)) }
        h2 { "Subscriptions" }
        @if Scope::of(&subscriptions).is_open() { p.flash.warning { (icon(Icon::Warning)) "It gets the events of everything of a kind, also of what is deployed later." } }
        (subscriptions_of(&subscriptions, id, visitor, &things))
        details.further open[subscriptions.is_empty() || refused.is_some()] {
            summary { "Add an emitter" }
            (things.add_emitter(&format!("/webhooks/{id}/subscriptions"), refused))
        }
        (live_bar())
        div data-part="deliveries" {
        h2 { "Deliveries" }
        (states(visitor, state, &counts))
        @if deliveries.items.is_empty() {
            (nothing(&webhook, state, &subscriptions, visitor))
        } @else {
            (table(&deliveries.items, &names, visitor))
            (pager(visitor, &Ends::of(&deliveries, |delivery| &delivery.id)))
        }
        }
        h2 { "Checking signatures" }
        (snippets())
    };
    Ok(
        Page::of(Section::Webhooks, webhook_name(&webhook).to_owned(), body)
            .changing(&Topic::Webhooks, visitor)
            .command(format!("headwater deliveries list {id}")),
    )
}

fn head(webhook: &Webhook, recent: &RecentAttempts, visitor: &Visitor) -> Markup {
    let base = format!("/webhooks/{}", webhook.id);
    html! {
        p.crumbs { a href="/webhooks" { "Webhooks" } }
        header.title {
            h1 { (text::value(webhook_name(webhook))) }
            span { (state_of(webhook, visitor)) }
            div.actions {
                form method="post" action={ (base) "/test" } { button { "Send a test event" } }
                a.button href={ (base) "/edit" } { "Edit" }
                a.button href={ (base) "/replay" } { "Send again…" }
                a.button href={ (base) "/secret" } { "Replace the secret" }
                form method="post" action={ (base) "/switch" } {
                    @if webhook.active { button name="active" value="false" { (icon(Icon::Paused)) "Pause" } }
                    @else { button name="active" value="true" { (icon(Icon::Play)) "Resume" } }
                }
                (history(webhook.id.as_str()))
                a.button.danger href={ (base) "/delete" } { "Delete" }
            }
        }
        @if let Some(reason) = &webhook.disabled_reason { p.flash.warning { (icon(Icon::Warning)) (text::sentence(reason)) } }
        @if let Some(description) = webhook.description.as_deref().filter(|text| !text.trim().is_empty()) { p { (text::value(description)) } }
        dl.facts {
            dt { "Address" } dd { (copyable(&webhook.url)) }
            dt { "Order" } dd { @match webhook.ordering {
                DeliveryOrder::Strict => "one after the other, as the emitter's events came",
                DeliveryOrder::Unordered => "in parallel",
            } }
            (facts(recent, visitor))
            (secrets(webhook, visitor))
            dt { "Id" } dd { code { (webhook.id) } }
        }
    }
}

/// The secrets that deliveries are signed with now.
fn secrets(webhook: &Webhook, visitor: &Visitor) -> Markup {
    let former = webhook.former_secret.as_ref();
    let former = former.filter(|former| former.valid_until_ms > visitor.now_ms);
    html! {
        dt { "Secrets" }
        dd {
            p { (state(Tone::Good, "current")) " signs every delivery. It was shown when it was new; " a href={ "/webhooks/" (webhook.id) "/secret" } { "replace it" } " if it is lost." }
            @if let Some(former) = former {
                p { (state(Tone::Warning, "former")) " signs, too, until " (time::exact(former.valid_until_ms)) " (" (time::ago(former.valid_until_ms, visitor.now_ms)) ")." }
            }
        }
    }
}

fn subscriptions_of(
    subscriptions: &[Subscription],
    id: &WebhookId,
    visitor: &Visitor,
    things: &Things,
) -> Markup {
    let all: Vec<_> = subscriptions.iter().collect();
    let removal = |one: &Subscription| {
        let action = format!("/webhooks/{id}/subscriptions/remove");
        (action, one.emitter.to_string())
    };
    html! {
        @if all.is_empty() {
            (empty("It gets the events of nobody.", html! { p { "Choose below whose events it is to get." } }))
        } @else {
            (subscribing::table(&all, visitor, "Emitter", |one| things.emitter(&one.emitter), removal))
        }
    }
}

/// The reason why there are no deliveries.
fn nothing(
    webhook: &Webhook,
    state: Option<DeliveryState>,
    subscriptions: &[Subscription],
    visitor: &Visitor,
) -> Markup {
    if state.is_some() {
        let all = visitor.with(&[("state", None)]);
        return empty(
            "None of its deliveries is in this state.",
            html! { p { a href=(all) { "Show all of them" } } },
        );
    }
    match (webhook.active, subscriptions.is_empty()) {
        (false, _) => empty(
            "It is paused, so nothing is sent to it.",
            html! { p { "Resume it with the button above. It misses the events that come until then." } },
        ),
        (true, true) => empty(
            "It is subscribed to nothing, so it gets nothing.",
            html! { p { "Choose above whose events it is to get." } },
        ),
        (true, false) => empty(
            "Nothing that was sent to it is kept.",
            html! {
                p { "It gets the events that come after it was subscribed, and none has yet; or retention has taken its deliveries since." }
                p { "Earlier ones can be sent to it: select them in the " a href="/events" { "list of events" } ", and choose " b { "Send again to listeners" } "." }
            },
        ),
    }
}

fn state_named(name: &str) -> Option<DeliveryState> {
    match name {
        "pending" => Some(DeliveryState::Pending),
        "delivered" => Some(DeliveryState::Delivered),
        "dead" => Some(DeliveryState::Dead),
        "discarded" => Some(DeliveryState::Discarded),
        _ => None,
    }
}

fn states(visitor: &Visitor, current: Option<DeliveryState>, counts: &DeliveryCounts) -> Markup {
    let all = [
        (None, "All", counts.total()),
        (Some("pending"), "Pending", counts.pending),
        (Some("dead"), "Dead", counts.dead),
        (Some("delivered"), "Delivered", counts.delivered),
        (Some("discarded"), "Discarded", counts.discarded),
    ];
    html! {
        ul.chips aria-label="States" {
            @for (value, label, count) in all {
                li { a href=(visitor.with(&[("state", value)])) aria-current=[(value.and_then(state_named) == current).then_some("true")] { (label) " " (capped(count)) } }
            }
        }
    }
}

fn table(deliveries: &[Delivery], names: &KnownNames, visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Created" } th scope="col" { "Event" } th scope="col" { "From" } th scope="col" { "State" } th.number scope="col" { "Attempts" } th scope="col" { "Last answer" } th scope="col" { "Next" } } }
            tbody {
                @for delivery in deliveries {
                    tr data-row=(delivery.id) {
                        td.narrow { (time::ago(delivery.created_at_ms, visitor.now_ms)) }
                        th.event scope="row" { a href={ "/deliveries/" (delivery.id) } { (payload::inline(text::line(&summary(delivery)))) } }
                        td.named data-label="From" { (name::emitter(names, &delivery.event.emitter)) }
                        td data-label="State" { (delivery_state(delivery.state)) }
                        td.number data-label="Attempts" { (delivery.attempts.len()) }
                        td data-label="Last answer" { @if let Some(last) = delivery.attempts.last() { (answer(last)) } }
                        td data-label="Next" { @if let Some(next) = delivery.next_attempt_at_ms { (time::ago(next, visitor.now_ms)) } }
                    }
                }
            }
        }
    }
}
