//! Records of runs, not part of Pipedream's API.

use headwater_model::{
    channel::Channel,
    id::{DeliveryId, EventId, InvocationId, RunnableId, WebhookId},
    outcome::Limit,
    time::EpochMs,
    webhook::DeliveryState,
};
use headwater_platform::{OutcomeFilter, RunFilter, RunTrigger, RunVersion};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    cause::Cause,
    delivery::State,
    id, lenient,
    run::{ComponentError, LogLine},
};

/// `GET /sources/{id}/runs`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunsRequest {
    /// Only those that ended in this way: `failed` is anything but `returned`, `succeeded` is `returned`.
    #[param(inline)]
    outcome: Option<OutcomeChoice>,
    /// Only those with this cause.
    #[param(inline, value_type = Option<Trigger>)]
    trigger: Option<RunTrigger>,
    /// Only those that started at this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    since: Option<EpochMs>,
    /// Only those of which dedupe dropped events, or none of them. With `true`, their `dropped_ids` are shown.
    #[serde(default, deserialize_with = "lenient::boolean")]
    dropped: Option<bool>,
}

impl RunsRequest {
    /// Whether the ids of dropped events are to be shown.
    pub(crate) fn shows_dropped(&self) -> bool {
        self.dropped == Some(true)
    }
}

impl From<RunsRequest> for RunFilter {
    fn from(request: RunsRequest) -> Self {
        Self {
            outcome: request.outcome.map(OutcomeFilter::from),
            trigger: request.trigger,
            since_ms: request.since,
            has_dropped: request.dropped,
        }
    }
}

/// Outcomes to list.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum OutcomeChoice {
    Failed,
    Succeeded,
    Returned,
    Threw,
    WallLimit,
    MemoryLimit,
    OutputLimit,
    Lost,
    Cancelled,
}

impl From<OutcomeChoice> for OutcomeFilter {
    fn from(choice: OutcomeChoice) -> Self {
        use headwater_platform::RunOutcome;
        let outcome = match choice {
            OutcomeChoice::Failed => return Self::Failed,
            OutcomeChoice::Succeeded => return Self::Succeeded,
            OutcomeChoice::Returned => RunOutcome::Returned,
            OutcomeChoice::Threw => RunOutcome::Threw,
            OutcomeChoice::WallLimit => RunOutcome::LimitExceeded(Limit::Wall),
            OutcomeChoice::MemoryLimit => RunOutcome::LimitExceeded(Limit::Memory),
            OutcomeChoice::OutputLimit => RunOutcome::LimitExceeded(Limit::Output),
            OutcomeChoice::Lost => RunOutcome::Lost,
            OutcomeChoice::Cancelled => RunOutcome::Cancelled,
        };
        Self::Exactly(outcome)
    }
}

/// A run that has ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Run {
    #[schema(value_type = id::Invocation)]
    pub(crate) id: InvocationId,
    #[schema(value_type = id::Source)]
    source_id: RunnableId,
    /// The version of the code that ran.
    #[schema(value_type = id::Component)]
    component_id: RunVersion,
    #[schema(inline, value_type = Trigger)]
    trigger: RunTrigger,
    #[schema(inline)]
    outcome: RunOutcome,
    /// The first line of the error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The time from which it was to run, in epoch milliseconds.
    #[schema(value_type = u64)]
    queued_at_ms: EpochMs,
    /// The time of its last start, in epoch milliseconds; a worker may have to be started after it.
    #[schema(value_type = u64)]
    started_at_ms: EpochMs,
    /// The time its code ended, in epoch milliseconds.
    #[schema(value_type = u64)]
    ended_at_ms: EpochMs,
    /// The time from `started_at_ms` to `ended_at_ms`.
    duration_ms: u64,
    /// Events that it appended, those to be released later included.
    emitted: u32,
    /// Events that dedupe did not let through.
    dropped: u32,
    /// The ids of the first 20 of these. Only where a run is shown by itself, and in listings with `dropped=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_ids: Option<Vec<String>>,
    /// The `X-Request-Id` of the request that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The trace that it belongs to, as in `traceparent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    /// The event that it ran for, if its trigger is `event`; its log may have trimmed it by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline)]
    caused_by: Option<Cause>,
    /// The number of its starts: more than one after a lost worker or node, or with renewed credentials; none if it was
    /// cancelled before it began.
    starts: u32,
    /// The time that it might take, in milliseconds. Absent for runs that are older than this field, and for those that did not
    /// begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_limit_ms: Option<u64>,
    /// The answer that it sent with `$respond`.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<SentResponse>,
    /// Keys of `$.service.db` that it set or deleted.
    changed_keys: u32,
    /// The names of the first 20 of these in their order, cut after 200 characters. Only where a run is shown by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_key_names: Option<Vec<String>>,
}

/// The answer of a run to its request.
#[derive(Debug, Serialize, ToSchema)]
struct SentResponse {
    status: u16,
    /// Bytes of its body, as the code gave it.
    bytes: u64,
}

/// A run with its consequences, as far as they are still kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunDetail {
    #[serde(flatten)]
    run: Run,
    /// Its events, oldest first, without those on `$logs` and `$errors`.
    events: Vec<RunEvent>,
    /// Its lines on `$logs`, oldest first.
    logs: Vec<RunLog>,
    /// Its errors on `$errors`, oldest first.
    errors: Vec<RunError>,
    /// Whether it left more events, log lines and errors than the 500 that are shown.
    has_more: bool,
}

/// An event of a run.
#[derive(Debug, Serialize, ToSchema)]
struct RunEvent {
    #[schema(value_type = id::Event)]
    id: EventId,
    /// The channel, if it is not the default one.
    #[serde(skip_serializing_if = "is_default")]
    #[schema(value_type = Option<String>)]
    event_name: Channel,
    /// The emit's `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// In the order of their dispatch.
    deliveries: Vec<RunDelivery>,
    /// Whether there are more deliveries than the 10 that are shown.
    has_more_deliveries: bool,
}

/// A line that a run logged.
#[derive(Debug, Serialize, ToSchema)]
struct RunLog {
    /// The event on `$logs`.
    #[schema(value_type = id::Event)]
    id: EventId,
    #[serde(flatten)]
    line: LogLine,
    /// In the order of their dispatch.
    deliveries: Vec<RunDelivery>,
    /// Whether there are more deliveries than the 10 that are shown.
    has_more_deliveries: bool,
}

/// A delivery of an event of a run.
#[derive(Debug, Serialize, ToSchema)]
struct RunDelivery {
    #[schema(value_type = id::Delivery)]
    id: DeliveryId,
    #[schema(value_type = id::Webhook)]
    webhook_id: WebhookId,
    #[schema(inline, value_type = State)]
    state: DeliveryState,
}

/// An error of a run.
#[derive(Debug, Serialize, ToSchema)]
struct RunError {
    /// The event on `$errors`.
    #[schema(value_type = id::Event)]
    id: EventId,
    error: ComponentError,
    /// In the order of their dispatch.
    deliveries: Vec<RunDelivery>,
    /// Whether there are more deliveries than the 10 that are shown.
    has_more_deliveries: bool,
}

/// The way in which a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunOutcome {
    Returned,
    Threw,
    WallLimit,
    MemoryLimit,
    OutputLimit,
    Lost,
    Cancelled,
}

/// The cause of a run.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "stands for `RunTrigger` where a shape is described"
)]
pub(super) enum Trigger {
    Timer,
    Http,
    Manual,
    Event,
    Email,
    Call,
    Replay,
    Deploy,
    Activate,
    Deactivate,
}

fn is_default(channel: &Channel) -> bool {
    channel.name().is_empty()
}

impl From<headwater_platform::RunRecord> for Run {
    fn from(run: headwater_platform::RunRecord) -> Self {
        let ended = run.ended;
        let (trace, facts) = (ended.origin.trace, ended.facts);
        Self {
            id: run.id,
            source_id: run.runnable,
            component_id: ended.version,
            trigger: ended.trigger,
            outcome: ended.outcome.into(),
            error: ended.error,
            queued_at_ms: ended.queued_at_ms,
            started_at_ms: ended.started_at_ms,
            ended_at_ms: ended.ended_at_ms,
            // A clock may step back.
            duration_ms: ended.ended_at_ms.0.saturating_sub(ended.started_at_ms.0),
            emitted: ended.emitted,
            dropped: ended.dropped.count,
            dropped_ids: None,
            request_id: ended.origin.request_id().map(str::to_owned),
            trace_id: trace.map(|trace| format!("{:032x}", trace.trace_id)),
            caused_by: run.caused_by.map(Cause::from),
            starts: facts.starts,
            time_limit_ms: facts.time_limit_ms,
            response: facts.response.map(|sent| SentResponse {
                status: sent.status,
                bytes: sent.bytes,
            }),
            changed_keys: facts.changed.count,
            changed_key_names: None,
        }
    }
}

impl Run {
    /// The run with the ids of events that dedupe dropped.
    pub(crate) fn with_dropped(run: headwater_platform::RunRecord) -> Self {
        let dropped_ids = Some(run.ended.dropped.keys.clone());
        Self {
            dropped_ids,
            ..run.into()
        }
    }
}

impl From<headwater_platform::RunView> for RunDetail {
    fn from(view: headwater_platform::RunView) -> Self {
        let names = view.run.ended.facts.changed.keys.clone();
        Self {
            run: Run {
                changed_key_names: Some(names),
                ..Run::with_dropped(view.run)
            },
            events: view.events.into_iter().map(RunEvent::from).collect(),
            logs: view.logs.into_iter().map(RunLog::from).collect(),
            errors: view.errors.into_iter().map(RunError::from).collect(),
            has_more: view.has_more,
        }
    }
}

impl RunDelivery {
    fn all(deliveries: headwater_platform::RunDeliveries) -> Vec<Self> {
        let shown = deliveries.shown.into_iter();
        let shown = shown.map(|delivery| Self {
            id: delivery.id,
            webhook_id: delivery.webhook_id,
            state: delivery.state,
        });
        shown.collect()
    }
}

impl From<headwater_platform::RunEvent> for RunEvent {
    fn from(event: headwater_platform::RunEvent) -> Self {
        Self {
            id: event.id,
            event_name: event.channel,
            summary: event.summary,
            has_more_deliveries: event.deliveries.has_more,
            deliveries: RunDelivery::all(event.deliveries),
        }
    }
}

impl From<headwater_platform::RunLog> for RunLog {
    fn from(log: headwater_platform::RunLog) -> Self {
        Self {
            id: log.id,
            line: log.line.into(),
            has_more_deliveries: log.deliveries.has_more,
            deliveries: RunDelivery::all(log.deliveries),
        }
    }
}

impl From<headwater_platform::RunError> for RunError {
    fn from(error: headwater_platform::RunError) -> Self {
        Self {
            id: error.id,
            error: error.error.into(),
            has_more_deliveries: error.deliveries.has_more,
            deliveries: RunDelivery::all(error.deliveries),
        }
    }
}

impl From<headwater_platform::RunOutcome> for RunOutcome {
    fn from(outcome: headwater_platform::RunOutcome) -> Self {
        match outcome {
            headwater_platform::RunOutcome::Returned => Self::Returned,
            headwater_platform::RunOutcome::Threw => Self::Threw,
            headwater_platform::RunOutcome::LimitExceeded(limit) => match limit {
                Limit::Wall => Self::WallLimit,
                Limit::Memory => Self::MemoryLimit,
                Limit::Output => Self::OutputLimit,
            },
            headwater_platform::RunOutcome::Lost => Self::Lost,
            headwater_platform::RunOutcome::Cancelled => Self::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(name: &str) -> serde_json::Value {
        let request: RunsRequest = serde_json::from_value(json!({ "outcome": name })).unwrap();
        match RunFilter::from(request).outcome {
            Some(OutcomeFilter::Exactly(outcome)) => json!(RunOutcome::from(outcome)),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn an_outcome_is_filtered_by_the_name_it_is_shown_under() {
        for name in [
            "returned",
            "threw",
            "wall_limit",
            "memory_limit",
            "output_limit",
            "lost",
            "cancelled",
        ] {
            assert_eq!(shown(name), name);
        }
    }

    #[test]
    fn a_wrong_filter_names_what_is_allowed() {
        for (field, allowed) in [("outcome", "`wall_limit`"), ("trigger", "`deactivate`")] {
            let wrong = json!({ field: "sideways" });
            let error = serde_json::from_value::<RunsRequest>(wrong).unwrap_err();
            assert!(error.to_string().contains(allowed), "{error}");
        }
    }
}
