//! `/webhooks/{id}/edit`: another address, name, description or order.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::{id::WebhookId, webhook::DeliveryOrder};
use headwater_platform::{PlatformError, UpdateWebhook, Webhook};
use maud::html;
use serde::Deserialize;

use super::list::name;
use crate::{
    fields::Fields,
    part::{
        icon::{Icon, icon},
        text,
    },
    path::PathId,
    problem::capital,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The orders, as forms send them.
const ORDERS: [(&str, &str, DeliveryOrder); 2] = [
    ("strict", "one after the other", DeliveryOrder::Strict),
    ("none", "in parallel", DeliveryOrder::Unordered),
];

/// The form's fields. An empty name is none, and so is an empty description.
#[derive(Deserialize)]
pub(crate) struct Edited {
    #[serde(default)]
    url: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    ordering: DeliveryOrder,
}

/// Asks for them, with those that it has.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let given = Edited {
        url: webhook.url.clone(),
        name: webhook.name.clone().unwrap_or_default(),
        description: webhook.description.clone().unwrap_or_default(),
        ordering: webhook.ordering,
    };
    Ok(form(&webhook, &given, None))
}

/// Changes them.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
    Fields(given): Fields<Edited>,
) -> FormReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let given_or_none = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let change = UpdateWebhook {
        url: Some(given.url.trim().to_owned()),
        name: Some(given_or_none(&given.name)),
        description: Some(given_or_none(&given.description)),
        ordering: Some(given.ordering),
        ..UpdateWebhook::default()
    };
    match ui
        .platform
        .update_webhook(visitor.caller(), &id, change)
        .await
    {
        Ok(changed) => Ok(saved(&visitor, &changed)),
        Err(error @ PlatformError::Invalid(_)) => {
            let page = form(&webhook, &given, Some(&capital(&error.to_string())));
            Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response())
        }
        Err(error) => Err(error.into()),
    }
}

fn saved(visitor: &Visitor, webhook: &Webhook) -> Response {
    let line = format!("{} is changed", name(webhook));
    see_other_saying(visitor, &format!("/webhooks/{}", webhook.id), &line)
}

fn form(webhook: &Webhook, given: &Edited, wrong: Option<&str>) -> Page {
    let base = format!("/webhooks/{}", webhook.id);
    let body = html! {
        p.crumbs { a href="/webhooks" { "Webhooks" } " / " a href=(base) { (text::line(name(webhook))) } }
        header.title { h1 { "Edit the webhook" } }
        form method="post" action={ (base) "/edit" } {
            @if let Some(wrong) = wrong { div.summary-of-errors role="alert" #wrong { (icon(Icon::Warning)) a href="#url" { (text::sentence(wrong)) } } }
            div.field {
                label for="url" { "Address" }
                input #url type="url" name="url" required value=(given.url) aria-describedby="url-hint"
                    aria-invalid=[wrong.map(|_| "true")] autofocus[wrong.is_some()];
                p.hint #url-hint { "Deliveries that wait for the webhook go to the new address, too. Secret and subscriptions stay." }
            }
            div.field {
                label for="name" { "Name " span.note { "optional" } }
                input #name name="name" value=(given.name) autocomplete="off";
            }
            div.field {
                label for="description" { "Description " span.note { "optional" } }
                input #description name="description" value=(given.description) autocomplete="off";
            }
            div.field {
                label for="ordering" { "Order" }
                select #ordering name="ordering" aria-describedby="ordering-hint" {
                    @for (value, label, order) in ORDERS { option value=(value) selected[order == given.ordering] { (label) } }
                }
                p.hint #ordering-hint { "One after the other: while one delivery fails, those behind it of the same emitter wait. In parallel: a receiver may get them in another order." }
            }
            div.actions {
                button.primary { "Save" }
                a.button.quiet href=(base) { "Go back" }
            }
        }
    };
    Page::of(Section::Webhooks, "Edit the webhook", body).command(format!(
        "headwater webhooks update {} --url URL --name NAME --description TEXT --ordering strict",
        webhook.id
    ))
}
