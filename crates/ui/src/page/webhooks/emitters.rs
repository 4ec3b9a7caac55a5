//! `/webhooks/{id}/subscriptions`: adds emitters whose events a webhook gets, and removes them.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::id::WebhookId;

use super::show;
use crate::{
    fields::Fields,
    page::subscribing::{Given, Refused},
    path::PathId,
    reply::{FormReply, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Adds an emitter.
pub(crate) async fn add(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
    Fields(given): Fields<Given>,
) -> FormReply {
    ui.platform.webhook(visitor.caller(), &id).await?;
    let added = ui
        .platform
        .subscribe(visitor.caller(), &given.other, id.as_str(), given.channel())
        .await;
    if let Err(error) = added {
        let refused = Refused::of(given, error)?;
        let page = show::page(&ui, &visitor, &id, Some(&refused)).await?;
        return Ok(page
            .with_status(StatusCode::UNPROCESSABLE_ENTITY)
            .into_response());
    }
    Ok(back(&visitor, &id, "It gets these events from now on"))
}

/// Removes an emitter.
pub(crate) async fn remove(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
    Fields(given): Fields<Given>,
) -> FormReply {
    ui.platform.webhook(visitor.caller(), &id).await?;
    ui.platform
        .unsubscribe(visitor.caller(), &given.other, id.as_str(), given.channel())
        .await?;
    Ok(back(&visitor, &id, "The subscription is removed"))
}

fn back(visitor: &Visitor, id: &WebhookId, line: &str) -> Response {
    see_other_saying(visitor, &format!("/webhooks/{id}"), line)
}
