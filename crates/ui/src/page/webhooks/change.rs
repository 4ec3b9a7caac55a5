//! `/webhooks/{id}/switch` and `/webhooks/{id}/delete`.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::WebhookId;
use headwater_platform::UpdateWebhook;
use maud::html;
use serde::Deserialize;

use super::list::name;
use crate::{
    fields::Fields,
    part::{
        confirm::{Question, confirm},
        icon::{Icon, icon},
        text::counted,
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Switch {
    active: bool,
}

/// Pauses a webhook, or lets it get events again.
pub(crate) async fn switch(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
    Fields(given): Fields<Switch>,
) -> FormReply {
    let change = UpdateWebhook {
        active: Some(given.active),
        ..UpdateWebhook::default()
    };
    let webhook = ui
        .platform
        .update_webhook(visitor.caller(), &id, change)
        .await?;
    let done = match given.active {
        true => "gets events again",
        false => "is paused: events that come meanwhile are not sent to it",
    };
    let line = format!("{} {done}", name(&webhook));
    Ok(see_other_saying(
        &visitor,
        &format!("/webhooks/{id}"),
        &line,
    ))
}

/// Asks whether to delete a webhook.
pub(crate) async fn ask_to_delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let backlog = ui
        .platform
        .webhook_backlogs(std::slice::from_ref(&id))
        .await?;
    let pending = backlog.first().map_or(0, |backlog| backlog.pending);
    let base = format!("/webhooks/{id}");
    let question = Question {
        title: &format!("Delete {}?", name(&webhook)),
        consequences: html! {
            p { "Its subscriptions and the record of its deliveries go with it." }
            @if pending > 0 { p { (counted(pending, "delivery that waits for it is", "deliveries that wait for it are")) " not made." } }
            @if webhook.active {
                p { "If it is only to rest, pause it: it keeps its subscriptions, its secret and the record of its deliveries." }
                form method="post" action={ (base) "/switch" } { button name="active" value="false" { (icon(Icon::Paused)) "Pause it instead" } }
            }
        },
        action: &format!("{base}/delete"),
        fields: &[],
        button: "Delete the webhook",
        back: &base,
    };
    Ok(
        Page::of(Section::Webhooks, "Delete a webhook", confirm(&question))
            .command(format!("headwater webhooks delete {id}")),
    )
}

/// Deletes a webhook.
pub(crate) async fn delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> FormReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    ui.platform.delete_webhook(visitor.caller(), &id).await?;
    let line = format!("{} is deleted", name(&webhook));
    Ok(see_other_saying(&visitor, "/webhooks", &line))
}
