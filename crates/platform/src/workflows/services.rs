//! The services of the platform that steps ask: runs of other workflows, and files.

use std::{collections::HashMap, sync::Arc};

use headwater_engine::{Service, ServiceRequest, StoreReply};
use headwater_model::id::InvocationId;
use headwater_store::{Owner, Trigger};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{NewRun, Workflows, context::WorkflowContext};
use crate::error::PlatformError;

/// Runs that call one another at most.
pub(super) const HOPS_MAX: u32 = 16;
/// The result type that has the exports of every step.
const ALL_EXPORTS: &str = "all_exports";

/// The step that asks.
pub(super) struct Asking {
    pub(super) owner: Owner,
    pub(super) hops: u32,
}

/// The end of a run that a step waits for.
#[derive(Debug)]
pub(crate) struct RunResult {
    /// The exports of its last step, or why there are none.
    pub(crate) last: Result<Box<RawValue>, String>,
    /// The exports of all its steps, by namespace.
    pub(crate) all: Box<RawValue>,
}

/// The steps that wait for the ends of runs.
#[derive(Default)]
pub(crate) struct Endings {
    by_run: Mutex<HashMap<InvocationId, oneshot::Sender<RunResult>>>,
}

impl Endings {
    fn expect(&self, run: &InvocationId) -> oneshot::Receiver<RunResult> {
        let (sender, receiver) = oneshot::channel();
        self.by_run.lock().insert(run.clone(), sender);
        receiver
    }

    /// Whether somebody waits for a run.
    pub(super) fn are_expected(&self, run: &InvocationId) -> bool {
        self.by_run.lock().contains_key(run)
    }

    /// Tells the step that waits for a run.
    pub(super) fn tell(&self, run: &InvocationId, result: RunResult) {
        if let Some(waiting) = self.by_run.lock().remove(run) {
            let _ = waiting.send(result);
        }
    }
}

/// The answer to a call in a circle.
pub(super) fn too_many_calls() -> PlatformError {
    PlatformError::Conflict(format!(
        "{HOPS_MAX} runs have called one another already; end the circle"
    ))
}

/// Arguments of `$.flow.trigger`.
#[derive(Deserialize)]
struct TriggerArguments {
    workflow: String,
    payload: Box<RawValue>,
    #[serde(default)]
    result_type: Option<String>,
}

/// Answers a request in a task of its own.
pub(super) fn serve(context: &Arc<WorkflowContext>, asking: Asking, request: ServiceRequest) {
    let context = Arc::clone(context);
    let tasks = context.core.tasks.clone();
    tasks.spawn(async move {
        match request.service {
            Service::Files => context.files.serve(&asking.owner, request).await,
            Service::Workflows => serve_call(&context, &asking, request).await,
        }
    });
}

async fn serve_call(context: &Arc<WorkflowContext>, asking: &Asking, request: ServiceRequest) {
    let answer = match request.operation.as_str() {
        "trigger" => trigger(context, asking, &request.arguments).await,
        other => Err(format!("there is no operation `{other}` of workflows")),
    };
    request.reply.answer(answer);
}

async fn trigger(
    context: &Arc<WorkflowContext>,
    asking: &Asking,
    arguments: &RawValue,
) -> StoreReply {
    let arguments: TriggerArguments =
        serde_json::from_str(arguments.get()).map_err(|error| error.to_string())?;
    if asking.hops >= HOPS_MAX {
        return Err(too_many_calls().to_string());
    }
    let workflow = context
        .find(&asking.owner, &arguments.workflow)
        .await
        .map_err(|error| error.to_string())?;
    let run = context.core.env.id(InvocationId::new);
    let ended = context.endings.expect(&run);
    let new = NewRun {
        workflow,
        trigger: Trigger::Call,
        via: None,
        event: arguments.payload,
        head: None,
        hops: asking.hops + 1,
    };
    let workflows = Workflows {
        context: Arc::clone(context),
    };
    workflows
        .queue_as(run, new)
        .await
        .map_err(|error| error.to_string())?;
    let result = ended
        .await
        .map_err(|_| "the node is stopping; the workflow that was called goes on".to_owned())?;
    let result = match arguments.result_type.as_deref() {
        Some(ALL_EXPORTS) => result.last.map(|_| result.all),
        _ => result.last,
    };
    result.map(Some)
}
