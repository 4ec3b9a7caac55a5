//! Runs of all sources and workflows that a caller may see: finding them, counting them, and the last day by the hour.

use std::{collections::HashMap, str::FromStr, time::Duration};

use headwater_model::{
    id::{InvocationId, RunnableId, WorkspaceId},
    outcome::Limit,
    page::PageRequest,
};
use headwater_store::{
    EndedRun, FoundRun, ListedRun, RUNS_SEARCHED_MAX, RunCounts, RunHour, RunOutcome,
    RunSearchFilter, RunStates,
};

use crate::{
    caller::Caller, error::PlatformError, platform::Platform,
    use_cases::workflows::WorkflowRunSummary,
};

/// Hours that are told, the current one included.
const HOURS: u64 = 24;
const HOUR: Duration = Duration::from_secs(60 * 60);

/// A state of runs by which they are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It has not ended.
    Open,
    /// It went wrong in whatever way.
    Failed,
    /// It ended so.
    Ended(RunOutcome),
}

impl RunState {
    /// All of them with their words.
    pub const ALL: [(&str, Self); 10] = [
        ("open", Self::Open),
        ("failed", Self::Failed),
        ("succeeded", Self::Ended(RunOutcome::Returned)),
        ("cancelled", Self::Ended(RunOutcome::Cancelled)),
        ("threw", Self::Ended(RunOutcome::Threw)),
        (
            "wall_limit",
            Self::Ended(RunOutcome::LimitExceeded(Limit::Wall)),
        ),
        (
            "memory_limit",
            Self::Ended(RunOutcome::LimitExceeded(Limit::Memory)),
        ),
        (
            "output_limit",
            Self::Ended(RunOutcome::LimitExceeded(Limit::Output)),
        ),
        ("lost", Self::Ended(RunOutcome::Lost)),
        ("returned", Self::Ended(RunOutcome::Returned)),
    ];

    /// The states of runs to find.
    pub fn together(states: &[Self]) -> RunStates {
        let mut together = RunStates::default();
        for state in states {
            match state {
                Self::Open => together.open = true,
                Self::Failed => together.outcomes.extend(RunOutcome::WRONG),
                Self::Ended(outcome) => together.outcomes.push(*outcome),
            }
        }
        together
    }
}

/// A word that names no state.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a state of runs; give some of {words}, separated by commas", words = words())]
pub struct UnknownRunState(String);

fn words() -> String {
    let words = RunState::ALL.map(|(word, _)| format!("`{word}`"));
    words.join(", ")
}

impl FromStr for RunState {
    type Err = UnknownRunState;

    fn from_str(text: &str) -> Result<Self, UnknownRunState> {
        let mut all = Self::ALL.into_iter();
        let found = all.find_map(|(word, state)| (word == text).then_some(state));
        found.ok_or_else(|| UnknownRunState(text.to_owned()))
    }
}

/// A run in the list of all.
#[derive(Debug, Clone)]
pub struct RunEntry {
    /// The source or workflow.
    pub runnable: RunnableId,
    /// Its name.
    pub name: String,
    /// The run.
    pub run: WorkflowRunSummary,
    /// Its end, if it has ended.
    pub ended: Option<EndedRun>,
}

/// A page of the list of all runs.
#[derive(Debug, Clone)]
pub struct RunEntries {
    /// Newest first.
    pub items: Vec<RunEntry>,
    /// The place at which the search stopped because it had looked at [`RUNS_SEARCHED_MAX`].
    pub searched_to: Option<InvocationId>,
}

impl Platform {
    /// A page of runs, newest first, whether they have ended or not.
    ///
    /// # Errors
    /// `Invalid` for a range that is none, `NotFound` for a source or workflow that the caller may not see, and those of
    /// a workspace of which it is not a member.
    pub async fn find_runs(
        &self,
        caller: &Caller,
        filter: &RunSearchFilter,
        page: &PageRequest<InvocationId>,
    ) -> Result<RunEntries, PlatformError> {
        self.check_runs_filter(caller, filter).await?;
        let (store, now_ms) = (&self.core.store, self.core.env.now_ms());
        let viewer = caller.viewer();
        let found = store.find_runs(&viewer, filter, page, now_ms).await?;
        // Workflows are read once each, and only where the status of a run depends on it.
        let mut moments = HashMap::new();
        let mut items = Vec::with_capacity(found.items.len());
        for FoundRun { run, name } in found.items {
            items.push(match run {
                ListedRun::Open(open) => RunEntry {
                    run: self.open_run_among(&open, &mut moments).await?,
                    runnable: open.runnable,
                    name,
                    ended: None,
                },
                ListedRun::Ended(run) => RunEntry {
                    run: WorkflowRunSummary::of_ended(&run),
                    runnable: run.runnable,
                    name,
                    ended: Some(run.ended),
                },
            });
        }
        Ok(RunEntries {
            items,
            searched_to: found.searched_to,
        })
    }

    /// The runs by state, each counted up to [`RUNS_SEARCHED_MAX`].
    ///
    /// # Errors
    /// Those of [`Platform::find_runs`].
    pub async fn count_runs(
        &self,
        caller: &Caller,
        filter: &RunSearchFilter,
    ) -> Result<RunCounts, PlatformError> {
        self.check_runs_filter(caller, filter).await?;
        let (store, now_ms) = (&self.core.store, self.core.env.now_ms());
        let viewer = caller.viewer();
        let counts = store.count_runs(&viewer, filter, RUNS_SEARCHED_MAX, now_ms);
        Ok(counts.await?)
    }

    /// The runs of the last 24 UTC hours that have ended, hour by hour, oldest first; the last one is the current hour.
    /// Those of all that the caller may see, or of a workspace, whether their records are kept or not.
    ///
    /// # Errors
    /// Those of a workspace of which the caller is not a member.
    pub async fn run_hours(
        &self,
        caller: &Caller,
        workspace_id: Option<&WorkspaceId>,
    ) -> Result<Vec<RunHour>, PlatformError> {
        if let Some(id) = workspace_id {
            self.check_member(caller, id).await?;
        }
        let now_ms = self.core.env.now_ms();
        let since_ms = now_ms.minus(HOUR * (HOURS - 1) as u32);
        let viewer = caller.viewer();
        let told = self
            .core
            .store
            .run_hours(&viewer, workspace_id, since_ms, now_ms);
        let told = told.await?;
        let of_hour = |hour| {
            let found = told.iter().find(|told| told.hour == hour);
            found.copied().unwrap_or(RunHour {
                hour,
                ..RunHour::default()
            })
        };
        Ok((since_ms.hour()..=now_ms.hour()).map(of_hour).collect())
    }

    async fn check_runs_filter(
        &self,
        caller: &Caller,
        filter: &RunSearchFilter,
    ) -> Result<(), PlatformError> {
        if let (Some(since_ms), Some(until_ms)) = (filter.since_ms, filter.until_ms)
            && until_ms < since_ms
        {
            let reason = "`until` must not be before `since`";
            return Err(PlatformError::invalid("until", reason));
        }
        if let Some(id) = &filter.workspace_id {
            self.check_member(caller, id).await?;
        }
        match &filter.runnable {
            Some(RunnableId::Source(id)) => self.visible_source(caller, id).await.map(drop),
            Some(RunnableId::Workflow(id)) => self.visible_workflow(caller, id).await.map(drop),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_found_by_its_word_and_a_wrong_one_is_told_all() {
        for (word, state) in RunState::ALL {
            assert_eq!(word.parse::<RunState>().unwrap(), state);
        }
        let error = "sideways".parse::<RunState>().unwrap_err().to_string();
        assert!(
            error.contains("`sideways`") && error.contains("`wall_limit`"),
            "{error}"
        );
    }

    #[test]
    fn failures_are_all_but_those_that_somebody_wanted() {
        let states = RunState::together(&[RunState::Open, RunState::Failed]);
        assert!(states.open);
        assert!(!states.outcomes.contains(&RunOutcome::Cancelled));
        assert!(!states.outcomes.contains(&RunOutcome::Returned));
        assert_eq!(states.outcomes.len(), 5);
    }
}
