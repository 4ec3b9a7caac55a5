//! `/sources/{id}/delete`: asks once more, then deletes.

use std::sync::Arc;

use axum::extract::State;
use maud::html;

use super::head::Shown;
use crate::{
    part::{
        confirm::{Question, confirm},
        text::counted,
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// Asks whether to delete a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let endpoints = shown.view.source.spec.endpoints.len();
    let question = Question {
        title: &format!("Delete {}?", shown.name()),
        consequences: html! {
            p { "Its events, runs, log and key-value map go with it, and so do the subscriptions from and to it." }
            @if endpoints > 0 { p { "Its endpoint answers 404 from then on." } }
            p { "If it has a hook " code { "deactivate" } ", that runs first, so that it can undo what it registered elsewhere." }
            @if shown.view.active() && shown.health.recent.runs > 0 {
                p { "It had " (counted(shown.health.recent.runs.into(), "run", "runs")) " in the last 24 hours. To stop it and keep its events, pause it instead." }
            }
        },
        action: &format!("{}/delete", shown.base()),
        fields: &[],
        button: "Delete the source",
        back: &shown.base(),
    };
    Ok(Page::of(
        Section::Sources,
        format!("Delete {}", shown.name()),
        confirm(&question),
    )
    .command(format!("headwater delete {}", shown.quoted())))
}

/// Deletes a source.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> FormReply {
    let name = ui
        .platform
        .source(visitor.caller(), &id)
        .await?
        .source
        .spec
        .name;
    ui.platform.delete_source(visitor.caller(), &id).await?;
    Ok(see_other_saying(
        &visitor,
        "/sources",
        &format!("{name} is deleted"),
    ))
}
