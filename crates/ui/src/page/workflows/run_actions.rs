//! Answers to the waits of a run, and its cancellation.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::time::EpochMs;
use headwater_platform::{ResumeRequest, WaitAnswer, WaitKind, WaitView, WorkflowRunView};
use maud::{Markup, html};
use serde::Deserialize;

use super::RunPath;
use crate::{
    fields::Fields,
    part::{
        code::copyable,
        confirm::{Question, confirm},
        run_status, text, time,
    },
    problem::Problem,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Answer {
    path: String,
    action: Action,
    #[serde(default)]
    data: String,
}

/// The end that a wait is to have.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Resume,
    Rerun,
}

/// The waits of a run, each with its answers.
pub(super) fn waits(view: &WorkflowRunView, base: &str, now_ms: EpochMs) -> Markup {
    html! {
        @if !view.waits.is_empty() {
            h2 { "Waits" }
            @for (number, wait) in view.waits.iter().enumerate() { (one(wait, number, base, now_ms)) }
        }
    }
}

fn one(wait: &WaitView, number: usize, base: &str, now_ms: EpochMs) -> Markup {
    let path = wait.path.to_string();
    let runs_again = matches!(wait.kind, WaitKind::Rerun | WaitKind::Retry);
    html! {
        section.card {
            p {
                b { (text::line(&path)) } " waits for " (run_status::wait(wait.kind))
                @if let Some(until) = wait.expires_at_ms { ", until " (time::exact(until)) " (" (time::ago(until, now_ms)) ")" }
                "."
            }
            @if wait.kind != WaitKind::Call {
                form method="post" action={ (base) "/answer" } {
                    input type="hidden" name="path" value=(path);
                    div.field {
                        label for={ "data-" (number) } { "Answer" }
                        textarea id={ "data-" (number) } name="data" rows="3" spellcheck="false" placeholder="{\"approved\": true}" {}
                        p.hint { "JSON that later steps see as " code { "$resume_data" } "; empty is " code { "null" } "." }
                    }
                    div.actions {
                        button.primary name="action" value="resume" { "Resume" }
                        @if runs_again { button name="action" value="rerun" { "Run the step now" } }
                    }
                }
                details {
                    summary { "Addresses that answer it" }
                    p.note { "Whoever has one of them can answer." }
                    p { "resume: " (copyable(&wait.urls.resume)) }
                    p { "cancel: " (copyable(&wait.urls.cancel)) }
                    @if runs_again { p { "run again: " (copyable(&wait.urls.rerun)) } }
                }
            }
        }
    }
}

/// Answers a wait.
pub(crate) async fn answer(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: RunPath,
    Fields(given): Fields<Answer>,
) -> FormReply {
    path.view(&ui, &visitor).await?;
    let data = match given.data.trim() {
        "" => None,
        text => Some(serde_json::from_str(text).map_err(|error| {
            let text = format!(
                "The answer is not JSON: {error}. Go back and correct it; nothing was answered."
            );
            Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "Something does not fit",
                text,
            )
        })?),
    };
    let request = ResumeRequest {
        path: Some(given.path),
        data,
        runs_again: matches!(given.action, Action::Rerun),
    };
    let answer = ui
        .platform
        .resume_run(visitor.caller(), &path.run, &request)
        .await?;
    Ok(said(&visitor, &path, answer))
}

fn said(visitor: &Visitor, path: &RunPath, answer: WaitAnswer) -> Response {
    let line = match answer {
        WaitAnswer::Taken => "The run goes on",
        WaitAnswer::Before => "The wait was answered before, or is over",
        WaitAnswer::Ended => "The run has ended; replay it to do it again",
    };
    see_other_saying(visitor, &path.base(), line)
}

/// Asks whether to cancel a run.
pub(crate) async fn ask_to_cancel(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: RunPath,
) -> PageReply {
    path.view(&ui, &visitor).await?;
    let base = path.base();
    let question = Question {
        title: "Cancel this run?",
        consequences: html! {
            p { "Steps at work come to their end, waits end, and nothing further begins. What its steps did outside stays done." }
            p { "It can be replayed from any step that has begun." }
        },
        action: &format!("{base}/cancel"),
        fields: &[],
        button: "Cancel the run",
        back: &base,
    };
    Ok(
        Page::of(Section::Workflows, "Cancel a run", confirm(&question))
            .command(format!("headwater workflows cancel {}", path.run)),
    )
}

/// Cancels a run.
pub(crate) async fn cancel(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: RunPath,
) -> Result<Response, Problem> {
    path.view(&ui, &visitor).await?;
    ui.platform.cancel_run(visitor.caller(), &path.run).await?;
    Ok(see_other_saying(&visitor, &path.base(), "The run is being cancelled").into_response())
}
