//! The chores that commits of runs give work to.

use headwater_store::{AfterRun, RunCommit};

use crate::chore::Chore;

/// The chores that may have work because of these commits: those of listeners, called workflows and callers, runs that wait, those who send.
pub(super) fn woken_by(batch: &[RunCommit]) -> Vec<Chore> {
    let progress = || batch.iter().filter_map(|commit| commit.progress.as_ref());
    let waits = |commit: &RunCommit| {
        let end = commit.invocation.as_ref();
        end.is_some_and(|end| matches!(end.then, AfterRun::Checkpoint { .. }))
    };
    let has_events = batch.iter().any(|commit| !commit.events.is_empty());
    let has_queued =
        progress().any(|progress| !progress.calls.is_empty() || !progress.resolves.is_empty());
    let has_sends = progress().any(|progress| !progress.sends.is_empty());
    [
        (has_events, Chore::Dispatch),
        (has_queued || batch.iter().any(waits), Chore::Queue),
        (has_sends, Chore::Sends),
    ]
    .into_iter()
    .filter_map(|(is_woken, chore)| is_woken.then_some(chore))
    .collect()
}
