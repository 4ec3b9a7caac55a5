//! The commit of runs: of each all of its effects, or none. However many they are, and of however many runnables, each table
//! takes one statement, and statements that need nothing of each other are sent together.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures::try_join;
use headwater_model::{
    dedupe,
    id::{EventId, RunnableId},
};
use headwater_store::{
    AfterRun, Conflict, Lease, RunCommit, RunnableLease, StoreError, classes_of,
};

use crate::{
    append::{self, Appended},
    connection::Connection,
    counted_events::Change,
    emitters::{self, Locked, Moved},
    invocations::{self, Ended, GoingOn},
    key_writes,
    run_progress::{self, Advanced},
    run_records::{self, Ending},
    run_retention,
    usage::Spent,
};

/// Commits or refuses each of them on its own. The transaction has its turn to append to the log.
pub(crate) async fn commit_all(
    connection: &Connection,
    commits: &[&RunCommit],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let leases: BTreeMap<_, _> = commits
        .iter()
        .map(|commit| (key_of(&commit.lease), &commit.lease))
        .collect();
    let leases: Vec<&RunnableLease> = leases.into_values().collect();
    let ends: Vec<_> = commits
        .iter()
        .filter_map(|commit| ended_by(commit))
        .collect();
    let ended = commits.iter().filter(|commit| may_be_recorded(commit));
    let ended: Vec<&str> = ended.map(|commit| commit.run_id.as_str()).collect();
    let (locked, leased, recorded) = try_join!(
        Locked::of(connection, &leases),
        invocations::leased(connection, &ends),
        run_records::recorded(connection, &ended),
    )?;
    let mut batch = Batch {
        locked: &locked,
        leased,
        recorded,
        emitters: BTreeMap::new(),
        events: Vec::new(),
        ended: Vec::new(),
        runs: Vec::new(),
        spent: Spent::default(),
    };
    let mut order = Order::default();
    let mut results = Vec::with_capacity(commits.len());
    for wave in waves(commits) {
        let gone_on = go_on(connection, &locked, &order, wave).await?;
        for commit in wave {
            let taken = order.check(commit);
            let result = refusable(taken.and_then(|()| batch.take(commit, &gone_on)))?;
            order.note(commit, &result);
            results.push(result);
        }
    }
    let taken = commits.iter().zip(&results);
    let taken: Vec<&RunCommit> = taken
        .filter(|(_, result)| result.is_ok())
        .map(|(commit, _)| *commit)
        .collect();
    // Boxed: a future of all that commits write is large.
    Box::pin(batch.write(connection, &taken)).await?;
    Ok(results)
}

/// Commits all of them as part of the caller's step.
pub(crate) async fn commit_together(
    connection: &Connection,
    commits: &[RunCommit],
) -> Result<(), StoreError> {
    let commits: Vec<&RunCommit> = commits.iter().collect();
    // Boxed: a future of all that a commit does is large.
    let results = Box::pin(commit_all(connection, &commits)).await?;
    results.into_iter().collect()
}

fn key_of(lease: &RunnableLease) -> (&str, u64, u64) {
    (lease.runnable.as_str(), lease.epoch.0, lease.fence)
}

/// Splits the commits where one has to see the effects of those before it: at a second one of a run, and at one with a dedupe
/// state.
fn waves<'a, 'c>(commits: &'c [&'a RunCommit]) -> impl Iterator<Item = &'c [&'a RunCommit]> {
    let mut seen = HashSet::new();
    commits.chunk_by(move |before, commit| {
        seen.insert(&before.run_id);
        let is_independent = seen.insert(&commit.run_id) && commit.dedupe.is_none();
        if !is_independent {
            seen.clear();
        }
        is_independent
    })
}

/// Writes the states of the invocations of a wave that go on, and returns the ids of those whose leases hold.
async fn go_on(
    connection: &Connection,
    locked: &Locked,
    order: &Order<'_>,
    wave: &[&RunCommit],
) -> Result<HashSet<String>, StoreError> {
    let may =
        |commit: &&&RunCommit| order.check(commit).is_ok() && locked.under(&commit.lease).is_ok();
    let going_on = wave
        .iter()
        .filter(may)
        .filter_map(|commit| going_on(commit));
    let going_on: Vec<GoingOn<'_>> = going_on.collect();
    invocations::go_on(connection, &going_on).await
}

/// The invocation that goes on after a commit, if any.
fn going_on(commit: &RunCommit) -> Option<GoingOn<'_>> {
    let end = commit.invocation.as_ref()?;
    let (state, due_at_ms) = match &end.then {
        AfterRun::Ended => return None,
        AfterRun::GoesOn { state } => (state, None),
        AfterRun::Checkpoint { state, due_at_ms } => (state, Some(*due_at_ms)),
    };
    Some(GoingOn {
        runnable: commit.runnable().as_str(),
        lease: &end.lease,
        state,
        due_at_ms,
        has_scheduled: has_scheduled(commit),
    })
}

fn has_scheduled(commit: &RunCommit) -> bool {
    commit.events.iter().any(|event| event.scheduled.is_some())
}

/// Whether the run that a commit ends may have a record. One of a source has none as long as its invocation is there: the one is
/// written as the other is deleted.
fn may_be_recorded(commit: &RunCommit) -> bool {
    let is_of_source = matches!(commit.runnable(), RunnableId::Source(_));
    commit.ended.is_some() && !(is_of_source && ended_by(commit).is_some())
}

/// The invocation that a commit ends, if any.
fn ended_by(commit: &RunCommit) -> Option<(&str, &Lease)> {
    let end = commit.invocation.as_ref()?;
    matches!(end.then, AfterRun::Ended).then(|| (commit.runnable().as_str(), &end.lease))
}

/// Treats a refusal as a result. Every other error ends the attempt.
fn refusable<T>(committed: Result<T, StoreError>) -> Result<Result<T, StoreError>, StoreError> {
    match committed {
        Ok(committed) => Ok(Ok(committed)),
        Err(StoreError::Conflict(conflict)) => Ok(Err(conflict.into())),
        Err(error) => Err(error),
    }
}

/// The order of each runnable's commits: a later one is not committed where one before it should have been.
#[derive(Default)]
pub(crate) struct Order<'a> {
    /// Later dedupe states of these count events that were not appended.
    refused: Vec<&'a RunnableId>,
    untried: Vec<&'a RunnableId>,
}

impl<'a> Order<'a> {
    pub(crate) fn check(&self, commit: &RunCommit) -> Result<(), StoreError> {
        let runnable = commit.runnable();
        if self.untried.contains(&runnable) {
            let message = "an earlier commit could not be tried";
            return Err(StoreError::unavailable("committing runs", message));
        }
        match commit.dedupe.is_some() && self.refused.contains(&runnable) {
            true => Err(Conflict::Behind.into()),
            false => Ok(()),
        }
    }

    pub(crate) fn note(&mut self, commit: &'a RunCommit, result: &Result<(), StoreError>) {
        match result {
            Err(StoreError::Unavailable { .. }) => self.untried.push(commit.runnable()),
            Err(StoreError::Conflict(_)) if commit.dedupe.is_some() => {
                self.refused.push(commit.runnable());
            }
            Err(_) | Ok(()) => {}
        }
    }
}

/// The writes of commits.
struct Batch<'a> {
    locked: &'a Locked,
    /// The invocations that commits end, by id.
    leased: HashMap<String, Ended>,
    /// Runs that have records.
    recorded: HashSet<String>,
    emitters: BTreeMap<&'a str, Held<'a>>,
    events: Vec<Appended<'a>>,
    ended: Vec<Ended>,
    runs: Vec<Ending<'a>>,
    spent: Spent,
}

/// An emitter under its current lease.
struct Held<'a> {
    last: Option<EventId>,
    dedupe: Option<&'a dedupe::State>,
    events: Change,
    has_moved: bool,
}

impl<'a> Batch<'a> {
    /// Takes one commit, or refuses it. `gone_on`: the invocations of its wave that go on.
    fn take(&mut self, commit: &'a RunCommit, gone_on: &HashSet<String>) -> Result<(), StoreError> {
        let emitter = self.locked.under(&commit.lease)?;
        let id = commit.runnable().as_str();
        let mut has_scheduled = has_scheduled(commit);
        let mut caused_by = None;
        if let Some(end) = &commit.invocation {
            let is_leased = || gone_on.contains(end.lease.invocation_id.as_str());
            if ended_by(commit).is_none() && !is_leased() {
                return Err(Conflict::LeaseLost.into());
            }
            if let Some(leased) = self.leased.get_mut(end.lease.invocation_id.as_str()) {
                leased.had_scheduled |= has_scheduled;
            }
        }
        if let Some((_, lease)) = ended_by(commit) {
            let ended = self.leased.remove(lease.invocation_id.as_str());
            let ended = ended.ok_or(Conflict::LeaseLost)?;
            has_scheduled |= ended.had_scheduled;
            caused_by.clone_from(&ended.caused_by);
            self.ended.push(ended);
        }
        let held = self.emitters.entry(id).or_insert_with(|| Held {
            last: emitter.last,
            dedupe: None,
            events: Change::default(),
            has_moved: false,
        });
        let run = commit.run_id.as_str();
        let place = (id, &mut held.last);
        let events = append::placed(place, Some(run), &commit.events, commit.now_ms);
        self.events.extend(events);
        held.has_moved |= !commit.events.is_empty() || commit.dedupe.is_some();
        held.events.append(&commit.events);
        held.dedupe = commit.dedupe.as_ref().or(held.dedupe);
        if let Some(ended) = &commit.ended
            && self.recorded.insert(run.to_owned())
        {
            self.spent
                .count_run(&emitter.owner, ended, commit.unrecorded);
            self.runs.push(Ending {
                id: &commit.run_id,
                runnable: id,
                ended,
                caused_by,
                last: held.last,
                has_scheduled,
            });
        }
        self.spent
            .add_run((&emitter.owner, id), commit.usage, commit.now_ms);
        Ok(())
    }

    /// Writes everything of the commits that were taken.
    async fn write(
        self,
        connection: &Connection,
        taken: &[&'a RunCommit],
    ) -> Result<(), StoreError> {
        let Self {
            locked,
            emitters,
            events,
            ended,
            runs,
            spent,
            ..
        } = self;
        let classes = taken.iter().flat_map(|commit| {
            let classes = classes_of(&commit.events).into_iter();
            classes.map(|class| (commit.runnable().as_str(), class))
        });
        let untrimmed: BTreeSet<_> = classes.collect();
        let untrimmed: Vec<_> = untrimmed.into_iter().collect();
        let with_runs: BTreeSet<_> = runs.iter().map(|run| run.runnable).collect();
        let with_runs: Vec<_> = with_runs.into_iter().collect();
        let moved = emitters.into_iter().filter(|(_, held)| held.has_moved);
        let moved = moved.map(|(emitter, held)| Moved {
            emitter,
            last: held.last,
            dedupe: held.dedupe,
            events: held.events,
        });
        let moved: Vec<_> = moved.collect();
        let mut advanced = Vec::new();
        for commit in taken {
            let owner = &locked.under(&commit.lease)?.owner;
            advanced.extend(Advanced::by(commit, owner));
        }
        try_join!(
            invocations::delete(connection, &ended),
            append::insert(connection, &events),
            emitters::move_on(connection, &moved),
            key_writes::all(connection, taken),
            run_records::insert(connection, &runs),
            append::note_untrimmed(connection, &untrimmed),
            run_retention::note_untrimmed(connection, &with_runs),
            spent.write(connection),
            run_progress::write_values(connection, &advanced),
        )?;
        run_progress::write_effects(connection, &advanced).await
    }
}
