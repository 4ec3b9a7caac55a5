//! The commit of a run: all of its effects, or none. Usage and notes for trimming are added up and written
//! once per batch.

use std::collections::BTreeSet;

use headwater_model::id::RunnableId;
use headwater_store::{Conflict, KvWrite, Owner, RunCommit, StoreError};
use rusqlite::Connection;

use crate::{
    append::{self, Place},
    connection::{ExecutePrepared as _, failed},
    emitters, invocations,
    living::Living,
    run_records::{self, Ending},
    run_retention,
    usage::Spent,
    writer::savepoint,
};

/// Commits or refuses each of them on its own; stops at the first that could not be tried.
///
/// A refused commit writes nothing, so that all share one savepoint: each of their own would copy every page that they
/// change. Only after an error of the database each gets its own, so that it takes no other with it.
pub(crate) fn commit_all(
    connection: &Connection,
    living: &Living,
    commits: &[RunCommit],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let together = savepoint(connection, || {
        commit_each(connection, commits, |part| {
            refusable(commit(connection, living, part))
        })
    });
    match together {
        Err(_) if !connection.is_autocommit() => commit_each(connection, commits, |part| {
            Ok(savepoint(connection, || commit(connection, living, part)))
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
fn commit_each(
    connection: &Connection,
    commits: &[RunCommit],
    one: impl Fn(&RunCommit) -> Result<Result<Owner, StoreError>, StoreError>,
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
            _ => one(part)?.map(|owner| batch.add(owner, part)),
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
        batch.add(commit(connection, living, part)?, part);
    }
    batch.write(connection)
}

/// The writes that a batch's commits share.
#[derive(Default)]
struct Batch<'a> {
    spent: Spent,
    untrimmed: BTreeSet<(&'a str, u8)>,
    untrimmed_runs: BTreeSet<&'a str>,
}

impl<'a> Batch<'a> {
    fn add(&mut self, owner: Owner, commit: &'a RunCommit) {
        self.spent.add(owner, commit.usage, commit.now_ms);
        let id = commit.runnable().as_str();
        let classes = append::classes(&commit.events);
        self.untrimmed
            .extend(classes.into_iter().map(|class| (id, class)));
        if commit.ended.is_some() {
            self.untrimmed_runs.insert(id);
        }
    }

    fn write(self, connection: &Connection) -> Result<(), StoreError> {
        for (emitter, class) in self.untrimmed {
            append::note_untrimmed(connection, emitter, class)?;
        }
        for runnable in self.untrimmed_runs {
            run_retention::note_untrimmed(connection, runnable)?;
        }
        self.spent.write(connection)
    }
}

/// Commits one run and returns its owner. Refusals come before any write.
fn commit(
    connection: &Connection,
    living: &Living,
    commit: &RunCommit,
) -> Result<Owner, StoreError> {
    let id = commit.runnable().as_str();
    let emitter = emitters::held(connection, living, &commit.lease)?;
    let mut has_scheduled = commit.events.iter().any(|event| event.scheduled.is_some());
    if let Some(end) = &commit.invocation {
        has_scheduled |= invocations::end(connection, id, end, has_scheduled)?;
    }
    let mut last = emitter.last;
    if !commit.events.is_empty() || commit.dedupe.is_some() {
        let place = Place {
            emitter: id,
            last,
            run_id: Some(commit.run_id.as_str()),
        };
        last = append::insert(connection, &place, &commit.events, commit.now_ms)?;
        emitters::move_on(connection, id, last, commit.dedupe.as_ref())?;
    }
    write_key_values(connection, id, &commit.kv_writes)?;
    if let Some(ended) = &commit.ended {
        let of = Ending {
            id: &commit.run_id,
            runnable: id,
            last,
            has_scheduled,
        };
        run_records::insert(connection, &of, ended)?;
    }
    Ok(emitter.owner)
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
