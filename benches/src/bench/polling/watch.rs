//! A fleet during one period: from outside, by the polls that arrive and by what the system knows of its processes.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::schedule::{LATE_SECONDS, PERIOD};
use crate::{polled::Polled, process::Process, report::mib, statistics::quantile};

/// Between two looks at the memory.
const LOOK: Duration = Duration::from_secs(10);
/// For the ticks of the period's end to arrive.
const GRACE: Duration = Duration::from_secs(10);

/// A period of a fleet.
pub(super) struct Seen {
    /// Of all its processes.
    pub(super) cpu_seconds: f64,
    /// Polls that arrived within it.
    pub(super) polls: usize,
    /// Seconds between each tick and its poll.
    pub(super) late: Vec<f64>,
    /// Ticks without a poll.
    pub(super) missed: usize,
    /// The most of all looks, of all processes.
    pub(super) bytes: u64,
    pub(super) processes: usize,
}

impl Seen {
    /// Milliseconds of processor time.
    pub(super) fn poll_ms(&self) -> f64 {
        self.cpu_seconds * 1e3 / self.polls.max(1) as f64
    }

    /// The part of two processors, in percent.
    pub(super) fn share(&self) -> f64 {
        self.cpu_seconds / PERIOD.as_secs_f64() / 2.0 * 100.0
    }

    pub(super) fn mib(&self) -> f64 {
        mib(self.bytes)
    }

    /// Ticks that were later than [`LATE_SECONDS`], or never came.
    pub(super) fn too_late(&self) -> usize {
        let late = self.late.iter().filter(|late| **late > LATE_SECONDS);
        late.count() + self.missed
    }

    pub(super) fn times(&self) -> String {
        let [p50, p99, most] = [0.5, 0.99, 1.0].map(|part| quantile(&self.late, part) * 1e3);
        format!("p50 {p50:.0} p99 {p99:.0} ms, {most:.0} at most")
    }
}

/// Watches for one period; `due` has a moment at which each poller was due, from which all others follow.
pub(super) async fn watch(
    process: &Process,
    polled: &Polled,
    due: &HashMap<usize, Instant>,
) -> Result<Seen> {
    let begun = Instant::now();
    let cpu = process.cpu_seconds();
    let (mut bytes, mut processes) = (0, 0);
    for look in 1..=PERIOD.as_secs() / LOOK.as_secs() {
        tokio::time::sleep_until((begun + LOOK * look as u32).into()).await;
        bytes = process.proportional_bytes()?.max(bytes);
        processes = process.tree().len().max(processes);
    }
    let cpu_seconds = process.cpu_seconds() - cpu;
    let ended = Instant::now();
    tokio::time::sleep(GRACE).await;
    let polls = polled.take();
    let none = Vec::new();
    let of = |poller: &usize| polls.get(poller).unwrap_or(&none);
    let late: Vec<f64> = due
        .iter()
        .filter_map(|(poller, due)| lateness(*due, of(poller), begun))
        .collect();
    let within = |at: &&Instant| (begun..ended).contains(at);
    Ok(Seen {
        cpu_seconds,
        polls: polls.values().flatten().filter(within).count(),
        missed: due.len() - late.len(),
        late,
        bytes,
        processes,
    })
}

/// Seconds from the first tick after `begun` to its poll, which is the nearest; `None` if there is none.
fn lateness(due: Instant, polls: &[Instant], begun: Instant) -> Option<f64> {
    let periods = begun.saturating_duration_since(due).as_secs_f64() / PERIOD.as_secs_f64();
    let due = due + PERIOD * periods.ceil() as u32;
    let distances = polls.iter().map(|at| {
        let late = at.saturating_duration_since(due).as_secs_f64();
        late - due.saturating_duration_since(*at).as_secs_f64()
    });
    let nearest = distances.min_by(|one, other| one.abs().total_cmp(&other.abs()))?;
    (nearest.abs() < PERIOD.as_secs_f64() / 2.0).then_some(nearest.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_as_late_as_its_own_poll_and_missed_without_one() {
        let due = Instant::now();
        let at = |seconds: f64| due + Duration::from_secs_f64(seconds);
        let polls = [at(0.2), at(60.5), at(181.0)];
        let late = |begun| lateness(due, &polls, at(begun)).map(|late| (late * 10.0).round());
        assert_eq!(
            [late(1.0), late(61.0), late(121.0)],
            [Some(5.0), None, Some(10.0)]
        );
    }
}
