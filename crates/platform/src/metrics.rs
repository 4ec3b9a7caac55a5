//! The node's counters, for Prometheus: runs, their emits, commits, attempts, background work; and, at
//! the moment of a look, waiting work and workers.
//!
//! Every label has a handful of values known here; none names a source, a user or an address. The
//! counters of runs are resolved once, at the start, so that counting is an addition. Requests are
//! counted where they are answered, in `api`.

use std::time::Duration;

use headwater_model::{
    channel::ChannelClass,
    event::NewEvent,
    outcome::{Limit, Outcome},
};
use headwater_store::{AfterAttempt, RunTrigger};
use prometheus_client::{
    metrics::{
        counter::Counter,
        family::{Family, MetricConstructor},
        histogram::Histogram,
        info::Info,
    },
    registry::{Registry, Unit},
};

use crate::chore::Chore;

/// Before the name of everything that a node counts.
pub(crate) const PREFIX: &str = "headwater";
/// Upper bounds of how long a run may take; hooks may take minutes.
const RUN_SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0,
];
/// Upper bounds of how long the disk may take.
const COMMIT_SECONDS: [f64; 11] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0,
];
/// Upper bounds of how long a receiver may take.
const ATTEMPT_SECONDS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0,
];
/// By [`trigger`].
const TRIGGERS: [&str; 8] = [
    "timer", "http", "manual", "event", "hook", "email", "call", "replay",
];
/// By [`outcome`].
const OUTCOMES: [&str; 7] = [
    "returned",
    "threw",
    "wall_limit",
    "memory_limit",
    "output_limit",
    "lost",
    "cancelled",
];
/// By the code of the class.
const CHANNELS: [&str; 4] = ["ordinary", "errors", "logs", "scheduled"];
/// By [`attempt`].
const ATTEMPTS: [&str; 3] = ["delivered", "retried", "dead"];

type Label = [(&'static str, &'static str); 1];

/// The counters since the node started.
pub(crate) struct Metrics {
    registry: Registry,
    runs: [[Counter; OUTCOMES.len()]; TRIGGERS.len()],
    run_seconds: [Histogram; TRIGGERS.len()],
    starts_failed: Counter,
    events: [Counter; CHANNELS.len()],
    dropped: Counter,
    committed: Counter,
    refused: Counter,
    commit_seconds: Histogram,
    attempts: [Counter; ATTEMPTS.len()],
    attempt_seconds: Histogram,
    webhooks_disabled: Counter,
    done: [Counter; Chore::ALL.len()],
    failed: [Counter; Chore::ALL.len()],
}

/// The events that one commit appends, and those that dedupe kept out of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    events: [u64; CHANNELS.len()],
    dropped: u64,
}

impl Tally {
    pub(crate) fn of(events: &[NewEvent], dropped: u64) -> Self {
        let mut tally = Self {
            dropped,
            ..Self::default()
        };
        for event in events {
            tally.events[usize::from(event.channel.class().code())] += 1;
        }
        tally
    }

    /// Whether the commit appends anything.
    pub(crate) fn has_events(&self) -> bool {
        self.events.iter().any(|count| *count > 0)
    }

    /// Whether the commit appends events that are to be released later.
    pub(crate) fn has_scheduled(&self) -> bool {
        self.events[usize::from(ChannelClass::Scheduled.code())] > 0
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The running release", version);
        let runs = Family::default();
        registry.register(
            "runs",
            "Runs that ended, by trigger and outcome",
            runs.clone(),
        );
        let events = Family::default();
        registry.register(
            "events",
            "Events appended, by class of channel",
            events.clone(),
        );
        let help = "Emitted events that dedupe dropped";
        let dropped = counter(&mut registry, "dedupe_drops", help);
        let help = "Runs for which no worker could be started";
        let starts_failed = counter(&mut registry, "run_starts_failed", help);
        let commits = Family::default();
        registry.register(
            "commits",
            "Ends of runs given to the store",
            commits.clone(),
        );
        let attempts = Family::default();
        let help = "Attempts to deliver that ended, by the delivery's next state";
        registry.register("delivery_attempts", help, attempts.clone());
        let help = "Webhooks disabled by the platform";
        let webhooks_disabled = counter(&mut registry, "webhooks_disabled", help);
        let done = Family::default();
        let help = "Items that background work has done";
        registry.register("background_items", help, done.clone());
        let failed = Family::default();
        let help = "Steps of background work in which the store failed";
        registry.register("background_errors", help, failed.clone());
        let run_seconds =
            Family::<Label, _, _>::new_with_constructor(|| Histogram::new(RUN_SECONDS));
        let help = "Time of runs in their worker";
        registry.register_with_unit("run_duration", help, Unit::Seconds, run_seconds.clone());
        let help = "Time of the store for a batch of commits";
        let commit_seconds = seconds(&mut registry, "commit_duration", help, &COMMIT_SECONDS);
        let help = "Time of receivers to answer an attempt";
        let name = "delivery_attempt_duration";
        let attempt_seconds = seconds(&mut registry, name, help, &ATTEMPT_SECONDS);
        let by_chore = |family: &Family<Label, Counter>| {
            Chore::ALL.map(|chore| one(family, "chore", chore.name()))
        };
        Self {
            runs: TRIGGERS.map(|trigger| {
                let labels = |outcome| [("trigger", trigger), ("outcome", outcome)];
                OUTCOMES.map(|outcome| runs.get_or_create_owned(&labels(outcome)))
            }),
            run_seconds: TRIGGERS.map(|trigger| one(&run_seconds, "trigger", trigger)),
            starts_failed,
            events: CHANNELS.map(|channel| one(&events, "channel", channel)),
            dropped,
            committed: one(&commits, "result", "committed"),
            refused: one(&commits, "result", "refused"),
            commit_seconds,
            attempts: ATTEMPTS.map(|after| one(&attempts, "after", after)),
            attempt_seconds,
            webhooks_disabled,
            done: by_chore(&done),
            failed: by_chore(&failed),
            registry,
        }
    }

    /// Everything counted.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// A run has ended.
    pub(crate) fn ran(&self, by: RunTrigger, ended: &Outcome) {
        self.runs[trigger(by)][outcome(ended)].inc();
    }

    /// A worker was busy with a run for so long.
    pub(crate) fn worked(&self, by: RunTrigger, time: Duration) {
        self.run_seconds[trigger(by)].observe(time.as_secs_f64());
    }

    /// No worker could be started for a run, which has to wait.
    pub(crate) fn not_started(&self) {
        self.starts_failed.inc();
    }

    /// The store has the commit.
    pub(crate) fn committed(&self, tally: &Tally) {
        self.committed.inc();
        for (counter, count) in self.events.iter().zip(tally.events) {
            counter.inc_by(count);
        }
        self.dropped.inc_by(tally.dropped);
    }

    /// The store would not have the commit.
    pub(crate) fn refused(&self) {
        self.refused.inc();
    }

    /// The store answered a batch of commits after so long.
    pub(crate) fn answered(&self, time: Duration) {
        self.commit_seconds.observe(time.as_secs_f64());
    }

    /// An attempt to deliver has ended.
    pub(crate) fn attempted(&self, after: AfterAttempt, time: Duration) {
        self.attempts[attempt(after)].inc();
        self.attempt_seconds.observe(time.as_secs_f64());
    }

    /// A webhook was given up.
    pub(crate) fn disabled_webhook(&self) {
        self.webhooks_disabled.inc();
    }

    /// A step of background work has done so many items.
    pub(crate) fn done(&self, chore: Chore, items: u64) {
        self.done[chore as usize].inc_by(items);
    }

    /// The store failed a step of background work.
    pub(crate) fn failed(&self, chore: Chore) {
        self.failed[chore as usize].inc();
    }
}

/// A counter without labels.
fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

/// A histogram of times.
fn seconds(registry: &mut Registry, name: &str, help: &str, bounds: &[f64]) -> Histogram {
    let histogram = Histogram::new(bounds.iter().copied());
    registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
    histogram
}

/// A metric that many share, with its only label.
fn one<M: Clone, C: MetricConstructor<M>>(
    family: &Family<Label, M, C>,
    name: &'static str,
    value: &'static str,
) -> M {
    family.get_or_create_owned(&[(name, value)])
}

/// The trigger of a run, as metrics and logs call it.
pub(crate) fn trigger_name(by: RunTrigger) -> &'static str {
    TRIGGERS[trigger(by)]
}

/// The end of a run, as metrics and logs call it.
pub(crate) fn outcome_name(ended: &Outcome) -> &'static str {
    OUTCOMES[outcome(ended)]
}

fn trigger(trigger: RunTrigger) -> usize {
    match trigger {
        RunTrigger::Timer => 0,
        RunTrigger::Http => 1,
        RunTrigger::Manual => 2,
        RunTrigger::Event => 3,
        RunTrigger::Deploy | RunTrigger::Activate | RunTrigger::Deactivate => 4,
        RunTrigger::Email => 5,
        RunTrigger::Call => 6,
        RunTrigger::Replay => 7,
    }
}

fn attempt(after: AfterAttempt) -> usize {
    match after {
        AfterAttempt::Delivered => 0,
        AfterAttempt::RetryAt(_) => 1,
        AfterAttempt::Dead => 2,
    }
}

fn outcome(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Returned { .. } => 0,
        Outcome::Threw { .. } => 1,
        Outcome::LimitExceeded { limit, .. } => match limit {
            Limit::Wall => 2,
            Limit::Memory => 3,
            Limit::Output => 4,
        },
        Outcome::Lost { .. } => 5,
        Outcome::Cancelled { .. } => 6,
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text;

    use super::*;

    #[test]
    fn each_class_of_channel_has_the_name_at_its_code() {
        for (class, name) in [
            (ChannelClass::Ordinary, "ordinary"),
            (ChannelClass::Errors, "errors"),
            (ChannelClass::Logs, "logs"),
            (ChannelClass::Scheduled, "scheduled"),
        ] {
            assert_eq!(CHANNELS[usize::from(class.code())], name);
        }
    }

    #[test]
    fn what_has_never_happened_is_shown_as_zero() {
        let mut text = String::new();
        text::encode_registry(&mut text, &Metrics::new().registry).unwrap();
        for line in [
            r#"headwater_runs_total{trigger="hook",outcome="output_limit"} 0"#,
            r#"headwater_events_total{channel="scheduled"} 0"#,
            r#"headwater_delivery_attempts_total{after="dead"} 0"#,
            r#"headwater_background_items_total{chore="dispatch"} 0"#,
            "headwater_dedupe_drops_total 0",
            r#"headwater_run_duration_seconds_count{trigger="timer"} 0"#,
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
        }
    }
}
