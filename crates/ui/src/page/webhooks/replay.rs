//! `/webhooks/{id}/replay`: makes deliveries that were given up once more, or all that there were, since a time.

use std::{sync::Arc, time::Duration};

use axum::extract::State;
use headwater_model::{id::WebhookId, time::EpochMs};
use headwater_platform::{DeliveryFilter, ReplayRequest};
use maud::{Markup, html};
use serde::Deserialize;

use super::list::name;
use crate::{
    fields::Fields,
    page::deliveries::list::capped,
    part::{
        confirm::{Question, confirm},
        empty::empty,
        text::{self, counted},
        time,
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Times since which deliveries are made once more, the whole of what is kept first.
const SINCE: [(&str, &str, Option<Duration>); 4] = [
    ("", "all that are kept", None),
    ("1h", "the last hour", Some(Duration::from_hours(1))),
    ("24h", "the last 24 hours", Some(Duration::from_hours(24))),
    ("7d", "the last 7 days", Some(Duration::from_hours(168))),
];

/// The form's fields: a span of time in epoch milliseconds, which is the one that was asked about.
#[derive(Deserialize)]
pub(crate) struct Replay {
    since_ms: u64,
    until_ms: u64,
    #[serde(default)]
    delivered: Option<bool>,
}

/// Says how many there are, and asks.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let with_delivered = visitor.parameter("delivered").is_some();
    let chosen = visitor.parameter("since").unwrap_or_default();
    let since_ms = since(&chosen, visitor.now_ms);
    let filter = DeliveryFilter {
        webhook_id: Some(id.clone()),
        since_ms: Some(since_ms),
        until_ms: Some(visitor.now_ms),
        ..DeliveryFilter::default()
    };
    let counts = ui
        .platform
        .count_deliveries(visitor.caller(), &filter)
        .await?;
    let base = format!("/webhooks/{id}");
    let span = [since_ms.0.to_string(), visitor.now_ms.0.to_string()];
    let mut fields = vec![("since_ms", &*span[0]), ("until_ms", &*span[1])];
    if with_delivered {
        fields.push(("delivered", "true"));
    }
    let has_some = counts.dead.count > 0 || with_delivered && counts.delivered.count > 0;
    let dead = capped(counts.dead);
    let title = match (with_delivered, counts.dead.count) {
        (true, _) => format!(
            "Send {dead} dead and {} delivered deliveries again?",
            capped(counts.delivered)
        ),
        (false, 1) => "Send 1 dead delivery again?".to_owned(),
        (false, _) => format!("Send {dead} dead deliveries again?"),
    };
    let question = Question {
        title: &title,
        consequences: html! {
            p { (text::value(name(&webhook))) " gets them in their original order, with the same " code { "webhook-id" } " as before, so that a receiver can tell those that it had." }
            @if since_ms.0 > 0 { p { "These are deliveries of events since " (time::exact(since_ms)) "." } }
            @if counts.discarded.count > 0 { p { (capped(counts.discarded)) " discarded ones stay as they are." } }
            @if !webhook.active { p.flash.warning { "The webhook is not active, and gets nothing: resume it first." } }
        },
        action: &format!("{base}/replay"),
        fields: &fields,
        button: "Send again",
        back: &base,
    };
    let body = html! {
        p.crumbs { a href="/webhooks" { "Webhooks" } " / " a href=(base) { (text::line(name(&webhook))) } }
        (choices(&base, &chosen, with_delivered))
        @if has_some { (confirm(&question)) } @else {
            h1 { "Send again" }
            (empty("There is nothing to send again here.", html! { p { a href=(base) { "Go back to the webhook" } } }))
        }
    };
    let told = match since_ms.0 {
        0 => "1970-01-01".to_owned(),
        ms => ms.to_string(),
    };
    let more = if with_delivered { " --delivered" } else { "" };
    Ok(
        Page::of(Section::Webhooks, "Send again", body).command(format!(
            "headwater webhooks replay {id} --since {told}{more}"
        )),
    )
}

/// The moment that a choice means.
fn since(chosen: &str, now_ms: EpochMs) -> EpochMs {
    let found = SINCE.iter().find(|(value, _, _)| *value == chosen);
    match found.and_then(|(_, _, span)| *span) {
        Some(span) => now_ms.minus(span),
        None => EpochMs(0),
    }
}

fn choices(base: &str, chosen: &str, with_delivered: bool) -> Markup {
    html! {
        form.filters action={ (base) "/replay" } {
            div {
                label for="since" { "Of " }
                select #since name="since" {
                    @for (value, label, _) in SINCE { option value=(value) selected[value == chosen] { (label) } }
                }
            }
            div {
                label { input type="checkbox" name="delivered" value="true" checked[with_delivered]; " delivered ones, too" }
            }
            button { "Count" }
        }
    }
}

/// Makes them pending.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
    Fields(given): Fields<Replay>,
) -> FormReply {
    let request = ReplayRequest {
        since_ms: Some(EpochMs(given.since_ms)),
        until_ms: Some(EpochMs(given.until_ms)),
        delivered: given.delivered.unwrap_or_default(),
    };
    let count = ui
        .platform
        .replay_deliveries(visitor.caller(), &id, request)
        .await?;
    let line = format!(
        "{} on the way again",
        counted(count, "delivery is", "deliveries are")
    );
    Ok(see_other_saying(
        &visitor,
        &format!("/webhooks/{id}"),
        &line,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_moment_and_anything_else_means_all() {
        let now_ms = EpochMs(1_700_000_000_000);
        assert_eq!(since("1h", now_ms), EpochMs(1_699_996_400_000));
        for all in ["", "nonsense"] {
            assert_eq!(since(all, now_ms), EpochMs(0));
        }
    }
}
