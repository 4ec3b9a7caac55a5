//! The states of a workflow's runs, of their steps and of their waits.

use headwater_platform::{PlaceStatus, WaitKind, WorkflowRunStatus};
use maud::Markup;

use super::state::{Tone, state};

/// The status of a run in our word and in Pipedream's.
pub(crate) fn words(status: WorkflowRunStatus) -> (&'static str, &'static str) {
    match status {
        WorkflowRunStatus::Queued => ("queued", "queued"),
        WorkflowRunStatus::Running => ("running", "executing"),
        WorkflowRunStatus::Waiting => ("waiting", "paused"),
        WorkflowRunStatus::Succeeded => ("succeeded", "success"),
        WorkflowRunStatus::Failed => ("failed", "error"),
        WorkflowRunStatus::Cancelled => ("cancelled", "cancelled"),
    }
}

/// The status of either word.
pub(crate) fn parse(word: &str) -> Option<WorkflowRunStatus> {
    WorkflowRunStatus::ALL.into_iter().find(|status| {
        let (ours, theirs) = words(*status);
        word == ours || word == theirs
    })
}

/// The status of a run as a state.
pub(crate) fn of_run(status: WorkflowRunStatus) -> Markup {
    let tone = match status {
        WorkflowRunStatus::Queued | WorkflowRunStatus::Running => Tone::Busy,
        WorkflowRunStatus::Waiting => Tone::Warning,
        WorkflowRunStatus::Succeeded => Tone::Good,
        WorkflowRunStatus::Failed => Tone::Bad,
        WorkflowRunStatus::Cancelled => Tone::Quiet,
    };
    state(tone, words(status).0)
}

/// The status of a step or block as a state.
pub(crate) fn of_step(status: PlaceStatus) -> Markup {
    match status {
        PlaceStatus::Running => state(Tone::Busy, "running"),
        PlaceStatus::Waiting => state(Tone::Warning, "waiting"),
        PlaceStatus::Succeeded => state(Tone::Good, "succeeded"),
        PlaceStatus::Failed => state(Tone::Bad, "failed"),
        PlaceStatus::Skipped => state(Tone::Quiet, "skipped"),
        PlaceStatus::Cancelled => state(Tone::Quiet, "cancelled"),
    }
}

/// The reason of a wait.
pub(crate) fn wait(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Delay => "a delay",
        WaitKind::Suspend => "an answer, as its code asked",
        WaitKind::Rerun => "its next run, as its code asked",
        WaitKind::Retry => "the next try",
        WaitKind::Wait => "an answer",
        WaitKind::Call => "the end of another workflow's run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_words_name_a_status() {
        for status in WorkflowRunStatus::ALL {
            let (ours, theirs) = words(status);
            assert_eq!(parse(ours), Some(status));
            assert_eq!(parse(theirs), Some(status));
        }
        assert_eq!(parse("open"), None);
    }
}
