//! The services of the platform that steps ask: runs of other workflows, and files.

use std::sync::Arc;

use headwater_engine::{Service, ServiceRequest, StoreReply};
use headwater_model::id::InvocationId;
use headwater_store::{Owner, Trigger};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    calls::{HOPS_MAX, NewRun, too_many_calls},
    context::WorkflowContext,
    endings::Wanted,
};
use crate::chore::Chore;

/// The result type that has the exports of every step.
const ALL_EXPORTS: &str = "all_exports";

/// The step that asks.
pub(super) struct Asking {
    pub(super) owner: Owner,
    pub(super) hops: u32,
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
    let wanted = match arguments.result_type.as_deref() {
        Some(ALL_EXPORTS) => Wanted::All,
        _ => Wanted::Last,
    };
    let ended = context.endings.expect(&run, wanted);
    let new = NewRun {
        workflow,
        owner: asking.owner.clone(),
        trigger: Trigger::Call,
        via: None,
        event: arguments.payload,
        head: None,
        hops: asking.hops + 1,
    };
    // The step may be ended meanwhile: a call that was begun counts.
    let queueing = Arc::clone(context);
    let queued = context.core.to_the_end(async move {
        let invocation = queueing.invocation(run, new).await?;
        queueing.enqueue(invocation, None).await
    });
    queued.await.map_err(|error| error.to_string())?;
    context.core.nudges.nudge(Chore::Queue);
    let result = ended
        .await
        .map_err(|_| "the node is stopping; the workflow that was called goes on".to_owned())?;
    result.map(Some)
}
