//! `/workflows/{id}/runs/{run}/answer`: the answer that a wait gets by hand.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_platform::{ResumeRequest, WaitAnswer};
use serde::Deserialize;

use super::{RunPath, run, run_actions::Refused};
use crate::{
    fields::Fields,
    reply::{FormReply, see_other_saying},
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
        text => match serde_json::from_str(text) {
            Ok(data) => Some(data),
            Err(error) => {
                let refused = Refused {
                    wrong: format!("Nothing was answered: this is not JSON ({error})"),
                    path: given.path,
                    data: given.data,
                };
                let page = run::page(&ui, &visitor, &path, Some(&refused)).await?;
                let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
                return Ok(page.into_response());
            }
        },
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
