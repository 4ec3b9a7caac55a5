//! The runs in the node's log and traces. Each line names the source, the invocation and, if a request
//! caused it, the request.

use headwater_engine::Hook;
use headwater_model::{
    id::{InvocationId, SourceId},
    origin::Origin,
    outcome::Outcome,
};

use super::{invocation::QueuedInvocation, part::RunPart};
use crate::{
    core::Core,
    metrics::{outcome_name, trigger_name},
    spans::{Attribute, NewSpan, Span, SpanKind},
};

/// Longer texts of components are cut; `$errors` has them whole.
const TEXT_MAX: usize = 300;

/// Begins the span of a run or a hook.
pub(super) fn span(
    core: &Core,
    source_id: &SourceId,
    name: &str,
    invocation_id: &InvocationId,
    origin: &Origin,
) -> Span {
    core.begin_span(NewSpan {
        name,
        kind: SpanKind::Internal,
        parent: origin.trace,
        attributes: &[
            ("headwater.source_id", Attribute::Text(source_id.as_str())),
            (
                "headwater.invocation_id",
                Attribute::Text(invocation_id.as_str()),
            ),
        ],
    })
}

pub(super) fn begins(source_id: &SourceId, invocation: &QueuedInvocation) {
    tracing::debug!(
        %source_id,
        invocation_id = %invocation.invocation_id,
        request_id = invocation.origin.request_id(),
        trigger = trigger_name(invocation.trigger.into()),
        "a run begins"
    );
}

pub(super) fn hook_begins(
    source_id: &SourceId,
    invocation_id: &InvocationId,
    origin: &Origin,
    hook: Hook,
) {
    tracing::debug!(
        %source_id,
        %invocation_id,
        request_id = origin.request_id(),
        hook = hook.name(),
        "a hook begins"
    );
}

/// A run is over, or a hook.
pub(super) fn ended(source_id: &SourceId, part: &RunPart, outcome: &Outcome) {
    let Some(error) = outcome.error() else {
        return tracing::debug!(
            %source_id,
            invocation_id = %part.invocation_id,
            request_id = part.origin.request_id(),
            trigger = trigger_name(part.trigger),
            time_ms = part.usage.compute_ms,
            "a run returned"
        );
    };
    tracing::info!(
        %source_id,
        invocation_id = %part.invocation_id,
        request_id = part.origin.request_id(),
        trigger = trigger_name(part.trigger),
        time_ms = part.usage.compute_ms,
        outcome = outcome_name(outcome),
        error = cut(&error.message),
        "a run failed"
    );
}

/// A run's worker went away, and the run is started again.
pub(super) fn lost(source_id: &SourceId, invocation: &QueuedInvocation, outcome: &Outcome) {
    let error = outcome.error().unwrap_or_default();
    tracing::warn!(
        %source_id,
        invocation_id = %invocation.invocation_id,
        request_id = invocation.origin.request_id(),
        trigger = trigger_name(invocation.trigger.into()),
        tries = invocation.tries,
        error = cut(&error.message),
        "a run lost its worker and is started again"
    );
}

/// A run met a 401, and is repeated with other credentials.
pub(super) fn repeats(source_id: &SourceId, invocation: &QueuedInvocation, outcome: &Outcome) {
    let error = outcome.error().unwrap_or_default();
    tracing::info!(
        %source_id,
        invocation_id = %invocation.invocation_id,
        request_id = invocation.origin.request_id(),
        trigger = trigger_name(invocation.trigger.into()),
        error = cut(&error.message),
        "a run met a 401; its account was renewed, and the run is repeated"
    );
}

/// No worker took a run, which has been acknowledged and waits.
pub(super) fn put_off(source_id: &SourceId, invocation: &QueuedInvocation, outcome: &Outcome) {
    let error = outcome.error().unwrap_or_default();
    tracing::warn!(
        %source_id,
        invocation_id = %invocation.invocation_id,
        request_id = invocation.origin.request_id(),
        trigger = trigger_name(invocation.trigger.into()),
        error = in_one_line(&error.message),
        "no worker could be started; the run waits"
    );
}

/// The store refused the results of a run.
pub(super) fn refused(source_id: &SourceId, part: &RunPart, error: &dyn std::fmt::Display) {
    tracing::warn!(
        %source_id,
        invocation_id = %part.invocation_id,
        request_id = part.origin.request_id(),
        trigger = trigger_name(part.trigger),
        %error,
        "a run's commit was refused"
    );
}

/// The whole text of the host, whose cause may be in its last line.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

fn cut(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    &line[..line.floor_char_boundary(TEXT_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_text_is_whole_in_one_line() {
        let text = "could not start a worker: launching\n\n  caused by: no memory\n";
        assert_eq!(
            in_one_line(text),
            "could not start a worker: launching; caused by: no memory"
        );
    }

    #[test]
    fn a_components_text_takes_one_short_line() {
        assert_eq!(cut("one\ntwo"), "one");
        assert_eq!(cut(""), "");
        let long = "ü".repeat(TEXT_MAX);
        assert_eq!(cut(&long).len(), TEXT_MAX);
    }
}
