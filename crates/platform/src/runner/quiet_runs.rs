//! Runs that leave nothing to be written but their record: custom responses of a busy source.
//!
//! A record costs a run as much as everything else of it. So the first one is written at once, those that follow it
//! closely are written together, and of these only as many as retention would keep.

use std::{collections::BTreeMap, time::Duration};

use headwater_model::id::InvocationId;
use headwater_store::Usage;
use tokio::time::Instant;

use super::part::RunPart;

/// The pause between two writes of one source.
const PAUSE: Duration = Duration::from_millis(100);

/// The quiet runs of one source that are not written yet.
pub(super) struct QuietRuns {
    /// In the order in which retention keeps them: the newest have the greatest ids.
    parts: BTreeMap<InvocationId, RunPart>,
    /// As many as are written at most.
    keep: usize,
    /// The usage of those that are not written.
    left_out: Usage,
    /// Their number.
    unrecorded: u64,
    due: Instant,
}

impl QuietRuns {
    /// None yet. `keep` is the number of records that retention keeps.
    pub(super) fn new(keep: u32) -> Self {
        Self {
            parts: BTreeMap::new(),
            // The last one carries the usage.
            keep: keep.max(1) as usize,
            left_out: Usage::default(),
            unrecorded: 0,
            due: Instant::now(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Adds one, in the place of the oldest if there are too many.
    pub(super) fn push(&mut self, part: RunPart) {
        self.parts.insert(part.invocation_id.clone(), part);
        if self.parts.len() > self.keep
            && let Some((_, oldest)) = self.parts.pop_first()
        {
            self.left_out.add(oldest.usage);
            self.unrecorded += 1;
        }
    }

    /// Makes them due at once.
    pub(super) fn hurry(&mut self) {
        self.due = Instant::now();
    }

    /// Waits until they are due; forever if there are none.
    pub(super) async fn due(&self) {
        match self.is_empty() {
            true => std::future::pending().await,
            false => tokio::time::sleep_until(self.due).await,
        }
    }

    /// Takes them out if they are due.
    pub(super) fn take_due(&mut self) -> Vec<RunPart> {
        if self.due > Instant::now() || self.is_empty() {
            return Vec::new();
        }
        self.due = Instant::now() + PAUSE;
        let mut taken: Vec<RunPart> = std::mem::take(&mut self.parts).into_values().collect();
        if let Some(first) = taken.first_mut() {
            first.usage.add(std::mem::take(&mut self.left_out));
            first.unrecorded = std::mem::take(&mut self.unrecorded);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use headwater_model::{id::InvocationId, origin::Origin, outcome::Outcome, time::EpochMs};
    use headwater_store::RunTrigger;

    use super::*;

    fn quiet(number: u64) -> RunPart {
        let part = RunPart {
            outcome: Some(Outcome::Returned { value: None }),
            usage: Usage {
                invocations: 1,
                compute_ms: number,
            },
            ..RunPart::begun(
                RunTrigger::Http,
                InvocationId::new(EpochMs(number), 0),
                Origin::default(),
                EpochMs(1),
            )
        };
        assert!(part.is_quiet());
        part
    }

    fn numbers(runs: &[RunPart]) -> Vec<InvocationId> {
        runs.iter().map(|run| run.invocation_id.clone()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_is_due_at_once_and_the_next_ones_together() {
        let mut runs = QuietRuns::new(10);
        assert!(runs.due().now_or_never().is_none(), "there are none");
        runs.push(quiet(1));
        runs.due().await;
        assert_eq!(runs.take_due().len(), 1);
        runs.push(quiet(2));
        runs.push(quiet(3));
        assert!(runs.due().now_or_never().is_none() && runs.take_due().is_empty());
        runs.due().await;
        let taken = runs.take_due();
        assert_eq!(
            numbers(&taken),
            [
                InvocationId::new(EpochMs(2), 0),
                InvocationId::new(EpochMs(3), 0)
            ]
        );
        assert!(runs.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn of_many_only_as_many_are_written_as_are_kept_and_all_are_counted() {
        let mut runs = QuietRuns::new(2);
        // Not in the order in which they came: a slow run does not take the place of a newer one.
        for number in [2, 4, 3, 1] {
            runs.push(quiet(number));
        }
        let taken = runs.take_due();
        assert_eq!(
            numbers(&taken),
            [
                InvocationId::new(EpochMs(3), 0),
                InvocationId::new(EpochMs(4), 0)
            ]
        );
        let mut usage = Usage::default();
        taken.iter().for_each(|run| usage.add(run.usage));
        assert_eq!(
            usage,
            Usage {
                invocations: 4,
                compute_ms: 10
            }
        );
        assert_eq!(taken[0].unrecorded + taken[1].unrecorded, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn runs_in_a_hurry_do_not_wait() {
        let mut runs = QuietRuns::new(2);
        runs.push(quiet(1));
        runs.take_due();
        runs.push(quiet(2));
        runs.hurry();
        assert_eq!(runs.take_due().len(), 1);
    }
}
