//! `/webhooks`: every webhook with its state and what waits for it.

use std::{collections::HashMap, sync::Arc};

use axum::extract::State;
use headwater_model::{id::WorkspaceId, subscription::Subscription};
use headwater_platform::{
    CappedCount, KnownNames, PlatformError, RecentAttempts, Webhook, WebhookBacklog,
};
use maud::{Markup, html};

use super::health::{Scope, latency, success};
use crate::{
    page::deliveries::list::capped,
    part::{
        code::copyable,
        empty::empty,
        event_list::live_bar,
        icon::{Icon, icon},
        pager::{Ends, pager},
        state::{Tone, state},
        text, time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
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
    let health = ui.platform.webhooks_health(&ids).await?;
    let dead = ui.platform.dead_letters(visitor.caller(), &ids).await?;
    let scopes = match ids.is_empty() {
        true => HashMap::new(),
        false => Scope::of_each(&subscriptions(&ui, &visitor, visitor.workspace.clone()).await?),
    };
    let emitters = scopes.values().filter_map(|scope| scope.only().cloned());
    let emitters: Vec<_> = emitters.collect();
    let names = ui.platform.names(visitor.caller(), emitters, []).await?;
    let rows = webhooks.items.iter().zip(backlogs.iter().zip(&health));
    let rows = rows.zip(dead);
    let rows = rows.map(|((webhook, (backlog, recent)), dead)| Row {
        webhook,
        backlog,
        recent,
        dead,
        scope: scopes.get(&webhook.id).cloned().unwrap_or_default(),
    });
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
            (live_bar())
            div data-part="webhooks" { (table(rows, &names, &visitor)) }
            p.note { "Success and latency (half of the attempts, 95 of 100) are of the deliveries of the last 24 hours, the newest 100 at most." }
            (pager(&visitor, &Ends::of(&webhooks, |webhook| &webhook.id)))
        }
    };
    Ok(Page::of(Section::Webhooks, "Webhooks", body)
        .changing(&Topic::Webhooks, &visitor)
        .command("headwater webhooks list"))
}

/// The subscriptions of a workspace, whoever created them, or those of the visitor.
pub(crate) async fn subscriptions(
    ui: &Ui,
    visitor: &Visitor,
    workspace: Option<WorkspaceId>,
) -> Result<Vec<Subscription>, PlatformError> {
    let caller = visitor.caller();
    match workspace {
        Some(id) => ui.platform.workspace_subscriptions(caller, id).await,
        None => ui.platform.subscriptions(caller).await,
    }
}

/// A webhook with what its row shows of it.
struct Row<'a> {
    webhook: &'a Webhook,
    backlog: &'a WebhookBacklog,
    recent: &'a RecentAttempts,
    dead: CappedCount,
    scope: Scope,
}

fn table<'a>(rows: impl Iterator<Item = Row<'a>>, names: &KnownNames, visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead { tr {
                th scope="col" { "Name" } th.host.spare scope="col" { "Host" } th scope="col" { "State" } th scope="col" { "Gets events of" }
                th scope="col" { "Success" } th.number scope="col" { "Latency" } th.number scope="col" { "Dead" } th.number scope="col" { "Pending" } th.spare scope="col" { "Oldest pending" }
            } }
            tbody { @for row in rows { (row.markup(names, visitor)) } }
        }
    }
}

impl Row<'_> {
    fn markup(&self, names: &KnownNames, visitor: &Visitor) -> Markup {
        let (webhook, backlog) = (self.webhook, self.backlog);
        html! {
            tr data-row=(webhook.id) {
                th scope="row" { a href={ "/webhooks/" (webhook.id) } { (text::line(name(webhook))) } }
                td.host.spare data-label="Host" { (text::line(&host(&webhook.url))) }
                td data-label="State" {
                    (state_of(webhook, visitor))
                    @if let Some(reason) = &webhook.disabled_reason { div.note { (text::line(reason)) } }
                }
                td.named data-label="Gets events of" { (self.scope.markup(names)) }
                td data-label="Success" { (success(self.recent)) }
                td.number data-label="Latency" { (latency(self.recent)) }
                td.number data-label="Dead" { @if self.dead.count > 0 { a href={ "/deliveries?state=dead&webhook=" (webhook.id) } { (capped(self.dead)) } } @else { "0" } }
                td.number data-label="Pending" { @if backlog.pending > 0 { a href={ "/deliveries?state=pending&webhook=" (webhook.id) } { (text::grouped(backlog.pending)) } } @else { "0" } }
                td.spare data-label="Oldest pending" { @if let Some(moment) = backlog.oldest_at_ms { (time::ago(moment, visitor.now_ms)) } }
            }
        }
    }
}

/// The host of an address, with its port if it is not the usual one; the address itself if it has none.
fn host(address: &str) -> String {
    let Ok(url) = url::Url::parse(address) else {
        return address.to_owned();
    };
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => address.to_owned(),
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

/// The state of a webhook, and since when it fails.
pub(crate) fn state_of(webhook: &Webhook, visitor: &Visitor) -> Markup {
    let since = webhook.failing_since_ms.filter(|_| webhook.active);
    html! {
        (word_of(webhook))
        @if let Some(since) = since { " since " (time::ago(since, visitor.now_ms)) }
    }
}

/// The state of a webhook in one word.
pub(crate) fn word_of(webhook: &Webhook) -> Markup {
    match (webhook.active, webhook.failing_since_ms) {
        (false, _) if webhook.disabled_reason.is_some() => state(Tone::Bad, "disabled"),
        (false, _) => state(Tone::Quiet, "paused"),
        (true, Some(_)) => state(Tone::Warning, "failing"),
        (true, None) => state(Tone::Good, "ok"),
    }
}
