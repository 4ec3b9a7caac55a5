//! `/workflows`: all of them, and one with everything about it, each part at an address of its own.

pub(crate) mod change;
pub(crate) mod deployment;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod head;
pub(crate) mod list;
pub(crate) mod outline;
pub(crate) mod replay;
pub(crate) mod roll_back;
pub(crate) mod run;
pub(crate) mod run_actions;
pub(crate) mod run_answer;
pub(crate) mod run_steps;
pub(crate) mod run_value;
pub(crate) mod runs;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod steps;

use axum::{
    RequestPartsExt as _,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_platform::WorkflowRunView;

use crate::{address, problem::Problem, state::Ui, visit::Visitor};

/// The run in a page's address: `{run}` of the workflow `{id}`.
pub(crate) struct RunPath {
    workflow: WorkflowId,
    run: InvocationId,
}

impl RunPath {
    /// The address of the run's page.
    fn base(&self) -> String {
        address::of_workflow_run(&self.workflow, &self.run)
    }

    /// The run, if it is one of this workflow.
    async fn view(&self, ui: &Ui, visitor: &Visitor) -> Result<WorkflowRunView, Problem> {
        let view = ui
            .platform
            .workflow_run(visitor.caller(), &self.run)
            .await?;
        match view.workflow_id == self.workflow {
            true => Ok(view),
            false => Err(Problem::not_found("run", self.run.as_str())),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RunPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let texts = parts.extract::<Path<(String, String)>>().await;
        let (workflow, run) = texts.map(|Path(texts)| texts).unwrap_or_default();
        let workflow = workflow
            .parse()
            .map_err(|_| Problem::not_found("workflow", &workflow))?;
        let run = run.parse().map_err(|_| Problem::not_found("run", &run))?;
        Ok(Self { workflow, run })
    }
}
