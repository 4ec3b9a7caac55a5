//! A fleet during one period: from outside, by the polls that arrive and by what the system knows of its processes.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::schedule::PERIOD;
use crate::{polled::Polled, process::Process};

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
