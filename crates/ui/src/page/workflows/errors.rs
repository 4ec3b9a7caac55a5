//! `/workflows/{id}/errors`: what failed its runs, newest first.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    channel::Channel,
    id::{EmitterId, WorkflowId},
};
use headwater_platform::{EventsQuery, default_channels};
use maud::html;

use super::head::Shown;
use crate::{
    part::{
        empty::empty,
        error_event,
        pager::{Ends, pager},
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Lists the errors of a workflow.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let query = EventsQuery {
        channels: default_channels(Some(Channel::ERRORS)),
        page: visitor.page_request(),
    };
    let errors = ui
        .platform
        .workflow_events(visitor.caller(), &id, &query)
        .await?;
    let emitter = EmitterId::Workflow(id.clone());
    let body = html! {
        (shown.head(&visitor, "errors"))
        @if errors.items.is_empty() {
            (empty(match shown.health.last_run { Some(_) => "No error is kept.", None => "It has not run yet, so nothing failed." }, html! { p { "The error of a run that failed appears here, with the event that the run began with." } }))
        } @else {
            @for error in &errors.items { (error_event::item(&emitter, error, visitor.now_ms)) }
            (pager(&visitor, &Ends::of(&errors, |error| error.id)))
        }
    };
    Ok(Page::of(
        Section::Workflows,
        format!("{} · errors", shown.name()),
        body,
    )
    .command(format!(
        "headwater workflows runs {} --status failed",
        shown.quoted()
    )))
}
