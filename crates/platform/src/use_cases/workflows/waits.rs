//! Answering waits: by their URLs, and by whoever may see the run (docs/guide/workflows.md, "Waiting").

use std::sync::Arc;

use headwater_model::id::{InvocationId, RunnableId};
use headwater_store::{WaitId, WaitResolved};
use headwater_workflow::{
    path::Path,
    run::{Kept, Resolution, WaitKind},
};
use serde_json::{Value, value::RawValue};

use super::cancel::on_run;
use crate::{
    audit::AuditAction,
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    workflows::{Content, Head},
};

/// The last part of a wait's URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitAction {
    /// `resume`: the run goes on, with the request as data.
    Resume,
    /// `cancel`: the run ends.
    Cancel,
    /// `rerun`: the step runs again at once.
    Rerun,
}

/// The effect of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitAnswer {
    /// It counts.
    Taken,
    /// The wait was answered before, or is over.
    Before,
    /// The run has ended.
    Ended,
}

/// `POST /runs/{id}/resume`.
#[derive(Debug, Clone, Default)]
pub struct ResumeRequest {
    /// The path of the step or block, if several wait.
    pub path: Option<String>,
    /// The data that the run goes on with.
    pub data: Option<Value>,
    /// Whether the step runs again at once instead: for waits of `$.flow.rerun` and of retries.
    pub runs_again: bool,
}

impl Platform {
    /// Answers the wait that a token of a URL names. `request` is the request in the shape of an HTTP trigger's event.
    ///
    /// # Errors
    /// `NotFound` for a token that nobody was given.
    pub async fn answer_wait(
        &self,
        token: &str,
        action: WaitAction,
        request: Box<RawValue>,
    ) -> Result<WaitAnswer, PlatformError> {
        let wait = self.named_wait(token)?;
        // Boxed: every request has room for it.
        let data = async || Box::pin(self.masked_answer(&wait.run_id, request)).await;
        let resolution = match action {
            WaitAction::Resume => Resolution::Resume(Some(Kept::Here(data().await?))),
            WaitAction::Rerun => Resolution::Rerun(Some(Kept::Here(data().await?))),
            WaitAction::Cancel => Resolution::Cancel,
        };
        match self.workflows.resolve(wait, &resolution).await? {
            WaitResolved::Now(_) => Ok(WaitAnswer::Taken),
            WaitResolved::Before => Ok(WaitAnswer::Before),
            WaitResolved::Ended => Ok(WaitAnswer::Ended),
            WaitResolved::Unknown => Err(PlatformError::not_found("wait", token)),
        }
    }

    /// The wait that a token of a URL names.
    fn named_wait(&self, token: &str) -> Result<WaitId, PlatformError> {
        let wait = self.workflows.context().wait_key.wait(token);
        wait.ok_or_else(|| PlatformError::not_found("wait", token))
    }

    /// Data for a run, as it may be kept.
    async fn masked_answer(
        &self,
        run: &InvocationId,
        data: Box<RawValue>,
    ) -> Result<Arc<RawValue>, PlatformError> {
        let (store, context) = (&self.core.store, self.workflows.context());
        let workflow = match store.open_run(run).await?.map(|run| run.runnable) {
            Some(RunnableId::Workflow(id)) => store.workflow(&id).await?,
            // It has ended, and keeps nothing.
            Some(RunnableId::Source(_)) | None => None,
        };
        match workflow {
            Some(workflow) => context.masked_event(&workflow.owner, data.into()).await,
            None => Ok(data.into()),
        }
    }

    /// The methods of requests that answer the wait of this token, in capitals; `None`: all but those that only look.
    ///
    /// # Errors
    /// `NotFound` for a token that nobody was given.
    pub async fn wait_methods(&self, token: &str) -> Result<Option<Vec<String>>, PlatformError> {
        let wait = self.named_wait(token)?;
        let store = &self.core.store;
        let Some(run) = store.open_run(&wait.run_id).await? else {
            return Ok(None);
        };
        let RunnableId::Workflow(id) = &run.runnable else {
            return Ok(None);
        };
        let head = Head::read(run.state.as_deref()).unwrap_or_default();
        let deployment_id = match head.deployment_id {
            Some(id) => Some(id),
            // Nothing of the run is stored yet: it follows the latest.
            None => store
                .workflow(id)
                .await?
                .map(|workflow| workflow.deployment_id),
        };
        let Some(deployment_id) = deployment_id else {
            return Ok(None);
        };
        let Some(deployment) = store.deployment(&deployment_id).await? else {
            return Ok(None);
        };
        let definition = Content::of(&deployment)?.definition()?;
        Ok(definition.settings.resume_methods)
    }

    /// Lets a waiting run go on with these data.
    ///
    /// # Errors
    /// `Conflict` when it does not wait, or waits at several places and the request names none of them.
    pub async fn resume_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
        request: &ResumeRequest,
    ) -> Result<WaitAnswer, PlatformError> {
        let found = self.found_run(caller, id).await?;
        let run = self.run_so_far(id, &found).await?;
        let is_meant = |path: &Path| {
            request
                .path
                .as_ref()
                .is_none_or(|named| *named == path.to_string())
        };
        let mut waits = run
            .waits
            .iter()
            .filter(|wait| is_meant(&wait.path) && wait.kind != WaitKind::Call);
        let (Some(wait), None) = (waits.next(), waits.next()) else {
            let paths: Vec<String> = run
                .waits
                .iter()
                .map(|wait| format!("`{}`", wait.path))
                .collect();
            let reason = match paths.is_empty() {
                true => format!("run `{id}` does not wait"),
                false => format!(
                    "run `{id}` waits at {}; name one as `path`",
                    paths.join(", ")
                ),
            };
            return Err(PlatformError::Conflict(reason));
        };
        let data = serde_json::value::to_raw_value(&request.data)
            .map_err(|error| PlatformError::Internal(error.to_string()))?;
        let action = match (request.runs_again, wait.kind) {
            (false, _) => WaitAction::Resume,
            (true, WaitKind::Rerun | WaitKind::Retry) => WaitAction::Rerun,
            (true, _) => {
                let reason = format!("`{}` does not wait to run again; resume it", wait.path);
                return Err(PlatformError::Conflict(reason));
            }
        };
        let act = on_run(AuditAction::RunResume, id, found.workflow());
        let answered = self.answer_wait(&wait.urls.token, action, data).await?;
        // Another answer came first, or the run ended: this one did nothing.
        if answered == WaitAnswer::Taken {
            let act = act.with("path", wait.path.to_string());
            self.record(caller, act.with("again", request.runs_again))
                .await;
        }
        Ok(answered)
    }
}
