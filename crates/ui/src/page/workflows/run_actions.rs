//! The waits of a run with the forms that answer them, and its cancellation.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use headwater_model::time::EpochMs;
use headwater_platform::{WaitKind, WaitView, WorkflowRunView};
use maud::{Markup, html};

use super::RunPath;
use crate::{
    part::{
        code::copyable,
        confirm::{Question, confirm},
        icon::{Icon, icon},
        run_status, text, time,
    },
    problem::Problem,
    reply::{Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// An answer that was refused: for which wait, as it was written, and why.
pub(super) struct Refused {
    pub(super) path: String,
    pub(super) data: String,
    pub(super) wrong: String,
}

/// The waits of a run, each with its answers.
pub(super) fn waits(
    view: &WorkflowRunView,
    base: &str,
    refused: Option<&Refused>,
    now_ms: EpochMs,
) -> Markup {
    html! {
        @if !view.waits.is_empty() {
            h2 { "Waits" }
            @for (number, wait) in view.waits.iter().enumerate() { (one(wait, number, base, refused, now_ms)) }
        }
    }
}

fn one(
    wait: &WaitView,
    number: usize,
    base: &str,
    refused: Option<&Refused>,
    now_ms: EpochMs,
) -> Markup {
    let path = wait.path.to_string();
    let refused = refused.filter(|refused| refused.path == path);
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
                        textarea id={ "data-" (number) } name="data" rows="3" spellcheck="false" placeholder="{\"approved\": true}"
                            aria-invalid=[refused.map(|_| "true")] aria-describedby=[refused.map(|_| "wrong")] autofocus[refused.is_some()] { (refused.map_or("", |refused| refused.data.as_str())) }
                        @if let Some(refused) = refused { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (text::sentence(&refused.wrong)) } }
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
