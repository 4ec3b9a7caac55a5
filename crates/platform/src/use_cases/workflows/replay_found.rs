//! Replays of all runs that a filter finds, up to a bound.

use std::sync::Arc;

use headwater_model::{
    id::{InvocationId, RunnableId},
    limits::PAGE_LIMIT_MAX,
    page::{PageRequest, Position},
};
use headwater_store::RunSearchFilter;

use super::RunReplay;
use crate::{
    caller::Caller, error::PlatformError, platform::Platform, use_cases::run_search::RunEntry,
};

/// Runs that one request replays: the newest that the filter finds.
pub const REPLAYED_RUNS_MAX: usize = 1_000;
/// Pages of runs that are looked at for one request.
const PAGES_MAX: usize = 100;
/// Refusals that are told one by one.
const TOLD_MAX: usize = 20;

/// The runs to replay.
#[derive(Debug, Clone, Default)]
pub struct ReplayFoundRuns {
    /// The filter. Of what it finds, runs of workflows that have ended are replayed.
    pub filter: RunSearchFilter,
    /// The run behind which to go on.
    pub after: Option<InvocationId>,
    /// Whether each follows the deployment of its run, not the workflow's current one.
    pub is_same: bool,
    /// Whether only to count them.
    pub is_dry: bool,
}

/// The extent of a replay of what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundRunsReplayed {
    /// Runs of workflows that have ended.
    pub found: u64,
    /// Runs that the filter finds, too, and that cannot be replayed: of sources, and those that have not ended.
    pub others: u64,
    /// Runs that have begun again.
    pub replayed: u64,
    /// Runs that have not.
    pub refused: u64,
    /// The first of them with their reasons.
    pub reasons: Vec<(InvocationId, String)>,
    /// Runs that were not tried, because none would do better than the one before.
    pub untried: u64,
    /// The run to go on behind, if there may be more.
    pub next: Option<InvocationId>,
}

impl Platform {
    /// Replays what a filter finds whole, oldest first: the newest [`REPLAYED_RUNS_MAX`] runs, as
    /// [`Platform::replay_run`] does. Those that do not allow it are left and told. Goes on to its end if the caller goes
    /// away.
    ///
    /// # Errors
    /// Those of [`Platform::find_runs`].
    pub async fn replay_found_runs(
        self: &Arc<Self>,
        caller: &Caller,
        request: &ReplayFoundRuns,
    ) -> Result<FoundRunsReplayed, PlatformError> {
        let (ids, all) = self.found_to_replay(caller, request).await?;
        if request.is_dry {
            return Ok(all);
        }
        let replay = RunReplay {
            from: None,
            is_same: request.is_same,
        };
        let (platform, caller) = (Arc::clone(self), caller.clone());
        let replayed = async move { Ok(platform.replay_all(&caller, (ids, all), &replay).await) };
        self.core.to_the_end(replayed).await
    }

    /// Replays runs, the last first.
    async fn replay_all(
        &self,
        caller: &Caller,
        (mut ids, mut all): (Vec<InvocationId>, FoundRunsReplayed),
        replay: &RunReplay,
    ) -> FoundRunsReplayed {
        ids.reverse();
        for (at, id) in ids.iter().enumerate() {
            let replayed = match self.core.stopping.is_cancelled() {
                true => Err(PlatformError::Unavailable(
                    "the node is stopping".to_owned(),
                )),
                false => self.replay_run(caller, id, replay).await.map(drop),
            };
            let Err(error) = replayed else {
                all.replayed += 1;
                continue;
            };
            all.refused += 1;
            if all.reasons.len() < TOLD_MAX {
                all.reasons.push((id.clone(), error.told()));
            }
            if is_for_all(&error) {
                all.untried = (ids.len() - at - 1) as u64;
                break;
            }
        }
        all
    }

    /// The runs that can be replayed, newest first, counted.
    async fn found_to_replay(
        &self,
        caller: &Caller,
        request: &ReplayFoundRuns,
    ) -> Result<(Vec<InvocationId>, FoundRunsReplayed), PlatformError> {
        let mut all = FoundRunsReplayed {
            next: request.after.clone(),
            ..FoundRunsReplayed::default()
        };
        let mut ids = Vec::new();
        for _ in 0..PAGES_MAX {
            let page = PageRequest {
                limit: PAGE_LIMIT_MAX,
                position: all.next.take().map_or(Position::First, Position::After),
            };
            let found = self.find_runs(caller, &request.filter, &page).await?;
            let is_full = found.items.len() >= PAGE_LIMIT_MAX as usize;
            let last = found.items.last().map(|entry| entry.run.id.clone());
            all.next = found.searched_to.or(last.filter(|_| is_full));
            for entry in found.items {
                if !can_be_replayed(&entry) {
                    all.others += 1;
                    continue;
                }
                let id = entry.run.id;
                ids.push(id.clone());
                if ids.len() >= REPLAYED_RUNS_MAX {
                    all.next = Some(id);
                    break;
                }
            }
            if all.next.is_none() || ids.len() >= REPLAYED_RUNS_MAX {
                break;
            }
        }
        all.found = ids.len() as u64;
        Ok((ids, all))
    }
}

/// Whether a run can be done again from its event: one of a workflow that has ended. Runs of sources keep none.
fn can_be_replayed(entry: &RunEntry) -> bool {
    let is_of_workflow = matches!(entry.runnable, RunnableId::Workflow(_));
    is_of_workflow && entry.run.ended_at_ms.is_some()
}

/// Whether no other run would do better.
fn is_for_all(error: &PlatformError) -> bool {
    matches!(
        error,
        PlatformError::QuotaExceeded { .. }
            | PlatformError::Unavailable(_)
            | PlatformError::Internal(_)
    )
}
