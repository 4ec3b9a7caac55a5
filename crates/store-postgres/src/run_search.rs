//! Searching runs across sources and workflows: the arms are walked together in the order of ids, and only so far.

mod arms;

use async_trait::async_trait;
use headwater_model::{
    id::{InvocationId, WorkspaceId},
    page::{PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{
    CappedCount, FoundRun, FoundRuns, ListedRun, RUNS_SEARCHED_MAX, RunCounts, RunHour, RunOutcome,
    RunSearch, RunSearchFilter, RunStates, StoreError, Viewer,
};

use self::arms::{Looked, Scope};
use crate::{
    connection::Connection,
    run_hours, run_places, run_records,
    store::PostgresStore,
    walk::{Direction, Walk},
};

/// Digits of an id, all of them random, that are not told of another tenant's run.
const HIDDEN_DIGITS: usize = 8;

#[async_trait]
impl RunSearch for PostgresStore {
    async fn find_runs(
        &self,
        viewer: &Viewer,
        filter: &RunSearchFilter,
        page: &PageRequest<InvocationId>,
        now_ms: EpochMs,
    ) -> Result<FoundRuns, StoreError> {
        self.read(|connection| async move {
            let scope = Scope::of(&connection, viewer, filter, now_ms).await?;
            find(&connection, &scope, filter, page).await
        })
        .await
    }

    async fn count_runs(
        &self,
        viewer: &Viewer,
        filter: &RunSearchFilter,
        limit: u32,
        now_ms: EpochMs,
    ) -> Result<RunCounts, StoreError> {
        self.read(|connection| async move {
            let scope = Scope::of(&connection, viewer, filter, now_ms).await?;
            count(&connection, &scope, filter, limit as usize).await
        })
        .await
    }

    async fn run_hours(
        &self,
        viewer: &Viewer,
        workspace_id: Option<&WorkspaceId>,
        since_ms: EpochMs,
        until_ms: EpochMs,
    ) -> Result<Vec<RunHour>, StoreError> {
        self.read(|connection| async move {
            let span = (since_ms, until_ms);
            run_hours::between(&connection, viewer, workspace_id, span).await
        })
        .await
    }
}

async fn find(
    connection: &Connection,
    scope: &Scope,
    filter: &RunSearchFilter,
    page: &PageRequest<InvocationId>,
) -> Result<FoundRuns, StoreError> {
    let (direction, after, before) = match &page.position {
        Position::First => (Direction::Newest, &*scope.after, &*scope.before),
        Position::After(id) => {
            let before = id.as_str().min(&scope.before);
            (Direction::Newest, &*scope.after, before)
        }
        Position::Before(id) => {
            let after = id.as_str().max(&scope.after);
            (Direction::Oldest, after, &*scope.before)
        }
    };
    let between = (after, before);
    let arms = scope
        .arms(connection, filter.states.as_ref(), between)
        .await?;
    let mut walk = Walk::begin(connection, arms, direction, between).await?;
    let (mut found, mut searched, mut searched_to) = (Vec::new(), 0, None);
    while found.len() < page.limit as usize {
        let Some(looked) = walk.next(connection).await? else {
            break;
        };
        searched += 1;
        if looked.matches {
            found.push(looked.clone());
        }
        if searched == RUNS_SEARCHED_MAX && !walk.is_over() {
            searched_to = Some(stop_of(&looked, direction)?);
            break;
        }
    }
    if direction == Direction::Oldest {
        found.reverse();
    }
    let mut items = Vec::with_capacity(found.len());
    for looked in &found {
        items.extend(item(connection, scope, looked).await?);
    }
    Ok(FoundRuns { items, searched_to })
}

/// The place of the last run that was looked at. That of another tenant is not told: the place is then just before it in
/// the direction of the walk, so near that no other run is between the two.
fn stop_of(looked: &Looked, direction: Direction) -> Result<InvocationId, StoreError> {
    let mut id = looked.id.clone();
    if !looked.is_visible {
        let last = match direction {
            Direction::Newest => "z",
            Direction::Oldest => "0",
        };
        id.truncate(id.len().saturating_sub(HIDDEN_DIGITS));
        id.push_str(&last.repeat(HIDDEN_DIGITS));
    }
    let id = id.parse();
    id.map_err(|error| StoreError::Corrupt(format!("the id of a run: {error}")))
}

async fn item(
    connection: &Connection,
    scope: &Scope,
    looked: &Looked,
) -> Result<Option<FoundRun>, StoreError> {
    let run = match looked.is_open {
        true => run_places::open_run(connection, &looked.id)
            .await?
            .map(|run| ListedRun::Open(run.into())),
        false => run_records::by_id(connection, &looked.id)
            .await?
            .map(|run| ListedRun::Ended(run.into())),
    };
    Ok(run.map(|run| {
        let runnable = match &run {
            ListedRun::Open(run) => &run.runnable,
            ListedRun::Ended(run) => &run.runnable,
        };
        let name = scope.names.get(runnable.as_str()).cloned();
        FoundRun {
            name: name.unwrap_or_default(),
            run,
        }
    }))
}

async fn count(
    connection: &Connection,
    scope: &Scope,
    filter: &RunSearchFilter,
    limit: usize,
) -> Result<RunCounts, StoreError> {
    let wanted = filter.states.as_ref();
    let of = async |outcomes: &[RunOutcome]| {
        let outcomes = outcomes.iter().copied();
        let outcomes = outcomes
            .filter(|one| wanted.is_none_or(|wanted| wanted.outcomes.contains(one)))
            .collect();
        let states = RunStates {
            open: false,
            outcomes,
        };
        match states.outcomes.is_empty() {
            true => Ok(CappedCount::default()),
            false => scope.count(connection, &states, limit).await,
        }
    };
    let open = match wanted.is_none_or(|wanted| wanted.open) {
        true => scope.count_open(connection, limit).await?,
        false => CappedCount::default(),
    };
    Ok(RunCounts {
        open,
        succeeded: of(&[RunOutcome::Returned]).await?,
        failed: of(&RunOutcome::WRONG).await?,
        cancelled: of(&[RunOutcome::Cancelled]).await?,
    })
}
