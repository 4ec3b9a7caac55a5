//! `/workflows/{id}/run`: starts a run, with an event that one may write.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::id::WorkflowId;
use maud::{Markup, html};
use serde::Deserialize;

use super::head::Shown;
use crate::{
    address,
    assets::EDITOR,
    fields::Fields,
    part::icon::{Icon, icon},
    path::PathId,
    problem::Problem,
    reply::{Page, PageReply, Section, see_other},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Start {
    #[serde(default)]
    event: String,
}

/// Asks for the event.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let event = visitor.parameter("event").unwrap_or_default();
    Ok(page(&visitor, &shown, &event, html! {}))
}

/// Starts the run and goes to its page.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
    Fields(given): Fields<Start>,
) -> Result<Response, Problem> {
    let event = match given.event.trim() {
        "" => None,
        text => match serde_json::from_str(text) {
            Ok(event) => Some(event),
            Err(error) => {
                let shown = Shown::of(&ui, &visitor, &id).await?;
                let wrong = html! {
                    p.wrong role="alert" #wrong { (icon(Icon::Warning)) "The event is not JSON: " (error) }
                };
                let page = page(&visitor, &shown, &given.event, wrong);
                return Ok(page
                    .with_status(StatusCode::UNPROCESSABLE_ENTITY)
                    .into_response());
            }
        },
    };
    let run = ui
        .platform
        .run_workflow(visitor.caller(), &id, event)
        .await?;
    Ok(see_other(&address::of_workflow_run(&id, &run)))
}

fn page(visitor: &Visitor, shown: &Shown, event: &str, above: Markup) -> Page {
    let body = html! {
        (shown.head(visitor, ""))
        h2 { "Run now" }
        (above)
        form method="post" action={ (shown.base()) "/run" } {
            div.field {
                label for="event" { "Event" }
                textarea #event name="event" rows="8" spellcheck="false" placeholder="{}" data-editor=(EDITOR.path()) data-language="json" data-at="press" { (event) }
                p.hint { "JSON that steps see as " code { "steps.trigger.event" } ". Empty: " code { "{}" } "." }
            }
            button.primary data-tests { (icon(Icon::Play)) "Run" }
        }
    };
    Page::of(Section::Workflows, format!("Run {}", shown.name()), body)
        .command(format!("headwater workflows run {} --wait", shown.quoted()))
}
