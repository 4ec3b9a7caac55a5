//! Trials: a source's code is run once without being deployed.

use headwater_model::{
    channel::Channel,
    event::{Emit, EmitKey},
    id::InvocationId,
};
use headwater_platform::CallTarget;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use utoipa::ToSchema;

use super::{
    call::PropsRequest,
    event::number_or_text,
    id,
    run::{LogLine, Outcome},
};

/// The configuration that the source would be deployed with, and the event of the run.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct TrialRequest {
    /// The event for `run`; a manual trigger's event if absent.
    event: Option<Value>,
    #[serde(flatten)]
    props: PropsRequest,
}

impl TrialRequest {
    /// The call, of the component with that key or id, and its event.
    pub(crate) fn target(self, reference: &str) -> (CallTarget, Option<Value>) {
        (self.props.target(reference), self.event)
    }
}

/// The result of a trial.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrialReport {
    #[schema(value_type = id::Invocation)]
    invocation_id: InvocationId,
    outcome: Outcome,
    /// The first 100 events that it emitted, or fewer if they are large. Dedupe saw none of them.
    events: Vec<TrialEvent>,
    /// All that it emitted.
    emitted: u64,
    /// The argument of `respond`, if it was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<TrialResponse>,
    logs: Vec<LogLine>,
}

/// An event that was emitted in a trial.
#[derive(Debug, Serialize, ToSchema)]
struct TrialEvent {
    /// The emitted event.
    #[schema(value_type = Value)]
    event: Box<RawValue>,
    /// The channel; empty for the default one.
    #[schema(value_type = String)]
    name: Channel,
    /// The emit's `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The emit's `id`, which dedupe would compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = number_or_text, required = false)]
    id: Option<EmitKey>,
}

/// A response that was given in a trial.
#[derive(Debug, Serialize, ToSchema)]
struct TrialResponse {
    status: u16,
    /// Pairs of a name and a value; a name may be repeated.
    #[schema(value_type = Vec<Vec<String>>)]
    headers: Vec<(String, String)>,
    /// The body as text; what is not UTF-8 is replaced.
    body: String,
}

impl From<headwater_platform::TrialReport> for TrialReport {
    fn from(report: headwater_platform::TrialReport) -> Self {
        Self {
            invocation_id: report.invocation_id,
            outcome: report.outcome.into(),
            events: report.events.into_iter().map(TrialEvent::from).collect(),
            emitted: report.emitted,
            response: report.response.map(|response| TrialResponse {
                status: response.status,
                headers: response.headers,
                body: String::from_utf8_lossy(&response.body).into_owned(),
            }),
            logs: report.logs.into_iter().map(LogLine::from).collect(),
        }
    }
}

impl From<Emit> for TrialEvent {
    fn from(emit: Emit) -> Self {
        Self {
            event: emit.event,
            name: emit.options.name.unwrap_or_default(),
            summary: emit.options.summary,
            id: emit.options.id,
        }
    }
}
