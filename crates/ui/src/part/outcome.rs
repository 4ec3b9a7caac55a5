//! The outcome and the cause of a run, in words.

use headwater_model::{
    event::EventRef,
    id::{InvocationId, RunnableId},
    outcome::Limit,
};
use headwater_platform::{KnownNames, RunOutcome, RunRecord, RunTrigger, WorkflowRunSummary};
use maud::{Markup, html};

use super::{
    name,
    state::{Tone, state},
};
use crate::address;

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

/// The cause of a run as its record has it.
pub(crate) struct Cause<'a> {
    pub(crate) trigger: RunTrigger,
    /// The event that it ran for.
    pub(crate) event: Option<&'a EventRef>,
    /// The run that it repeats.
    pub(crate) replay_of: Option<&'a InvocationId>,
    /// The source or workflow that ran, of which the repeated run is.
    pub(crate) runnable: &'a RunnableId,
}

impl<'a> Cause<'a> {
    pub(crate) fn of_run(runnable: &'a RunnableId, run: &'a WorkflowRunSummary) -> Self {
        Self {
            trigger: run.trigger,
            event: run.caused_by.as_ref(),
            replay_of: run.replay_of.as_ref(),
            runnable,
        }
    }

    pub(crate) fn of_record(run: &'a RunRecord) -> Self {
        Self {
            trigger: run.ended.trigger,
            event: run.caused_by.as_ref(),
            replay_of: run.ended.replay_of.as_ref(),
            runnable: &run.runnable,
        }
    }

    /// Its trigger, with the event and its emitter, and the run that a replay repeats. `names` are those of emitters.
    pub(crate) fn words(&self, names: &KnownNames) -> Markup {
        let event = |words: &str| {
            html! {
                @if let Some(of) = self.event {
                    a href=(address::of_event(&of.emitter, &of.id)) title=(of.id) { (words) } " of " (name::emitter(names, &of.emitter))
                }
            }
        };
        let is_event = self.trigger == RunTrigger::Event && self.event.is_some();
        html! {
            @if is_event { (event(trigger(self.trigger))) } @else { (trigger(self.trigger)) }
            @if let Some(of) = self.replay_of { " of " a href=(address::of_run(self.runnable, of)) title=(of) { "another run" } }
            @if !is_event && self.event.is_some() { ", for an " (event("event")) }
        }
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
