//! The account of a run: its events on `$errors` and `$logs`, and the report of a manual run.

use headwater_model::{
    channel::Channel,
    event::NewEvent,
    id::CellId,
    outcome::{ComponentError, Outcome},
    time::EpochMs,
};
use headwater_store::Source;
use serde_json::{Value, json};

use super::{effects::Logged, part::RunPart, run_report::RunReport};
use crate::{
    log_line::LogLine,
    platform_event::{iso_8601, platform_event},
};

/// A line on `$logs`.
pub(super) fn log_event(part: &RunPart, logged: &Logged) -> NewEvent {
    let event = json!({
        "level": logged.level,
        "message": logged.text,
        "ts": logged.ts_ms,
        "invocation_id": part.invocation_id,
    });
    NewEvent {
        trace: part.origin.trace,
        ..platform_event(Channel::logs(), &event, &logged.text, part.hops)
    }
}

/// An error on `$errors`, in the shape of a workflow error summary.
pub(super) fn error_event(
    source: &Source,
    part: &RunPart,
    error: &ComponentError,
    now_ms: EpochMs,
) -> NewEvent {
    let event = json!({
        "error": {
            "code": error.code.clone().unwrap_or_else(|| Value::from(error.name.clone())),
            "name": error.name,
            "message": error.message,
            "stack": error.stack,
            "ts": iso_8601(now_ms),
            "cellId": CellId::of_component(&source.spec.component_id),
        },
        "original_event": &*part.event,
        "original_context": {
            "id": part.invocation_id,
            "ts": iso_8601(part.queued_at_ms),
            "source_id": source.id,
            "trigger": part.trigger.of_invocation(),
            "owner_id": source.owner.tenant(),
            "verified": false,
            "platform_version": env!("CARGO_PKG_VERSION"),
        },
    });
    let summary = format!("{}: {}", error.name, error.message);
    NewEvent {
        trace: part.origin.trace,
        ..platform_event(Channel::errors(), &event, &summary, part.hops)
    }
}

/// The report that somebody waits for.
pub(super) fn report(part: &RunPart, outcome: Outcome, events: u64) -> RunReport {
    RunReport {
        invocation_id: part.invocation_id.clone(),
        outcome,
        events,
        logs: part.effects.logs.iter().map(LogLine::from).collect(),
    }
}
