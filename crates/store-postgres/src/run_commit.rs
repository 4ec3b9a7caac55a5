//! The commit of runs: of each all of its effects, or none. However many they are, and of however many runnables, each table
//! takes one statement, and statements that need nothing of each other are sent together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::try_join;
use headwater_model::{
    dedupe,
    id::{EventId, RunnableId},
};
use headwater_store::{
    AfterRun, Conflict, Lease, Owner, RunCommit, RunnableLease, StoreError, classes_of,
};

use crate::{
    append::{self, Appended},
    connection::Connection,
    counted_events::Change,
    emitters::{self, Locked, Moved},
    invocations::{self, Ended},
    key_writes, run_places,
    run_records::{self, Ending},
    run_retention,
    usage::Spent,
};

/// Commits or refuses each of them on its own. The transaction has its turn to append to the log, if any of them appends.
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
    let (locked, leased) = try_join!(
        Locked::of(connection, &leases),
        invocations::leased(connection, &ends)
    )?;
    let mut batch = Batch {
        locked: &locked,
        leased,
        emitters: BTreeMap::new(),
        events: Vec::new(),
        ended: Vec::new(),
        runs: Vec::new(),
        spent: Spent::default(),
    };
    let mut order = Order::default();
    let mut results = Vec::with_capacity(commits.len());
    for commit in commits {
        let taken = match order.check(commit) {
            Ok(()) => batch.take(connection, commit).await,
            Err(error) => Err(error),
        };
        let result = refusable(taken)?;
        order.note(commit, &result);
        results.push(result);
    }
    let taken = commits.iter().zip(&results);
    let taken: Vec<&RunCommit> = taken
        .filter(|(_, result)| result.is_ok())
        .map(|(commit, _)| *commit)
        .collect();
    batch.write(connection, &taken).await?;
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
    emitters: BTreeMap<&'a str, Held<'a>>,
    events: Vec<Appended<'a>>,
    ended: Vec<Ended>,
    runs: Vec<(Ending<'a>, &'a RunCommit)>,
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
    /// Takes one commit. Refusals come before any write.
    async fn take(
        &mut self,
        connection: &Connection,
        commit: &'a RunCommit,
    ) -> Result<(), StoreError> {
        let emitter = self.locked.under(&commit.lease)?;
        let id = commit.runnable().as_str();
        let mut has_scheduled = commit.events.iter().any(|event| event.scheduled.is_some());
        let mut caused_by = None;
        if let Some(end) = &commit.invocation {
            invocations::go_on(connection, id, end, has_scheduled).await?;
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
        let run_id = Some(commit.run_id.as_str());
        let place = (id, &mut held.last);
        self.events
            .extend(append::placed(place, run_id, &commit.events, commit.now_ms));
        held.has_moved |= !commit.events.is_empty() || commit.dedupe.is_some();
        held.events.append(&commit.events);
        held.dedupe = commit.dedupe.as_ref().or(held.dedupe);
        if let Some(ended) = &commit.ended {
            let ending = Ending {
                id: &commit.run_id,
                runnable: id,
                ended,
                caused_by,
                last: held.last,
                has_scheduled,
            };
            self.runs.push((ending, commit));
        }
        self.spent.add(&emitter.owner, commit.usage, commit.now_ms);
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
            mut spent,
            ..
        } = self;
        let classes = taken.iter().flat_map(|commit| {
            let classes = classes_of(&commit.events).into_iter();
            classes.map(|class| (commit.runnable().as_str(), class))
        });
        let untrimmed: BTreeSet<_> = classes.collect();
        let untrimmed: Vec<_> = untrimmed.into_iter().collect();
        let with_runs: BTreeSet<_> = runs.iter().map(|(run, _)| run.runnable).collect();
        let with_runs: Vec<_> = with_runs.into_iter().collect();
        let moved = emitters.into_iter().filter(|(_, held)| held.has_moved);
        let moved = moved.map(|(emitter, held)| Moved {
            emitter,
            last: held.last,
            dedupe: held.dedupe,
            events: held.events,
        });
        let moved: Vec<_> = moved.collect();
        let (runs, of): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
        let (_, _, _, _, mut recorded, _, _) = try_join!(
            invocations::delete(connection, &ended),
            append::insert(connection, &events),
            emitters::move_on(connection, &moved),
            key_writes::all(connection, taken),
            run_records::insert(connection, &runs),
            append::note_untrimmed(connection, &untrimmed),
            run_retention::note_untrimmed(connection, &with_runs),
        )?;
        for (run, commit) in runs.iter().zip(of) {
            if recorded.remove(run.id.as_str()) {
                let owner = &locked.under(&commit.lease)?.owner;
                spent.count_run(owner, run.ended, commit.unrecorded);
            }
        }
        for commit in taken {
            let owner = &locked.under(&commit.lease)?.owner;
            write_progress(connection, owner, commit).await?;
        }
        spent.write(connection).await
    }
}

/// Writes what a commit does to a run of a workflow.
async fn write_progress(
    connection: &Connection,
    owner: &Owner,
    commit: &RunCommit,
) -> Result<(), StoreError> {
    let Some(progress) = &commit.progress else {
        return Ok(());
    };
    let of = (&commit.run_id, commit.runnable());
    run_places::write(connection, of, owner, progress, commit.now_ms).await?;
    match (&commit.ended, &progress.details) {
        (Some(_), Some(details)) => {
            run_places::write_details(connection, commit.run_id.as_str(), details).await
        }
        _ => Ok(()),
    }
}
