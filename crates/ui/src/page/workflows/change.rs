//! `/workflows/{id}/switch` and `/workflows/{id}/delete`: pauses, resumes and deletes a workflow.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::WorkflowId;
use headwater_platform::UpdateWorkflow;
use maud::html;
use serde::Deserialize;

use super::head::Shown;
use crate::{
    address::Address as _,
    fields::Fields,
    part::{
        confirm::{Question, confirm},
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

/// Switches the triggers of a workflow on or off.
pub(crate) async fn switch(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
    Fields(given): Fields<Switch>,
) -> FormReply {
    let change = UpdateWorkflow {
        active: Some(given.active),
    };
    let view = ui
        .platform
        .update_workflow(visitor.caller(), &id, change)
        .await?;
    let done = match given.active {
        true => "runs on its triggers again",
        false => "is paused: its triggers start nothing, and runs that have begun go on",
    };
    let line = format!("{} {done}", view.workflow.name);
    Ok(see_other_saying(&visitor, &id.address(), &line))
}

/// Asks whether to delete a workflow.
pub(crate) async fn ask_to_delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let triggers = &shown.view.triggers;
    let has_sources = triggers.iter().any(|trigger| trigger.source_id.is_some());
    let has_endpoint = triggers
        .iter()
        .any(|trigger| trigger.endpoint_url.is_some());
    let question = Question {
        title: &format!("Delete {}?", shown.name()),
        consequences: html! {
            p { "Its deployments, runs and events go with it, and so do the subscriptions to it." }
            @if has_endpoint { p { "Its endpoint answers 404 from then on." } }
            @if has_sources { p { "The sources that its triggers deployed are deleted, too." } }
            @if shown.health.open_runs > 0 {
                p { (counted(shown.health.open_runs.into(), "run", "runs")) " under way will end without a trace." }
            }
            p { "To stop it and keep its runs, pause it instead." }
        },
        action: &format!("{}/delete", shown.base()),
        fields: &[],
        button: "Delete the workflow",
        back: &shown.base(),
    };
    Ok(Page::of(
        Section::Workflows,
        format!("Delete {}", shown.name()),
        confirm(&question),
    )
    .command(format!("headwater workflows delete {}", shown.quoted())))
}

/// Deletes a workflow.
pub(crate) async fn delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> FormReply {
    let view = ui.platform.workflow(visitor.caller(), &id).await?;
    ui.platform.delete_workflow(visitor.caller(), &id).await?;
    let line = format!("{} is deleted", view.workflow.name);
    Ok(see_other_saying(&visitor, "/workflows", &line))
}
