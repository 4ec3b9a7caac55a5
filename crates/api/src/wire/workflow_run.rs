//! Runs of workflows, and the requests that resume them.

use headwater_model::{
    id::{DeploymentId, InvocationId, WorkflowId},
    time::EpochMs,
};
use headwater_platform::{
    ResumeRequest, RunTrigger, RunsFilter, StepView, WaitView, WorkflowRunStatus,
    WorkflowRunSummary, WorkflowRunView,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, value::RawValue};
use utoipa::{IntoParams, ToSchema};

use super::{
    event::EventSummary,
    id, lenient,
    run::{ComponentError, LogLine},
    run_record::{RunDetail, Trigger},
};

/// `GET /workflows/{id}/runs`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WorkflowRunsRequest {
    /// Only those with this status. Without it, those that have ended. Pipedream's words are understood, too: `executing`,
    /// `paused`, `success` and `error`.
    #[param(inline, value_type = Option<RunStatus>)]
    status: Option<WorkflowRunStatus>,
    /// Whether to list those that have not ended instead of those that have. `status` goes before it.
    #[serde(default, deserialize_with = "lenient::boolean")]
    open: Option<bool>,
}

impl From<WorkflowRunsRequest> for RunsFilter {
    fn from(request: WorkflowRunsRequest) -> Self {
        match (request.status, request.open) {
            (Some(status), _) => Self::Status(status),
            (None, Some(true)) => Self::Open,
            (None, Some(false) | None) => Self::Ended,
        }
    }
}

/// An answer to a run that waits.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"data": {"approved": true}}))]
pub(crate) struct ResumeRun {
    /// The path of the step or block that waits; required if several do.
    path: Option<String>,
    /// `$resume_data` of the step.
    data: Option<Value>,
    /// Whether the step is to run again at once, as a request at its `rerun_url` has it.
    #[serde(default, deserialize_with = "lenient::boolean")]
    rerun: Option<bool>,
}

impl From<ResumeRun> for ResumeRequest {
    fn from(request: ResumeRun) -> Self {
        Self {
            path: request.path.filter(|path| !path.is_empty()),
            data: request.data,
            runs_again: request.rerun.unwrap_or_default(),
        }
    }
}

/// The effect of an answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Resumed {
    /// Always true: an answer that has no effect is a 409.
    pub(crate) taken: bool,
}

/// A workflow's run in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowRunSummary)]
pub(crate) struct RunSummary {
    #[schema(value_type = id::Invocation)]
    id: InvocationId,
    #[schema(inline, value_type = RunStatus)]
    status: WorkflowRunStatus,
    #[schema(inline, value_type = Trigger)]
    trigger: RunTrigger,
    /// The run that this one repeats, if it is a replay and that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Invocation>)]
    replay_of: Option<InvocationId>,
    /// The deployment that it follows, once it has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Deployment>)]
    deployment_id: Option<DeploymentId>,
    /// Epoch milliseconds.
    #[schema(value_type = u64)]
    queued_at_ms: EpochMs,
    /// Epoch milliseconds; absent until it has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    started_at_ms: Option<EpochMs>,
    /// Epoch milliseconds; absent until it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    ended_at_ms: Option<EpochMs>,
    /// The first line of its error, or why it was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The status of a run; the last three are final.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for `WorkflowRunStatus` where a shape is described"
)]
enum RunStatus {
    Queued,
    Running,
    Waiting,
    Succeeded,
    Failed,
    Cancelled,
}

/// A workflow's run with everything that is kept of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowRun {
    #[serde(flatten)]
    run: RunSummary,
    #[schema(value_type = id::Workflow)]
    workflow_id: WorkflowId,
    /// The same for a run and its replays.
    trace_id: String,
    /// The reason given to `$.flow.exit` or by a block `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The event that it began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    event: Option<Box<RawValue>>,
    /// Steps and blocks that have begun, in that order.
    steps: Vec<Step>,
    /// Waits that have not been answered.
    waits: Vec<Wait>,
    /// Messages of its steps, in the order in which they were queued.
    sends: Vec<Send>,
    /// Events that its steps emitted with `$.send.emit`, and messages of `$.send.sse`, oldest first, as long as the log has
    /// them. Beyond 1 KB of JSON an event is shown as a preview.
    emitted: Vec<EventSummary>,
    /// Whether there are more events than the 500 that are looked at.
    has_more_emitted: bool,
}

/// A step or block of a run.
#[derive(Debug, Serialize, ToSchema)]
struct Step {
    /// Its path, such as `route.large.page[3].send`.
    path: String,
    /// The last name of the path.
    namespace: String,
    #[schema(inline, value_type = StepStatus)]
    status: String,
    /// Tries that have begun.
    attempts: u32,
    /// Epoch milliseconds.
    #[schema(value_type = u64)]
    started_at_ms: EpochMs,
    /// Epoch milliseconds; absent until it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    ended_at_ms: Option<EpochMs>,
    /// The newest of its executions and waits, one after the other, 50 at most.
    phases: Vec<Phase>,
    /// `$return_value`; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    return_value: Option<Box<RawValue>>,
    /// The other exports, by name.
    #[serde(serialize_with = "as_object")]
    #[schema(value_type = Object)]
    exports: Vec<(String, Box<RawValue>)>,
    logs: Vec<LogLine>,
    /// Its last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ComponentError>,
}

/// An execution of a step or block, or a wait of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StepPhase)]
struct Phase {
    /// The kind of the wait; absent for an execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline, value_type = Option<WaitKind>)]
    wait: Option<String>,
    /// Epoch milliseconds.
    #[schema(value_type = u64)]
    started_at_ms: EpochMs,
    /// Epoch milliseconds; absent until it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    ended_at_ms: Option<EpochMs>,
}

/// The status of a step or block; those behind `waiting` are final.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for the platform's text where a shape is described"
)]
enum StepStatus {
    Running,
    Waiting,
    Succeeded,
    Failed,
    Skipped,
    Cancelled,
}

/// A wait of a run. Whoever has one of its URLs can answer it.
#[derive(Debug, Serialize, ToSchema)]
struct Wait {
    /// The path of the step or block.
    path: String,
    #[schema(inline, value_type = WaitKind)]
    kind: String,
    /// Lets the run go on, with the request as the answer.
    resume_url: String,
    /// Cancels the run.
    cancel_url: String,
    /// Runs the step again at once; for the kinds `rerun` and `retry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerun_url: Option<String>,
    /// The time of its end without an answer, in epoch milliseconds; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    expires_at_ms: Option<EpochMs>,
}

/// The kind of a wait.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for the platform's text where a shape is described"
)]
enum WaitKind {
    Delay,
    Suspend,
    Rerun,
    Retry,
    Wait,
    Call,
}

/// A message that a step sent with `$.send`.
#[derive(Debug, Serialize, ToSchema)]
struct Send {
    /// The path of the step.
    path: String,
    /// Its number among the step's messages, from 0.
    number: u32,
    #[schema(inline, value_type = SendWay)]
    way: String,
    #[schema(inline, value_type = SendState)]
    state: String,
    /// Attempts that have begun.
    attempts: u32,
    /// Its arguments, without credentials.
    #[schema(value_type = Value)]
    value: Box<RawValue>,
    /// Request and answer of the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    result: Option<Box<RawValue>>,
}

/// The way of a message.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for the platform's text where a shape is described"
)]
enum SendWay {
    Http,
    Email,
    S3,
}

/// The state of a message.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for the platform's text where a shape is described"
)]
enum SendState {
    Pending,
    Sent,
    Failed,
}

/// A run of a source, or of a workflow, which has a `workflow_id`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AnyRun {
    Source(RunDetail),
    Workflow(WorkflowRun),
}

impl From<WorkflowRunSummary> for RunSummary {
    fn from(run: WorkflowRunSummary) -> Self {
        Self {
            id: run.id,
            status: run.status,
            trigger: run.trigger,
            replay_of: run.replay_of,
            deployment_id: run.deployment_id,
            queued_at_ms: run.queued_at_ms,
            started_at_ms: run.started_at_ms,
            ended_at_ms: run.ended_at_ms,
            error: run.error,
        }
    }
}

impl From<WorkflowRunView> for WorkflowRun {
    fn from(view: WorkflowRunView) -> Self {
        let sends = view.sends.into_iter();
        let sends = sends.map(|send| Send {
            path: send.id.path,
            number: send.id.number,
            way: word(&send.way),
            state: word(&send.state),
            attempts: send.attempts,
            value: send.value,
            result: send.result,
        });
        let emitted = view.emitted.into_iter();
        let emitted =
            emitted.map(|event| EventSummary::of_workflow(event, &view.workflow_id, false));
        Self {
            emitted: emitted.collect(),
            has_more_emitted: view.has_more_emitted,
            run: view.run.into(),
            workflow_id: view.workflow_id,
            trace_id: view.trace_id,
            reason: view.reason,
            event: view.event,
            steps: view.steps.into_iter().map(Step::from).collect(),
            waits: view.waits.into_iter().map(Wait::from).collect(),
            sends: sends.collect(),
        }
    }
}

impl From<StepView> for Step {
    fn from(view: StepView) -> Self {
        let phases = view.phases.into_iter();
        let phases = phases.map(|phase| Phase {
            wait: phase.wait.as_ref().map(word),
            started_at_ms: phase.started_at_ms,
            ended_at_ms: phase.ended_at_ms,
        });
        Self {
            phases: phases.collect(),
            path: view.path.to_string(),
            namespace: view.namespace,
            status: word(&view.status),
            attempts: view.attempts,
            started_at_ms: view.started_at_ms,
            ended_at_ms: view.ended_at_ms,
            return_value: view.return_value,
            exports: view.exports,
            logs: view.logs.into_iter().map(LogLine::from).collect(),
            error: view.error.map(ComponentError::from),
        }
    }
}

impl From<WaitView> for Wait {
    fn from(view: WaitView) -> Self {
        let kind = word(&view.kind);
        let runs_again = matches!(kind.as_str(), "rerun" | "retry");
        Self {
            path: view.path.to_string(),
            kind,
            resume_url: view.urls.resume,
            cancel_url: view.urls.cancel,
            rerun_url: runs_again.then_some(view.urls.rerun),
            expires_at_ms: view.expires_at_ms,
        }
    }
}

/// The word for a variant of a type that only the crates below the platform can name.
fn word(variant: &impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

fn as_object<S: Serializer>(
    exports: &[(String, Box<RawValue>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(exports.iter().map(|(name, value)| (name, value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(query: Value) -> WorkflowRunsRequest {
        serde_json::from_value(query).unwrap()
    }

    #[test]
    fn a_status_goes_before_whether_runs_have_ended() {
        use WorkflowRunStatus::{Cancelled, Failed, Waiting};
        for (query, filter) in [
            (json!({}), RunsFilter::Ended),
            (json!({"open": "true"}), RunsFilter::Open),
            (json!({"open": "false"}), RunsFilter::Ended),
            (
                json!({"status": "waiting", "open": "false"}),
                RunsFilter::Status(Waiting),
            ),
            (json!({"status": "paused"}), RunsFilter::Status(Waiting)),
            (json!({"status": "error"}), RunsFilter::Status(Failed)),
            (
                json!({"status": "cancelled", "open": "true"}),
                RunsFilter::Status(Cancelled),
            ),
        ] {
            let found = RunsFilter::from(request(query.clone()));
            assert_eq!(found, filter, "{query}");
        }
        let wrong = serde_json::from_value::<WorkflowRunsRequest>(json!({"status": "asleep"}));
        let error = wrong.unwrap_err().to_string();
        assert!(error.contains("`waiting`"), "{error}");
    }

    #[test]
    fn exports_are_an_object_in_their_order() {
        #[derive(Serialize)]
        struct Exports(#[serde(serialize_with = "as_object")] Vec<(String, Box<RawValue>)>);
        let value = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let exports = Exports(vec![
            ("b".to_owned(), value("1.0")),
            ("a".to_owned(), value("[2]")),
        ]);
        let text = serde_json::to_string(&exports).unwrap();
        assert_eq!(text, r#"{"b":1.0,"a":[2]}"#);
    }
}
