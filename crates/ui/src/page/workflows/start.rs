//! `/workflows/{id}/run`: starts a run, with an event that one may write.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::id::{EmitterId, WorkflowId};
use headwater_platform::PlatformError;
use maud::{Markup, html};
use serde::Deserialize;

use super::head::Shown;
use crate::{
    address,
    fields::Fields,
    page::prefilled::Prefilled,
    part::{
        icon::{Icon, icon},
        text,
    },
    path::PathId,
    problem::{Problem, capital},
    reply::{Page, PageReply, Section, see_other},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Start {
    #[serde(default)]
    event: String,
    /// The workflow's own event that runs if no other one is written.
    #[serde(default)]
    event_id: String,
}

/// Asks for the event.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let prefilled = Prefilled::of(&ui, &visitor, EmitterId::Workflow(id)).await?;
    Ok(page(&visitor, &shown, &prefilled, html! {}))
}

/// Starts the run and goes to its page.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
    Fields(given): Fields<Start>,
) -> Result<Response, Problem> {
    let entered = (given.event.as_str(), given.event_id.as_str());
    let emitter = EmitterId::Workflow(id.clone());
    let event = match Prefilled::sent(&ui, &visitor, emitter.clone(), entered).await {
        Ok(event) => event,
        Err(error @ (PlatformError::Invalid(_) | PlatformError::EventGone { .. })) => {
            let shown = Shown::of(&ui, &visitor, &id).await?;
            let prefilled = Prefilled::again(&ui, &visitor, emitter, entered).await?;
            let reason = capital(&error.to_string());
            let wrong = html! {
                p.wrong role="alert" #wrong { (icon(Icon::Warning)) (text::sentence(&reason)) }
            };
            let page = page(&visitor, &shown, &prefilled, wrong);
            return Ok(page
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                .into_response());
        }
        Err(error) => return Err(error.into()),
    };
    let run = ui
        .platform
        .run_workflow(visitor.caller(), &id, event)
        .await?;
    Ok(see_other(&address::of_workflow_run(&id, &run)))
}

fn page(visitor: &Visitor, shown: &Shown, prefilled: &Prefilled, above: Markup) -> Page {
    let hint = html! { "JSON that steps see as " code { "steps.trigger.event" } ". Empty: " code { "{}" } "." };
    let body = html! {
        (shown.head(visitor, ""))
        h2 { "Run now" }
        (above)
        form method="post" action={ (shown.base()) "/run" } {
            (prefilled.field(&hint))
            button.primary data-tests { (icon(Icon::Play)) "Run" }
        }
    };
    let line = format!("headwater workflows run {} --wait", shown.quoted());
    let page = Page::of(Section::Workflows, format!("Run {}", shown.name()), body);
    prefilled.command(&line, page)
}
