//! The commit of a run: all of its effects, or none. Its emitter's row, usage and notes for trimming are kept in
//! memory and written once per batch.

use std::collections::BTreeSet;

use headwater_model::{
    dedupe,
    id::{EventId, RunnableId},
};
use headwater_store::{Conflict, KvWrite, Owner, RunCommit, RunnableLease, StoreError, classes_of};
use rusqlite::Connection;

use crate::{
    append::{self, Place},
    connection::{ExecutePrepared as _, failed},
    counted_events::Change,
    emitters::{self, Emitter, Moved},
    invocations,
    living::Living,
    run_places,
    run_records::{self, Ending},
    run_retention,
    usage::Spent,
    writer::savepoint,
};

/// Commits or refuses each of them on its own; stops at the first that could not be tried.
///
/// A refused commit writes nothing, so that all share one savepoint: each of their own would copy every page that they
/// change. Only after an error of the database each gets its own, so that it takes no other with it; the rows that they
/// share are written at the end, for all.
pub(crate) fn commit_all(
    connection: &Connection,
    living: &Living,
    commits: &[RunCommit],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let together = savepoint(connection, || {
        commit_each(connection, commits, |batch, part| {
            refusable(batch.commit(connection, living, part))
        })
    });
    match together {
        Err(_) if !connection.is_autocommit() => commit_each(connection, commits, |batch, part| {
            Ok(savepoint(connection, || {
                batch.commit(connection, living, part)
            }))
        }),
        together => together,
    }
}

/// Treats a refusal as a result. Every other error ends the attempt.
fn refusable<T>(committed: Result<T, StoreError>) -> Result<Result<T, StoreError>, StoreError> {
    match committed {
        Ok(committed) => Ok(Ok(committed)),
        Err(StoreError::Conflict(conflict)) => Ok(Err(conflict.into())),
        Err(error) => Err(error),
    }
}

/// One result per commit, each of which `one` commits.
fn commit_each<'a>(
    connection: &Connection,
    commits: &'a [RunCommit],
    one: impl Fn(&mut Batch<'a>, &'a RunCommit) -> Result<Result<(), StoreError>, StoreError>,
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let mut batch = Batch::default();
    let mut results = Vec::with_capacity(commits.len());
    // Later dedupe states of these count events that were not appended.
    let mut ahead: Vec<&RunnableId> = Vec::new();
    for part in commits {
        let result = match results.last() {
            Some(Err(StoreError::Unavailable { .. })) => Err(StoreError::unavailable(
                "committing runs",
                "an earlier commit could not be tried",
            )),
            _ if part.dedupe.is_some() && ahead.contains(&part.runnable()) => {
                Err(Conflict::Behind.into())
            }
            _ => one(&mut batch, part)?,
        };
        if part.dedupe.is_some() && matches!(result, Err(StoreError::Conflict(_))) {
            ahead.push(part.runnable());
        }
        results.push(result);
    }
    batch.write(connection)?;
    Ok(results)
}

/// Commits all of them as part of the caller's step.
pub(crate) fn commit_together(
    connection: &Connection,
    living: &Living,
    commits: &[RunCommit],
) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    for part in commits {
        batch.commit(connection, living, part)?;
    }
    batch.write(connection)
}

/// The writes that a batch's commits share.
#[derive(Default)]
struct Batch<'a> {
    /// Those under the leases of the commits so far; few, as most batches are of one.
    emitters: Vec<Held<'a>>,
    spent: Spent,
    untrimmed: BTreeSet<(&'a str, u8)>,
    untrimmed_runs: BTreeSet<&'a str>,
}

/// An emitter whose lease is the current one: nothing else writes to it within the batch.
struct Held<'a> {
    lease: &'a RunnableLease,
    owner: Owner,
    last: Option<EventId>,
    dedupe: Option<&'a dedupe::State>,
    events: Change,
    has_moved: bool,
}

impl<'a> Batch<'a> {
    /// Commits one run. Refusals come before any write.
    fn commit(
        &mut self,
        connection: &Connection,
        living: &Living,
        commit: &'a RunCommit,
    ) -> Result<(), StoreError> {
        let id = commit.runnable().as_str();
        let place = self.held(connection, living, &commit.lease)?;
        let held = &mut self.emitters[place];
        let mut has_scheduled = commit.events.iter().any(|event| event.scheduled.is_some());
        let mut caused_by = None;
        if let Some(end) = &commit.invocation {
            let origins = invocations::end(connection, id, end, has_scheduled)?;
            has_scheduled |= origins.had_scheduled;
            caused_by = origins.caused_by;
        }
        let mut last = held.last;
        if !commit.events.is_empty() {
            let place = Place {
                emitter: id,
                last,
                run_id: Some(commit.run_id.as_str()),
            };
            last = append::insert(connection, &place, &commit.events, commit.now_ms)?;
        }
        write_key_values(connection, id, &commit.kv_writes)?;
        if let Some(progress) = &commit.progress {
            let of = (&commit.run_id, commit.runnable());
            run_places::write(connection, of, &held.owner, progress, commit.now_ms)?;
        }
        if let Some(ended) = &commit.ended {
            let of = Ending {
                id: &commit.run_id,
                runnable: id,
                caused_by: caused_by.as_ref(),
                last,
                has_scheduled,
            };
            if run_records::insert(connection, &of, ended)? {
                self.spent.count_run(&held.owner, ended, commit.unrecorded);
            }
            let details = commit.progress.as_ref();
            if let Some(details) = details.and_then(|progress| progress.details.as_ref()) {
                run_places::write_details(connection, commit.run_id.as_str(), details)?;
            }
        }
        held.has_moved |= !commit.events.is_empty() || commit.dedupe.is_some();
        held.events.append(&commit.events);
        held.last = last;
        held.dedupe = commit.dedupe.as_ref().or(held.dedupe);
        self.spent
            .add_run((&held.owner, id), commit.usage, commit.now_ms);
        let classes = classes_of(&commit.events).into_iter();
        self.untrimmed.extend(classes.map(|class| (id, class)));
        if commit.ended.is_some() {
            self.untrimmed_runs.insert(id);
        }
        Ok(())
    }

    /// The place of the lease's emitter, if the lease is the current one.
    fn held(
        &mut self,
        connection: &Connection,
        living: &Living,
        lease: &'a RunnableLease,
    ) -> Result<usize, StoreError> {
        let mut known = self.emitters.iter();
        if let Some(place) = known.position(|held| held.lease == lease) {
            return Ok(place);
        }
        let Emitter { owner, last, .. } = emitters::held(connection, living, lease)?;
        self.emitters.push(Held {
            lease,
            owner,
            last,
            dedupe: None,
            events: Change::default(),
            has_moved: false,
        });
        Ok(self.emitters.len() - 1)
    }

    fn write(self, connection: &Connection) -> Result<(), StoreError> {
        for held in self.emitters.iter().filter(|held| held.has_moved) {
            let id = held.lease.runnable.as_str();
            let moved = Moved {
                last: held.last,
                dedupe: held.dedupe,
                events: &held.events,
            };
            emitters::move_on(connection, id, &moved)?;
        }
        for (emitter, class) in self.untrimmed {
            append::note_untrimmed(connection, emitter, class)?;
        }
        for runnable in self.untrimmed_runs {
            run_retention::note_untrimmed(connection, runnable)?;
        }
        self.spent.write(connection)
    }
}

fn write_key_values(
    connection: &Connection,
    id: &str,
    writes: &[KvWrite],
) -> Result<(), StoreError> {
    for write in writes {
        let done = match &write.value {
            Some(value) => connection.execute_prepared(
                "INSERT INTO key_values (runnable_id, key, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET value = ?3",
                [id, &write.key, value.get()],
            ),
            None => connection.execute_prepared(
                "DELETE FROM key_values WHERE runnable_id = ? AND key = ?",
                [id, &write.key],
            ),
        };
        done.map_err(failed("writing a key"))?;
    }
    Ok(())
}
