//! The inputs of steps and expressions: `steps`, `$.context`, and what the worker needs besides.

use std::sync::Arc;

use headwater_store::WaitId;
use headwater_workflow::{
    path::Path,
    run::{Blob, Exported, Failure, Kept, Place, Question},
};
use serde_json::{Map, Value, json, value::RawValue};

use super::{blob_texts::BlobTexts, live::LiveRun, tokens::Urls};
use crate::{error::PlatformError, platform_event::iso_8601};
use headwater_model::{
    id::{CellId, InvocationId},
    limits::REFRESHED_STEP_MAX,
    time::EpochMs,
};

/// The blobs that the input of a place needs.
pub(super) fn blobs(run: &LiveRun, path: &Path) -> Vec<Blob> {
    let scope = run.tree.scope(path);
    let in_scope = scope.iter().flat_map(|(_, entry)| entry.blobs());
    let place = run.tree.places().get(path);
    let rerun = place.and_then(|place| place.rerun.as_ref());
    let of_rerun = rerun.into_iter().flat_map(|rerun| {
        let kept = [&rerun.context, &rerun.callback_request];
        kept.into_iter().flatten().filter_map(Kept::blob)
    });
    in_scope.chain(of_rerun).cloned().collect()
}

/// The input of a step, as JSON text.
///
/// # Errors
/// The text of a blob is missing.
pub(super) fn step(
    run: &LiveRun,
    path: &Path,
    urls: &Urls<'_>,
    now_ms: EpochMs,
    texts: &BlobTexts,
) -> Result<String, PlatformError> {
    let Some(node) = run.tree.node(path) else {
        return Ok("{}".to_owned());
    };
    let compiled = run.deployed.step(node.namespace.as_str());
    let compiled = compiled.map(|step| &step.compiled);
    let mut text = String::from("{\"steps\":");
    steps(run, path, urls, texts, &mut text)?;
    let mut rest = json!({
        "context": context(run, path, now_ms, texts)?,
        "props": compiled,
        "urls": urls.of(&wait_of(run, path)),
        "deadline": deadline(run, path, now_ms),
        "attempt": attempt(run, path, texts)?,
        "tmp": run.tmp(),
        "is_test": run.head.is_test,
    });
    if let (Some(condition), Some(rest)) = (&node.condition, rest.as_object_mut()) {
        rest.insert("if".to_owned(), json!(condition));
    }
    text.push(',');
    // The rest without its opening brace.
    text.push_str(&rest.to_string()[1..]);
    Ok(text)
}

/// The input of an evaluation, as JSON text.
///
/// # Errors
/// The text of a blob is missing.
pub(super) fn evaluation(
    run: &LiveRun,
    path: &Path,
    questions: &[Question],
    urls: &Urls<'_>,
    now_ms: EpochMs,
    texts: &BlobTexts,
) -> Result<String, PlatformError> {
    let mut text = String::from("{\"steps\":");
    steps(run, path, urls, texts, &mut text)?;
    let ask: Vec<Value> = questions.iter().map(question).collect();
    let rest =
        json!({ "context": context(run, path, now_ms, texts)?, "tmp": run.tmp(), "ask": ask });
    text.push(',');
    text.push_str(&rest.to_string()[1..]);
    Ok(text)
}

fn question(question: &Question) -> Value {
    match question {
        Question::Value(template) => json!({ "value": template }),
        Question::Holds(condition) => json!({ "condition": condition }),
        Question::First(conditions) => json!({ "first": conditions }),
    }
}

/// `steps`: the trigger, and everything in the scope of the place.
fn steps(
    run: &LiveRun,
    path: &Path,
    urls: &Urls<'_>,
    texts: &BlobTexts,
    to: &mut String,
) -> Result<(), PlatformError> {
    to.push_str("{\"trigger\":{\"event\":");
    let (sequence, _) = run.deployed.definition.sequence_at_root(path);
    match run
        .tree
        .root()
        .failed
        .as_ref()
        .filter(|_| sequence != Path::root())
    {
        Some((at, failure)) => {
            let error = error(run, at, failure);
            to.push_str("{\"original_event\":");
            to.push_str(run.claimed.event.get());
            to.push_str(",\"original_context\":");
            to.push_str(&Value::Object(trigger_context(run)).to_string());
            to.push_str(",\"error\":");
            to.push_str(&error.to_string());
            to.push('}');
        }
        None => to.push_str(run.claimed.event.get()),
    }
    to.push_str(",\"context\":");
    to.push_str(&Value::Object(trigger_context(run)).to_string());
    to.push('}');
    for (name, entry) in with_urls(run, path, urls) {
        to.push(',');
        to.push_str(&Value::from(name).to_string());
        to.push(':');
        entry.write(to, &|blob| texts.get(blob))?;
    }
    to.push('}');
    Ok(())
}

/// The scope of a place, and in it the URLs of `wait` blocks.
fn with_urls(run: &LiveRun, path: &Path, urls: &Urls<'_>) -> Vec<(String, Exported)> {
    let mut scope = run.tree.scope(path);
    for (name, at) in run.tree.waits(path) {
        let place = run.tree.places().get(&at);
        let generation = place.filter(|place| !place.status.is_final());
        let urls = urls.of(&WaitId {
            run_id: run.id().clone(),
            path: at.to_string(),
            generation: generation.map_or(0, |place| place.generation),
        });
        let urls = [("resume_url", urls.resume), ("cancel_url", urls.cancel)];
        let urls = urls.map(|(name, url)| (name.to_owned(), Exported::Json(Value::from(url))));
        match scope.iter_mut().find(|(of, _)| of == name) {
            Some((_, Exported::Object(fields))) => fields.extend(urls),
            Some(_) => {}
            None => scope.push((name.to_owned(), Exported::Object(urls.into()))),
        }
    }
    scope
}

/// `$.$attempt` of a step that is tried again.
fn attempt(
    run: &LiveRun,
    path: &Path,
    texts: &BlobTexts,
) -> Result<Option<Box<RawValue>>, PlatformError> {
    let place = run.tree.places().get(path);
    let Some(kept) = place.and_then(|place| place.attempt()) else {
        return Ok(None);
    };
    let text = texts.of(kept)?;
    Ok(RawValue::from_string(text.as_ref().to_owned()).ok())
}

/// The error of a run, for those who are told of it (docs/guide/workflow-errors.md, "`$errors`").
pub(super) fn error(run: &LiveRun, at: &Path, failure: &Failure) -> Value {
    let step = run.failed_step(at, failure);
    let node = run.tree.node(&step);
    let step_of = node.and_then(|node| run.deployed.step(node.namespace.as_str()));
    let error = &failure.error;
    json!({
        "code": error.code.clone().unwrap_or_else(|| error.name.clone().into()),
        "name": error.name,
        "message": error.message,
        "stack": error.stack,
        "cellId": step_of.map(|step| CellId::of_component(&step.component.id)),
        "path": step.to_string(),
        "ts": iso_8601(run.started_at_ms),
    })
}

/// `steps.trigger.context` (docs/guide/workflows.md, "The trigger").
pub(super) fn trigger_context(run: &LiveRun) -> Map<String, Value> {
    let workflow = &run.deployed.workflow;
    let context = json!({
        "id": run.execution_id(),
        "ts": iso_8601(run.claimed.queued_at_ms),
        "trace_id": run.trace_id(),
        "pipeline_id": null,
        "workflow_id": workflow.id,
        "workflow_name": run.deployed.definition.name,
        "deployment_id": run.deployed.id,
        "emitter_id": run.claimed.via,
        "owner_id": workflow.owner.tenant(),
        "project_id": null,
        "platform_version": env!("CARGO_PKG_VERSION"),
        "source_type": "COMPONENT",
        "verified": false,
        "hops": run.claimed.hops,
        "test": run.head.is_test,
        "resume": run.head.pauses > 0,
        "replay": run.head.replay.is_some(),
    });
    if let Value::Object(context) = context {
        return context;
    }
    Map::new()
}

/// `$.context`.
fn context(
    run: &LiveRun,
    path: &Path,
    now_ms: EpochMs,
    texts: &BlobTexts,
) -> Result<Value, PlatformError> {
    let mut context = trigger_context(run);
    let place = run.tree.places().get(path);
    let rerun = place.and_then(|place| place.rerun.as_ref());
    let value = |kept: Option<&Kept>| -> Result<Option<Value>, PlatformError> {
        let text = kept.map(|kept| texts.of(kept)).transpose()?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    };
    let rerun_context = value(rerun.and_then(|rerun| rerun.context.as_ref()))?;
    let callback = value(rerun.and_then(|rerun| rerun.callback_request.as_ref()))?;
    let mut runs = json!({ "runs": place.map_or(1, Place::executions) });
    if let Some(runs) = runs.as_object_mut() {
        runs.insert("context".to_owned(), rerun_context.unwrap_or_default());
        runs.extend(callback.map(|callback| ("callback_request".to_owned(), callback)));
    }
    let deadline = now_ms + run.time_limit(path);
    context.insert("deadline".to_owned(), json!(deadline));
    context.insert("JIT".to_owned(), json!(run.head.is_test));
    context.insert("run".to_owned(), runs);
    let key = format!("{}/{path}", run.id());
    context.insert("idempotency_key".to_owned(), Value::from(key));
    Ok(Value::Object(context))
}

/// When the time of a step is over: at first, and at the latest.
fn deadline(run: &LiveRun, path: &Path, now_ms: EpochMs) -> Value {
    let limit = run.time_limit(path);
    json!({ "first": now_ms + limit, "last": now_ms + limit.max(REFRESHED_STEP_MAX) })
}

/// JSON text as the engine takes it.
pub(super) fn raw(text: String) -> Arc<RawValue> {
    let raw = RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned());
    Arc::from(raw)
}

/// The wait of a place as it is now.
pub(super) fn wait_of(run: &LiveRun, path: &Path) -> WaitId {
    let place = run.tree.places().get(path);
    WaitId {
        run_id: run.id().clone(),
        path: path.to_string(),
        generation: place.map_or(0, |place| place.generation),
    }
}

/// The wait of a place of a run.
pub(crate) fn wait_id(run: &InvocationId, path: &Path, place: &Place) -> WaitId {
    WaitId {
        run_id: run.clone(),
        path: path.to_string(),
        generation: place.generation,
    }
}
