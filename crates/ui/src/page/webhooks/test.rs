//! `/webhooks/{id}/test`: sends a sample event at once, and shows the answer.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::WebhookId;
use maud::{Markup, html};

use super::list::name;
use crate::{
    page::deliveries::attempt,
    part::{text, verification::block},
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Sends it. Opened by its address alone, as after signing in, the page offers to.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let body = html! {
        (crumbs(&id, name(&webhook)))
        header.title { h1 { "Test event" } (again(&id, "Send a test event")) }
        (about())
    };
    Ok(page(&id, body))
}

/// Sends a sample and shows what came of it.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let sent = ui.platform.test_webhook(visitor.caller(), &id).await?;
    let body = html! {
        (crumbs(&id, name(&webhook)))
        header.title { h1 { "Test event" } (attempt::result(&sent.attempt)) (again(&id, "Send another one")) }
        (attempt::facts(&sent.attempt))
        h2 { "Body" }
        (block(&serde_json::to_string_pretty(&sent.event).unwrap_or_default()))
        (attempt::exchange(&sent.attempt))
        (attempt::as_curl(&sent.attempt, &webhook.url, &sent.event.to_string()))
        (about())
    };
    Ok(page(&id, body))
}

fn page(id: &WebhookId, body: Markup) -> Page {
    Page::of(Section::Webhooks, "Test event", body).command(format!("headwater webhooks test {id}"))
}

fn crumbs(id: &WebhookId, name: &str) -> Markup {
    html! { p.crumbs { a href="/webhooks" { "Webhooks" } " / " a href={ "/webhooks/" (id) } { (text::line(name)) } } }
}

fn again(id: &WebhookId, label: &str) -> Markup {
    html! { div.actions { form method="post" action={ "/webhooks/" (id) "/test" } { button.primary { (label) } } } }
}

fn about() -> Markup {
    html! {
        p.note {
            "A test event is signed like every delivery, and says what it is: its header " code { "x-headwater-test" } " and its "
            code { "test" } " are true. It is sent once, also to a paused webhook, it is not kept, and the webhook's health does not change with it."
        }
    }
}
