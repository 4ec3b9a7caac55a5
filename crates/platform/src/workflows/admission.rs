//! Admission: which runs may begin, by the concurrency and the throttle of their workflow (docs/guide/workflows.md,
//! "Limits of your own").
//!
//! A run has its place from its beginning to its end, its waits too. The one actor of a workflow admits, so that no two
//! runs can take the same place.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use headwater_model::{id::InvocationId, time::EpochMs};
use headwater_store::WorkflowBounds;
use headwater_workflow::definition::{Overflow, Settings};
use serde::{Deserialize, Serialize};

/// The values of a run's keys; runs of other values are counted apart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Keys {
    /// That of `concurrency`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) concurrency: String,
    /// That of `throttle`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) throttle: String,
}

/// The answer to a run that wants to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It begins.
    Begins,
    /// It waits for the end of another one.
    WaitsForAnother,
    /// It waits for this moment.
    WaitsUntil(EpochMs),
    /// None begins while a limit is 0.
    Paused,
}

/// The runs of a workflow that count against its limits.
#[derive(Debug, Default)]
pub(super) struct Admission {
    running: HashMap<String, HashSet<InvocationId>>,
    key_of: HashMap<InvocationId, String>,
    /// By throttle key, the number of the window and the runs that began in it.
    windows: HashMap<String, (u64, u32)>,
}

/// Whether runs wait for the limits of these settings.
pub(crate) fn is_limited(settings: &Settings) -> bool {
    settings.concurrency.is_some() || settings.throttle.is_some()
}

/// The bounds that the settings put on the work and the records of their workflow.
pub(crate) fn bounds(settings: &Settings) -> WorkflowBounds {
    let refuses = is_limited(settings) && settings.queue.overflow == Overflow::Reject;
    WorkflowBounds {
        waiting_runs: refuses.then_some(settings.queue.size),
        run_days: settings.retention.days,
    }
}

impl Admission {
    /// Lets a run begin if it may.
    pub(super) fn ask(
        &mut self,
        settings: &Settings,
        run: &InvocationId,
        keys: &Keys,
        now_ms: EpochMs,
    ) -> Verdict {
        if let Some(concurrency) = &settings.concurrency {
            let running = self.running.get(&keys.concurrency).map_or(0, HashSet::len);
            if concurrency.limit == 0 {
                return Verdict::Paused;
            }
            if running >= concurrency.limit as usize {
                return Verdict::WaitsForAnother;
            }
        }
        if let Some(throttle) = &settings.throttle {
            let window = window(now_ms, throttle.per);
            let begun = self
                .windows
                .get(&keys.throttle)
                .filter(|(number, _)| *number == window);
            if throttle.limit == 0 {
                return Verdict::Paused;
            }
            if begun.is_some_and(|(_, count)| *count >= throttle.limit) {
                return Verdict::WaitsUntil(EpochMs((window + 1) * millis(throttle.per)));
            }
        }
        self.begins(settings, run, keys, now_ms);
        Verdict::Begins
    }

    /// Counts a run that begins, or began before this node had the workflow.
    pub(super) fn begins(
        &mut self,
        settings: &Settings,
        run: &InvocationId,
        keys: &Keys,
        began_at_ms: EpochMs,
    ) {
        if settings.concurrency.is_some() {
            self.running
                .entry(keys.concurrency.clone())
                .or_default()
                .insert(run.clone());
            self.key_of.insert(run.clone(), keys.concurrency.clone());
        }
        if let Some(throttle) = &settings.throttle {
            self.count(&keys.throttle, window(began_at_ms, throttle.per));
        }
    }

    /// Counts a run that began in a window and has ended since.
    pub(super) fn began(&mut self, settings: &Settings, keys: &Keys, began_at_ms: EpochMs) {
        if let Some(throttle) = &settings.throttle {
            self.count(&keys.throttle, window(began_at_ms, throttle.per));
        }
    }

    fn count(&mut self, key: &str, window: u64) {
        self.windows.retain(|_, (number, _)| *number >= window);
        let (number, count) = self.windows.entry(key.to_owned()).or_insert((window, 0));
        if *number == window {
            *count += 1;
        }
    }

    /// Gives back the place of a run that has ended.
    pub(super) fn ended(&mut self, run: &InvocationId) {
        let Some(key) = self.key_of.remove(run) else {
            return;
        };
        if let Some(running) = self.running.get_mut(&key) {
            running.remove(run);
            if running.is_empty() {
                self.running.remove(&key);
            }
        }
    }
}

/// The beginning of the window that a moment is in.
pub(super) fn window_start(now_ms: EpochMs, per: Duration) -> EpochMs {
    EpochMs(window(now_ms, per) * millis(per))
}

fn window(now_ms: EpochMs, per: Duration) -> u64 {
    now_ms.0 / millis(per)
}

fn millis(per: Duration) -> u64 {
    u64::try_from(per.as_millis()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use headwater_workflow::definition::{Concurrency, Throttle};

    use super::*;

    fn run(number: u64) -> InvocationId {
        InvocationId::new(EpochMs(number), 0)
    }

    fn of_key(key: &str) -> Keys {
        Keys {
            concurrency: key.to_owned(),
            throttle: key.to_owned(),
        }
    }

    fn concurrency(limit: u32) -> Settings {
        Settings {
            concurrency: Some(Concurrency { limit, key: None }),
            ..Settings::default()
        }
    }

    fn throttle(limit: u32) -> Settings {
        let per = Duration::from_secs(10);
        Settings {
            throttle: Some(Throttle {
                limit,
                per,
                key: None,
            }),
            ..Settings::default()
        }
    }

    #[test]
    fn so_many_run_at_once_per_key() {
        let (mut admission, settings) = (Admission::default(), concurrency(2));
        let ask = |admission: &mut Admission, number, key: &str| {
            admission.ask(&settings, &run(number), &of_key(key), EpochMs(5))
        };
        assert_eq!(ask(&mut admission, 1, "a"), Verdict::Begins);
        assert_eq!(ask(&mut admission, 2, "a"), Verdict::Begins);
        assert_eq!(ask(&mut admission, 3, "a"), Verdict::WaitsForAnother);
        assert_eq!(ask(&mut admission, 4, "b"), Verdict::Begins);
        admission.ended(&run(1));
        admission.ended(&run(1));
        assert_eq!(ask(&mut admission, 3, "a"), Verdict::Begins);
        assert_eq!(ask(&mut admission, 5, "a"), Verdict::WaitsForAnother);
    }

    #[test]
    fn so_many_begin_within_a_window() {
        let (mut admission, settings) = (Admission::default(), throttle(2));
        let ask = |admission: &mut Admission, number, at| {
            admission.ask(&settings, &run(number), &of_key(""), EpochMs(at))
        };
        assert_eq!(ask(&mut admission, 1, 12_000), Verdict::Begins);
        admission.ended(&run(1));
        assert_eq!(ask(&mut admission, 2, 19_999), Verdict::Begins);
        assert_eq!(
            ask(&mut admission, 3, 19_999),
            Verdict::WaitsUntil(EpochMs(20_000))
        );
        assert_eq!(ask(&mut admission, 3, 20_000), Verdict::Begins);
    }

    #[test]
    fn runs_of_before_count() {
        let (mut admission, settings) = (Admission::default(), throttle(1));
        admission.began(&settings, &of_key("a"), EpochMs(11_000));
        assert_eq!(
            admission.ask(&settings, &run(1), &of_key("a"), EpochMs(12_000)),
            Verdict::WaitsUntil(EpochMs(20_000))
        );
        assert_eq!(
            admission.ask(&settings, &run(1), &of_key("b"), EpochMs(12_000)),
            Verdict::Begins
        );
        let (mut admission, settings) = (Admission::default(), concurrency(1));
        admission.begins(&settings, &run(1), &of_key("a"), EpochMs(1));
        assert_eq!(
            admission.ask(&settings, &run(2), &of_key("a"), EpochMs(2)),
            Verdict::WaitsForAnother
        );
    }

    #[test]
    fn a_limit_of_none_pauses() {
        for settings in [concurrency(0), throttle(0)] {
            let verdict =
                Admission::default().ask(&settings, &run(1), &Keys::default(), EpochMs(1));
            assert_eq!(verdict, Verdict::Paused);
        }
    }
}
