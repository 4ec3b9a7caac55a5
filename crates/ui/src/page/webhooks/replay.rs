//! `/webhooks/{id}/replay`: makes deliveries that were given up once more, or all that there were.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{id::WebhookId, page::PageRequest, time::EpochMs, webhook::DeliveryState};
use headwater_platform::ReplayRequest;
use maud::html;
use serde::Deserialize;

use super::list::name;
use crate::{
    fields::Fields,
    part::{
        confirm::{Question, confirm},
        text::{self, counted},
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Replay {
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
    let count = |state| {
        let (ui, caller, id) = (&ui, visitor.caller(), &id);
        async move {
            ui.platform
                .deliveries(caller, id, Some(state), &PageRequest::first(1))
                .await
        }
    };
    let dead = count(DeliveryState::Dead).await?.total_count;
    let delivered = match with_delivered {
        true => count(DeliveryState::Delivered).await?.total_count,
        false => 0,
    };
    let base = format!("/webhooks/{id}");
    let field = [("delivered", "true")];
    let question = Question {
        title: &format!(
            "Send {} again?",
            counted(dead + delivered, "delivery", "deliveries")
        ),
        consequences: html! {
            p { (text::value(name(&webhook))) " gets them in their original order, with the same " code { "webhook-id" } " as before, so that a receiver can tell those that it had." }
            p { (counted(dead, "dead one", "dead ones")) @if with_delivered { " and " (counted(delivered, "delivered one", "delivered ones")) } "." }
        },
        action: &format!("{base}/replay"),
        fields: if with_delivered { &field } else { &[] },
        button: "Send again",
        back: &base,
    };
    Ok(
        Page::of(Section::Webhooks, "Send again", confirm(&question))
            .command(format!("headwater deliveries replay {id}")),
    )
}

/// Makes them pending.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
    Fields(given): Fields<Replay>,
) -> FormReply {
    let request = ReplayRequest {
        // All that are kept, as the question counts them.
        since_ms: Some(EpochMs(0)),
        delivered: given.delivered.unwrap_or_default(),
        ..ReplayRequest::default()
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
