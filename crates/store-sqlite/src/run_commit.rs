//! The commit of a run: everything it leaves behind, or nothing. What commits of one batch write in common is added
//! up and written once.

use std::collections::BTreeSet;

use headwater_model::id::RunnableId;
use headwater_store::{Conflict, KvWrite, Lease, Owner, RunCommit, StoreError};
use rusqlite::{Connection, params};

use crate::{
    append, connection::failed, emitters, living::Living, row::signed, usage::Spent,
    writer::savepoint,
};

/// Commits each of them, or refuses it, on its own; nothing after one that could not be tried.
pub(crate) fn commit_all(
    connection: &Connection,
    living: &Living,
    commits: &[RunCommit],
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
            _ => savepoint(connection, || commit(connection, living, part))
                .map(|owner| batch.add(owner, part)),
        };
        if part.dedupe.is_some() && matches!(result, Err(StoreError::Conflict(_))) {
            ahead.push(part.runnable());
        }
        results.push(result);
    }
    batch.write(connection)?;
    Ok(results)
}

/// Commits all of them together with the step that they are part of.
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

/// The part of a batch's commits that is written once for all of them.
#[derive(Default)]
struct Batch<'a> {
    spent: Spent,
    untrimmed: BTreeSet<(&'a str, u8)>,
}

impl<'a> Batch<'a> {
    fn add(&mut self, owner: Owner, commit: &'a RunCommit) {
        self.spent.add(owner, commit.usage, commit.now_ms);
        let id = commit.runnable().as_str();
        let classes = append::classes(&commit.events);
        self.untrimmed
            .extend(classes.into_iter().map(|class| (id, class)));
    }

    fn write(self, connection: &Connection) -> Result<(), StoreError> {
        for (emitter, class) in self.untrimmed {
            append::note_untrimmed(connection, emitter, class)?;
        }
        self.spent.write(connection)
    }
}

/// Commits one run and tells whose it is. What can be refused is refused before anything is written.
fn commit(
    connection: &Connection,
    living: &Living,
    commit: &RunCommit,
) -> Result<Owner, StoreError> {
    let id = commit.runnable().as_str();
    let emitter = emitters::held(connection, living, &commit.lease)?;
    if let Some(lease) = &commit.invocation {
        end_invocation(connection, commit, lease)?;
    }
    if !commit.events.is_empty() || commit.dedupe.is_some() {
        let behind = (id, emitter.last);
        let last = append::insert(connection, behind, &commit.events, commit.now_ms)?;
        emitters::move_on(connection, id, last, commit.dedupe.as_ref())?;
    }
    write_key_values(connection, id, &commit.kv_writes)?;
    Ok(emitter.owner)
}

fn end_invocation(
    connection: &Connection,
    commit: &RunCommit,
    lease: &Lease,
) -> Result<(), StoreError> {
    let ended = connection
        .prepare_cached(
            "DELETE FROM invocations WHERE id = ? AND lease_epoch = ? AND attempt = ? AND runnable_id = ?",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                lease.invocation_id.as_str(),
                signed(lease.epoch.0),
                lease.attempt,
                commit.runnable().as_str()
            ])
        })
        .map_err(failed("ending an invocation"))?;
    match ended {
        0 => Err(Conflict::LeaseLost.into()),
        _ => Ok(()),
    }
}

fn write_key_values(
    connection: &Connection,
    id: &str,
    writes: &[KvWrite],
) -> Result<(), StoreError> {
    for write in writes {
        let done = match &write.value {
            Some(value) => connection
                .prepare_cached(
                    "INSERT INTO key_values (runnable_id, key, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET value = ?3",
                )
                .and_then(|mut statement| statement.execute([id, &write.key, value.get()])),
            None => connection
                .prepare_cached("DELETE FROM key_values WHERE runnable_id = ? AND key = ?")
                .and_then(|mut statement| statement.execute([id, &write.key])),
        };
        done.map_err(failed("writing a key"))?;
    }
    Ok(())
}
