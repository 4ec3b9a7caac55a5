//! Runs of workflows as responses show them, whether they have ended or not.

use std::{collections::HashMap, sync::Arc};

use headwater_model::{
    event::{Event, EventRef},
    id::{DeploymentId, InvocationId, WorkflowId},
    outcome::ComponentError,
    time::EpochMs,
};
use headwater_store::{
    OpenRun, PlaceWrite, RunOutcome, RunRecord, RunTrigger, RunVersion, SendRecord, Workflow,
};
use headwater_workflow::{
    path::Path,
    run::{Blob, Exported, Phase, Place, PlaceStatus, RunTree, WaitKind},
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    caller::Caller,
    error::PlatformError,
    log_line::LogLine,
    platform::Platform,
    sends::shown_arguments,
    workflows::{Content, Head, RunDetails, WaitUrls, is_limited, logged, place_of, wait_id},
};

/// The status of a run. The last three are final. Pipedream's words for them are understood, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowRunStatus {
    /// It has not begun.
    Queued,
    /// A step of it is at work, or is about to be.
    #[serde(alias = "executing")]
    Running,
    /// It goes on at a moment, or when one of its URLs is called.
    #[serde(alias = "paused")]
    Waiting,
    /// It ended as it should.
    #[serde(alias = "success")]
    Succeeded,
    /// A step failed, and nothing handled that.
    #[serde(alias = "error")]
    Failed,
    /// It was ended early.
    Cancelled,
}

impl WorkflowRunStatus {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Whether a run with it has not ended.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }
}

/// A run in a list.
#[derive(Debug, Clone)]
pub struct WorkflowRunSummary {
    /// Its id.
    pub id: InvocationId,
    /// Its status.
    pub status: WorkflowRunStatus,
    /// Its cause.
    pub trigger: RunTrigger,
    /// The event that it runs for, which its emitter's log may have trimmed by now.
    pub caused_by: Option<EventRef>,
    /// The run that this one repeats.
    pub replay_of: Option<InvocationId>,
    /// The deployment, once it has begun.
    pub deployment_id: Option<DeploymentId>,
    /// When it was queued, epoch milliseconds.
    pub queued_at_ms: EpochMs,
    /// When it began, epoch milliseconds.
    pub started_at_ms: Option<EpochMs>,
    /// When it ended, epoch milliseconds.
    pub ended_at_ms: Option<EpochMs>,
    /// The first line of its error, or why it was cancelled.
    pub error: Option<String>,
}

/// A run with everything that is kept of it.
#[derive(Debug, Clone)]
pub struct WorkflowRunView {
    /// The run as lists have it.
    pub run: WorkflowRunSummary,
    /// The workflow.
    pub workflow_id: WorkflowId,
    /// The same for a run and its replays.
    pub trace_id: String,
    /// The reason given to `$.flow.exit` or by a block `end`.
    pub reason: Option<String>,
    /// The event that it began with.
    pub event: Option<Box<RawValue>>,
    /// Steps and blocks that have begun, in that order.
    pub steps: Vec<StepView>,
    /// Waits that can be answered.
    pub waits: Vec<WaitView>,
    /// Its sends.
    pub sends: Vec<SendRecord>,
    /// The events that its steps emitted, oldest first, as long as the log has them.
    pub emitted: Vec<Event>,
    /// Whether there are more than these.
    pub has_more_emitted: bool,
}

/// A step or block of a run.
#[derive(Debug, Clone)]
pub struct StepView {
    /// Its path.
    pub path: Path,
    /// The last name of the path.
    pub namespace: String,
    /// Its status.
    pub status: PlaceStatus,
    /// Tries that have begun.
    pub attempts: u32,
    /// When it began, epoch milliseconds.
    pub started_at_ms: EpochMs,
    /// When it ended, epoch milliseconds.
    pub ended_at_ms: Option<EpochMs>,
    /// The newest of its executions and waits, one after the other.
    pub phases: Vec<Phase>,
    /// `$return_value`.
    pub return_value: Option<Box<RawValue>>,
    /// The other exports, in the order of their names' first use.
    pub exports: Vec<(String, Box<RawValue>)>,
    /// The lines that it logged.
    pub logs: Vec<LogLine>,
    /// Its last failure.
    pub error: Option<ComponentError>,
}

/// A wait of a run.
#[derive(Debug, Clone)]
pub struct WaitView {
    /// The step or block.
    pub path: Path,
    /// Its kind.
    pub kind: WaitKind,
    /// The URLs that answer it; `rerun` is for waits of `$.flow.rerun` and of retries.
    pub urls: WaitUrls,
    /// Its end without an answer, epoch milliseconds.
    pub expires_at_ms: Option<EpochMs>,
}

/// A look at the runs of a workflow.
#[derive(Debug, Clone, Copy)]
pub(in crate::use_cases) struct Moment {
    pub(super) now_ms: EpochMs,
    /// Whether runs wait for the limits of their workflow.
    pub(super) is_limited: bool,
}

impl WorkflowRunSummary {
    pub(super) fn of_open(run: &OpenRun, now: Moment) -> Self {
        let head = Head::read(run.state.as_deref()).unwrap_or_default();
        let status = match (head.has_begun(), run.is_leased) {
            (true, false) if run.due_at_ms > now.now_ms => WorkflowRunStatus::Waiting,
            (true, _) => WorkflowRunStatus::Running,
            // The beginning of a run is stored only where runs may have to wait for it.
            (false, true) if !now.is_limited => WorkflowRunStatus::Running,
            (false, _) => WorkflowRunStatus::Queued,
        };
        Self {
            id: run.id.clone(),
            status,
            trigger: run.trigger.into(),
            caused_by: run.caused_by.clone(),
            replay_of: head.replay_of(),
            deployment_id: head.deployment_id,
            queued_at_ms: run.queued_at_ms,
            started_at_ms: head.started_at_ms,
            ended_at_ms: None,
            error: None,
        }
    }

    /// The summary of a run that has ended, of a workflow or of a source.
    pub(in crate::use_cases) fn of_ended(run: &RunRecord) -> Self {
        let ended = &run.ended;
        let status = match ended.outcome {
            RunOutcome::Returned => WorkflowRunStatus::Succeeded,
            RunOutcome::Cancelled => WorkflowRunStatus::Cancelled,
            RunOutcome::Threw | RunOutcome::LimitExceeded(_) | RunOutcome::Lost => {
                WorkflowRunStatus::Failed
            }
        };
        let deployment_id = match &ended.version {
            RunVersion::Deployment(id) => Some(id.clone()),
            RunVersion::Component(_) => None,
        };
        Self {
            id: run.id.clone(),
            status,
            trigger: ended.trigger,
            caused_by: run.caused_by.clone(),
            replay_of: ended.replay_of.clone(),
            deployment_id,
            queued_at_ms: ended.queued_at_ms,
            started_at_ms: Some(ended.started_at_ms),
            ended_at_ms: Some(ended.ended_at_ms),
            error: ended.error.clone(),
        }
    }
}

/// A run of a workflow that the caller may see.
pub(super) enum FoundRun {
    Open(Box<OpenRun>, Workflow),
    Ended(Box<RunRecord>, Workflow),
}

impl FoundRun {
    pub(super) fn workflow(&self) -> &Workflow {
        match self {
            Self::Open(_, workflow) | Self::Ended(_, workflow) => workflow,
        }
    }
}

impl Platform {
    /// A run of a workflow; `None` if the run is a source's.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such run.
    pub async fn workflow_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<WorkflowRunView, PlatformError> {
        let found = self.found_run(caller, id).await?;
        let view = self.run_so_far(id, &found).await?;
        let (emitted, has_more_emitted) = self.emitted(&found).await?;
        Ok(WorkflowRunView {
            emitted,
            has_more_emitted,
            ..view
        })
    }

    /// A run that was found, without the events that it emitted.
    pub(super) async fn run_so_far(
        &self,
        id: &InvocationId,
        found: &FoundRun,
    ) -> Result<WorkflowRunView, PlatformError> {
        let workflow_id = found.workflow().id.clone();
        let (run, head, reason, event) = match found {
            FoundRun::Open(open, workflow) => {
                let head = Head::read(open.state.as_deref()).unwrap_or_default();
                let now = self.moment_of(workflow).await?;
                let event = self.shown_event(workflow, id).await?;
                (WorkflowRunSummary::of_open(open, now), head, None, event)
            }
            FoundRun::Ended(ended, _) => {
                let details = self.details_of(id).await?;
                let run = WorkflowRunSummary::of_ended(ended);
                match details {
                    Some(details) => (run, details.head, details.reason, details.event),
                    None => (run, Head::default(), None, None),
                }
            }
        };
        let mut places = Vec::new();
        for written in self.core.store.run_places(id).await? {
            let (path, place) = place_of(&written)?;
            places.push((path, place, written));
        }
        places.sort_by_key(|(_, place, _)| place.position);
        let tree = self
            .tree_of(run.deployment_id.as_ref(), &head, &places)
            .await?;
        let mut steps = Vec::new();
        let mut waits = Vec::new();
        for (path, place, written) in places {
            waits.extend(self.wait_view(id, &path, &place));
            let block = tree.as_ref().and_then(|tree| tree.block_result(&path));
            let mut step = self.step_view(id, path, place, &written).await?;
            if let Some(block) = block {
                step.return_value = self.written(id, &block).await?;
            }
            steps.push(step);
        }
        Ok(WorkflowRunView {
            workflow_id,
            trace_id: head.trace_id.unwrap_or_else(|| id.to_string()),
            // That of a cancelled run is its error.
            reason: reason.filter(|_| run.status == WorkflowRunStatus::Succeeded),
            event,
            steps,
            waits,
            sends: self.shown_sends(id).await?,
            emitted: Vec::new(),
            has_more_emitted: false,
            run,
        })
    }

    /// The event of a run that has not ended, without the values of variables.
    async fn shown_event(
        &self,
        workflow: &Workflow,
        id: &InvocationId,
    ) -> Result<Option<Box<RawValue>>, PlatformError> {
        let Some(event) = self.core.store.run_event(id).await? else {
            return Ok(None);
        };
        let context = self.workflows.context();
        let masked = context.kept_event(&workflow.owner, event.into()).await?;
        Ok(Some((*masked).to_owned()))
    }

    /// The details of a run that has ended, if they are kept.
    pub(super) async fn details_of(
        &self,
        id: &InvocationId,
    ) -> Result<Option<RunDetails>, PlatformError> {
        let details = self.core.store.run_details(id).await?;
        Ok(details.and_then(|details| RunDetails::read(&details)))
    }

    /// The moment, with all that tells the status of a workflow's runs that have not ended.
    pub(super) async fn moment_of(&self, workflow: &Workflow) -> Result<Moment, PlatformError> {
        let deployment = self.core.store.deployment(&workflow.deployment_id).await?;
        let definition = deployment
            .map(|deployment| Content::of(&deployment)?.definition())
            .transpose()?;
        Ok(Moment {
            now_ms: self.core.env.now_ms(),
            is_limited: definition.is_some_and(|definition| is_limited(&definition.settings)),
        })
    }

    /// Finds a run of a workflow that the caller may see.
    pub(super) async fn found_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<FoundRun, PlatformError> {
        let not_found = || PlatformError::not_found("run", id);
        let store = &self.core.store;
        let (runnable, open) = match store.open_run(id).await? {
            Some(open) => (open.runnable.clone(), Ok(open)),
            None => {
                let ended = store.run(id).await?.ok_or_else(not_found)?;
                (ended.runnable.clone(), Err(ended))
            }
        };
        let headwater_model::id::RunnableId::Workflow(workflow) = &runnable else {
            return Err(not_found());
        };
        let workflow = match self.visible_workflow(caller, workflow).await {
            Ok(workflow) => workflow,
            Err(PlatformError::NotFound { .. }) => return Err(not_found()),
            Err(error) => return Err(error),
        };
        Ok(match open {
            Ok(open) => FoundRun::Open(Box::new(open), workflow),
            Err(ended) => FoundRun::Ended(Box::new(ended), workflow),
        })
    }

    /// The sends of a run, without credentials.
    async fn shown_sends(&self, id: &InvocationId) -> Result<Vec<SendRecord>, PlatformError> {
        let mut sends = self.core.store.run_sends(id).await?;
        for send in &mut sends {
            let shown = to_raw_value(&shown_arguments(send.way, &send.value));
            send.value = shown.map_err(|error| PlatformError::Internal(error.to_string()))?;
        }
        Ok(sends)
    }

    /// The run as the interpreter sees it, which tells the results of blocks.
    pub(super) async fn tree_of(
        &self,
        deployment: Option<&DeploymentId>,
        head: &Head,
        places: &[(Path, Place, PlaceWrite)],
    ) -> Result<Option<RunTree>, PlatformError> {
        let Some(deployment) = deployment else {
            return Ok(None);
        };
        let Some(deployment) = self.core.store.deployment(deployment).await? else {
            return Ok(None);
        };
        let definition = Arc::new(Content::of(&deployment)?.definition()?);
        let places = places
            .iter()
            .map(|(path, place, _)| (path.clone(), place.clone()));
        Ok(Some(RunTree::load(
            definition,
            head.root.clone(),
            places.collect(),
        )))
    }

    /// A value of a run as JSON, with what is in blobs.
    async fn written(
        &self,
        id: &InvocationId,
        value: &Exported,
    ) -> Result<Option<Box<RawValue>>, PlatformError> {
        let mut texts = HashMap::new();
        for blob in value.blobs() {
            let bytes = self.core.store.run_blob(id, &blob.hash).await?;
            let text = bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
            texts.insert(
                blob.hash.clone(),
                Arc::<str>::from(text.unwrap_or_else(|| "null".to_owned())),
            );
        }
        let blob = |blob: &Blob| {
            texts
                .get(&blob.hash)
                .cloned()
                .ok_or_else(|| blob.hash.clone())
        };
        let mut text = String::new();
        let written = value.write(&mut text, &blob);
        let missing =
            |hash| PlatformError::Internal(format!("blob {hash} of run `{id}` is missing"));
        written.map_err(missing)?;
        Ok(RawValue::from_string(text).ok())
    }

    fn wait_view(&self, id: &InvocationId, path: &Path, place: &Place) -> Option<WaitView> {
        let wait = place.wait.as_ref()?;
        let token = self
            .workflows
            .context()
            .wait_key
            .token(&wait_id(id, path, place));
        Some(WaitView {
            path: path.clone(),
            kind: wait.kind,
            urls: WaitUrls::of(&self.core.config.public_url, &token),
            expires_at_ms: wait.until_ms,
        })
    }

    async fn step_view(
        &self,
        id: &InvocationId,
        path: Path,
        place: Place,
        written: &PlaceWrite,
    ) -> Result<StepView, PlatformError> {
        let mut exports = HashMap::new();
        let mut names = Vec::new();
        for (name, value) in &place.exports {
            if let Some(value) = self.written(id, &Exported::Kept(value.clone())).await? {
                names.push(name.clone());
                exports.insert(name.clone(), value);
            }
        }
        let return_value = exports.remove("$return_value");
        let exports = names.into_iter().filter_map(|name| {
            let value = exports.remove(&name)?;
            Some((name, value))
        });
        Ok(StepView {
            namespace: path.name().unwrap_or_default().to_owned(),
            status: place.status,
            attempts: place.executions(),
            started_at_ms: place.started_at_ms,
            ended_at_ms: place.ended_at_ms,
            phases: place.phases(),
            return_value,
            exports: exports.collect(),
            logs: logged(written),
            error: place.failure.map(|failure| failure.error),
            path,
        })
    }
}
