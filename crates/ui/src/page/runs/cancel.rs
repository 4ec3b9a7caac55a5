//! `/runs/{id}/cancel`: a run of a source that has not ended is ended now.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use headwater_model::id::InvocationId;
use headwater_platform::{PlatformError, RunOutcome, RunView, WorkflowRunStatus};
use maud::html;

use crate::{
    part::{
        confirm::{Question, confirm_busy},
        outcome::outcome,
    },
    path::PathId,
    problem::Problem,
    reply::{Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Asks whether to cancel a run; of one that has ended, says so.
pub(crate) async fn ask(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<InvocationId>,
) -> PageReply {
    let back = format!("/runs/{id}");
    let (_, run) = match ui.platform.open_source_run(visitor.caller(), &id).await {
        Ok(found) => found,
        Err(PlatformError::NotFound { .. }) => {
            let ended = ui.platform.run(visitor.caller(), &id).await?.run.ended;
            let body = html! {
                section.confirm {
                    h1 { (ENDED) }
                    p { (outcome(ended.outcome)) " There is nothing left to cancel." }
                    a.button href=(back) { "Show the run" }
                }
            };
            return Ok(Page::of(Section::Sources, "Cancel a run", body));
        }
        Err(error) => return Err(error.into()),
    };
    let question = Question {
        title: "Cancel this run?",
        consequences: html! {
            @match run.status {
                WorkflowRunStatus::Queued => { p { "It waits, and ends without having begun." } }
                _ => {
                    p { "It ends as at its time limit, with its worker. Its events and what it wrote to its key-value map are dropped, but for what went before its " code { "$respond" } "; its log stays." }
                    p { "Requests that it has sent and records that it wrote to data stores stay. Other runs of the same worker start again." }
                }
            }
        },
        action: &format!("{back}/cancel"),
        fields: &[],
        button: "Cancel the run",
        back: &back,
    };
    let asked = confirm_busy(&question, "Cancelling the run");
    let page = Page::of(Section::Sources, "Cancel a run", asked);
    Ok(page.command(format!("headwater runs cancel {id}")))
}

const ENDED: &str = "The run had ended before";

/// Cancels it, and shows what came of it.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<InvocationId>,
) -> Result<Response, Problem> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    if !platform.cancel_source_run(caller, &id).await? {
        return Err(Problem::not_found("run", id.as_str()));
    }
    let ended = platform.run(caller, &id).await;
    let is_cancelled = |view: &RunView| view.run.ended.outcome == RunOutcome::Cancelled;
    let line = match ended.is_ok_and(|view| is_cancelled(&view)) {
        true => "The run is cancelled",
        false => ENDED,
    };
    Ok(see_other_saying(&visitor, &format!("/runs/{id}"), line))
}
