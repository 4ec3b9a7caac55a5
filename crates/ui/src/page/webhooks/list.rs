//! `/webhooks`: every webhook with its state and what waits for it.

use std::sync::Arc;

use axum::extract::State;
use headwater_platform::{Webhook, WebhookBacklog};
use maud::{Markup, html};

use crate::{
    part::{
        code::copyable,
        empty::empty,
        icon::{Icon, icon},
        pager::{Ends, pager},
        state::{Tone, state},
        text, time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Lists webhooks.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let page = visitor.page_request();
    let workspace = visitor.workspace.clone();
    let webhooks = ui
        .platform
        .webhooks(visitor.caller(), workspace, &page)
        .await?;
    let ids: Vec<_> = webhooks
        .items
        .iter()
        .map(|webhook| webhook.id.clone())
        .collect();
    let backlogs = ui.platform.webhook_backlogs(&ids).await?;
    let body = html! {
        header.title {
            h1 { "Webhooks" }
            div.actions { a.button.primary href=(visitor.to("/webhooks/new")) data-key="n" { (icon(Icon::Plus)) "New webhook" } }
        }
        @if webhooks.items.is_empty() {
            (empty("Nothing is sent anywhere yet.", html! {
                p { "A webhook is an address to which events are POSTed, signed, and again until it takes them." }
                p { a.button.primary href=(visitor.to("/webhooks/new")) { (icon(Icon::Plus)) "New webhook" } }
                p { "Or follow a source without one: " (copyable("headwater events SOURCE -f")) }
            }))
        } @else {
            (table(&webhooks.items, &backlogs, &visitor))
            (pager(&visitor, &Ends::of(&webhooks, |webhook| &webhook.id)))
        }
    };
    Ok(Page::of(Section::Webhooks, "Webhooks", body).command("headwater webhooks list"))
}

fn table(webhooks: &[Webhook], backlogs: &[WebhookBacklog], visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Address" } th scope="col" { "State" } th.number scope="col" { "Pending" } th scope="col" { "Oldest" } } }
            tbody {
                @for (webhook, backlog) in webhooks.iter().zip(backlogs) {
                    tr {
                        th scope="row" { a href={ "/webhooks/" (webhook.id) } { (text::line(name(webhook))) } }
                        td data-label="Address" { (text::line(&webhook.url)) }
                        td data-label="State" { (state_of(webhook, visitor)) }
                        td.number data-label="Pending" { (text::grouped(backlog.pending)) }
                        td data-label="Oldest" { @if let Some(moment) = backlog.oldest_at_ms { (time::ago(moment, visitor.now_ms)) } }
                    }
                }
            }
        }
    }
}

/// The name that people call a webhook by.
pub(crate) fn name(webhook: &Webhook) -> &str {
    webhook
        .name
        .as_deref()
        .filter(|name| !name.trim().is_empty())
        .unwrap_or(&webhook.url)
}

/// The state of a webhook.
pub(crate) fn state_of(webhook: &Webhook, visitor: &Visitor) -> Markup {
    html! {
        @match (webhook.active, webhook.failing_since_ms) {
            (false, _) if webhook.disabled_reason.is_some() => { (state(Tone::Bad, "disabled")) }
            (false, _) => { (state(Tone::Quiet, "paused")) }
            (true, Some(since)) => { (state(Tone::Warning, "failing")) " since " (time::ago(since, visitor.now_ms)) }
            (true, None) => { (state(Tone::Good, "ok")) }
        }
    }
}
