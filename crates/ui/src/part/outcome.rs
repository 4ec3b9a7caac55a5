//! The outcome of a source's run, in words.

use headwater_model::outcome::Limit;
use headwater_platform::{RunOutcome, RunTrigger, WorkflowRunSummary};
use maud::{Markup, html};

use super::state::{Tone, state};

/// The outcome as a state.
pub(crate) fn outcome(outcome: RunOutcome) -> Markup {
    match outcome {
        RunOutcome::Returned => state(Tone::Good, "ok"),
        RunOutcome::Threw => state(Tone::Bad, "threw"),
        RunOutcome::LimitExceeded(limit) => state(Tone::Bad, of_limit(limit)),
        RunOutcome::Lost => state(Tone::Bad, "lost"),
        RunOutcome::Cancelled => state(Tone::Quiet, "cancelled"),
    }
}

fn of_limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Wall => "timed out",
        Limit::Memory => "out of memory",
        Limit::Output => "too much output",
    }
}

/// The cause of a run of the source or workflow with this address: its trigger, and the run that a replay repeats.
pub(crate) fn cause(base: &str, run: &WorkflowRunSummary) -> Markup {
    html! {
        (trigger(run.trigger))
        @if let Some(of) = &run.replay_of { " of " a href={ (base) "/runs/" (of) } title=(of) { "another run" } }
    }
}

/// The trigger of a run.
pub(crate) fn trigger(trigger: RunTrigger) -> &'static str {
    match trigger {
        RunTrigger::Timer => "timer",
        RunTrigger::Http => "request",
        RunTrigger::Manual => "by hand",
        RunTrigger::Event => "event",
        RunTrigger::Email => "mail",
        RunTrigger::Call => "call",
        RunTrigger::Replay => "replay",
        RunTrigger::Deploy => "deploy",
        RunTrigger::Activate => "activate",
        RunTrigger::Deactivate => "deactivate",
    }
}
