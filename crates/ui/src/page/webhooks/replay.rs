//! `/webhooks/{id}/replay`: makes deliveries that were given up once more, or all that there were, or sends what it missed,
//! since a time.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::{id::WebhookId, time::EpochMs};
use headwater_platform::{DeliveryFilter, MissedEvents, PlatformError, ReplayRequest, Webhook};
use maud::{Markup, html};
use serde::Deserialize;

use super::list::name;
use crate::{
    fields::Fields,
    page::deliveries::list::capped,
    part::{
        code::quoted,
        confirm::{Question, confirm_busy},
        empty::empty,
        icon::{Icon, icon},
        text::{self, counted},
        time,
    },
    path::PathId,
    problem::{Problem, capital},
    query::{self, TIME},
    reply::{FormReply, Page, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The events that are sent: their words in the address, and for people.
const WHICH: [(&str, &str); 3] = [
    ("", "dead deliveries"),
    ("delivered", "dead and delivered ones"),
    ("missed", "events that it missed"),
];

/// The form's fields: a span of time in epoch milliseconds, which is the one that was asked about.
#[derive(Deserialize)]
pub(crate) struct Replay {
    since_ms: u64,
    until_ms: u64,
    #[serde(default)]
    which: String,
}

/// The choice as the address has it.
struct Chosen {
    which: String,
    since: String,
}

/// Says how many there are, and asks.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> Result<Response, Problem> {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let chosen = Chosen {
        which: visitor.parameter("which").unwrap_or_default(),
        since: visitor.parameter("since").unwrap_or_default(),
    };
    let read = query::read(("since", &chosen.since), TIME, |text| {
        query::since(text, visitor.now_ms)
    });
    let since_ms = match read {
        Ok(since_ms) => since_ms.unwrap_or_default(),
        Err(error @ PlatformError::Invalid(_)) => {
            let wrong = capital(&error.to_string());
            let page = page(
                &webhook,
                &chosen,
                Some(&wrong),
                html! { h1 { "Send again" } },
            );
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            return Ok(page.into_response());
        }
        Err(error) => return Err(error.into()),
    };
    let asked = match chosen.which.as_str() {
        "missed" => missed(&ui, &visitor, &webhook, since_ms).await?,
        which => deliveries(&ui, &visitor, &webhook, (since_ms, which == "delivered")).await?,
    };
    Ok(page(&webhook, &chosen, None, asked).into_response())
}

fn page(webhook: &Webhook, chosen: &Chosen, wrong: Option<&str>, below: Markup) -> Page {
    let base = format!("/webhooks/{}", webhook.id);
    let body = html! {
        p.crumbs { a href="/webhooks" { "Webhooks" } " / " a href=(base) { (text::line(name(webhook))) } }
        (below)
        (choices(&base, chosen, wrong))
    };
    let since = match chosen.since.as_str() {
        "" => "1970-01-01",
        since => since,
    };
    let more = match chosen.which.as_str() {
        "delivered" => " --delivered",
        "missed" => " --missed",
        _ => "",
    };
    let command = format!(
        "headwater webhooks replay {} --since {}{more}",
        webhook.id,
        quoted(since)
    );
    Page::of(Section::Webhooks, "Send again", body).command(command)
}

fn choices(base: &str, chosen: &Chosen, wrong: Option<&str>) -> Markup {
    html! {
        form.filters action={ (base) "/replay" } {
            div {
                label for="which" { "Send " }
                select #which name="which" {
                    @for (value, label) in WHICH { option value=(value) selected[value == chosen.which] { (label) } }
                }
            }
            div {
                label for="since" { "of events since " }
                input #since name="since" value=(chosen.since) size="18" placeholder="all that are kept" autocomplete="off"
                    aria-invalid=[wrong.map(|_| "true")] aria-describedby=[wrong.map(|_| "wrong")];
            }
            button { "Count" }
        }
        @if let Some(wrong) = wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (text::sentence(wrong)) } }
        p.note { "A time is written as " code { "90s" } ", " code { "24h" } ", " code { "7d" } ", " code { "2026-01-31" } " or " code { "2026-01-31T12:00:00Z" } "." }
    }
}

/// The question about deliveries that were made before.
async fn deliveries(
    ui: &Ui,
    visitor: &Visitor,
    webhook: &Webhook,
    (since_ms, with_delivered): (EpochMs, bool),
) -> Result<Markup, PlatformError> {
    let filter = DeliveryFilter {
        webhook_id: Some(webhook.id.clone()),
        since_ms: Some(since_ms),
        until_ms: Some(visitor.now_ms),
        ..DeliveryFilter::default()
    };
    let counts = ui
        .platform
        .count_deliveries(visitor.caller(), &filter)
        .await?;
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
    let consequences = html! {
        p { (text::value(name(webhook))) " gets them in their original order, with the same " code { "webhook-id" } " as before, so that a receiver can tell those that it had." }
        @if since_ms.0 > 0 { p { "These are deliveries of events since " (time::exact(since_ms)) "." } }
        @if counts.discarded.count > 0 { p { (capped(counts.discarded)) " discarded ones stay as they are." } }
        @if !webhook.active { p.flash.warning { "The webhook is not active, and gets nothing: resume it first." } }
    };
    let which = if with_delivered { "delivered" } else { "" };
    Ok(match has_some {
        true => ask(
            visitor,
            webhook,
            since_ms,
            (&title, which, "Send again"),
            consequences,
        ),
        false => nothing("There is nothing to send again here.", webhook),
    })
}

/// The question about events of which there is no delivery.
async fn missed(
    ui: &Ui,
    visitor: &Visitor,
    webhook: &Webhook,
    since_ms: EpochMs,
) -> Result<Markup, PlatformError> {
    if !webhook.active {
        return Ok(nothing(
            "The webhook is not active, and gets nothing: resume it first.",
            webhook,
        ));
    }
    let wanted = MissedEvents {
        since_ms,
        until_ms: Some(visitor.now_ms),
        is_dry: true,
    };
    let would = ui
        .platform
        .send_missed(visitor.caller(), &webhook.id, wanted)
        .await?;
    if would.count == 0 {
        return Ok(nothing(
            "It has a delivery of every event that it is subscribed to and that is still kept.",
            webhook,
        ));
    }
    let title = format!(
        "Send {}?",
        counted(would.count, "missed event", "missed events")
    );
    let consequences = html! {
        p { (text::value(name(webhook))) " gets them in their original order. These are kept events of what it is subscribed to now, of which it has no delivery: it was paused, was subscribed later, or its delivery is not kept any more." }
        @if since_ms.0 > 0 { p { "They came since " (time::exact(since_ms)) "." } }
        @if would.is_capped { p { "There may be more: send these, and count again." } }
    };
    Ok(ask(
        visitor,
        webhook,
        since_ms,
        (&title, "missed", "Send them"),
        consequences,
    ))
}

fn ask(
    visitor: &Visitor,
    webhook: &Webhook,
    since_ms: EpochMs,
    (title, which, button): (&str, &str, &str),
    consequences: Markup,
) -> Markup {
    let base = format!("/webhooks/{}", webhook.id);
    let span = [since_ms.0.to_string(), visitor.now_ms.0.to_string()];
    let question = Question {
        title,
        consequences,
        action: &format!("{base}/replay"),
        fields: &[
            ("since_ms", &*span[0]),
            ("until_ms", &*span[1]),
            ("which", which),
        ],
        button,
        back: &base,
    };
    confirm_busy(&question, "Sending…")
}

fn nothing(reason: &str, webhook: &Webhook) -> Markup {
    html! {
        h1 { "Send again" }
        (empty(reason, html! { p { a href={ "/webhooks/" (webhook.id) } { "Go back to the webhook" } } }))
    }
}

/// Makes them pending.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
    Fields(given): Fields<Replay>,
) -> FormReply {
    let (since_ms, until_ms) = (EpochMs(given.since_ms), EpochMs(given.until_ms));
    let line = match given.which.as_str() {
        "missed" => {
            let wanted = MissedEvents {
                since_ms,
                until_ms: Some(until_ms),
                is_dry: false,
            };
            let sent = ui
                .platform
                .send_missed(visitor.caller(), &id, wanted)
                .await?;
            let more = if sent.is_capped {
                "; there may be more"
            } else {
                ""
            };
            let told = counted(sent.count, "missed event is", "missed events are");
            format!("{told} on the way{more}")
        }
        which => {
            let request = ReplayRequest {
                since_ms: Some(since_ms),
                until_ms: Some(until_ms),
                delivered: which == "delivered",
            };
            let count = ui
                .platform
                .replay_deliveries(visitor.caller(), &id, request)
                .await?;
            format!(
                "{} on the way again",
                counted(count, "delivery is", "deliveries are")
            )
        }
    };
    let webhook = format!("/webhooks/{id}");
    Ok(see_other_saying(&visitor, &webhook, &line))
}
