//! The commit of a run: all of its effects, or none. Its emitter's row, usage and notes for trimming are kept in
//! memory and written once per batch.

use std::collections::BTreeSet;

use headwater_model::{
    dedupe,
    id::{EventId, RunnableId},
};
use headwater_store::{Conflict, KvWrite, Owner, RunCommit, RunnableLease, StoreError, classes_of};

use crate::{
    append::{self, Place},
    connection::{Connection, failed, is_overtaken, savepoint},
    counted_events::Change,
    emitters::{self, Emitter, Moved},
    invocations, run_places,
    run_records::{self, Ending},
    run_retention,
    usage::Spent,
};

/// Commits or refuses each of them on its own; stops at the first that could not be tried.
///
/// A refused commit writes nothing, so that all share one savepoint: each of their own would take two more statements.
/// Only after an error of the database each gets its own, so that it takes no other with it; the rows that they
/// share are written at the end, for all.
pub(crate) async fn commit_all(
    connection: &Connection,
    commits: &[RunCommit],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    // Boxed: a future of all that a commit does is large.
    let each = |manner| Box::pin(commit_each(connection, commits, manner));
    let together = savepoint(connection, each(Manner::Together)).await;
    match together {
        Err(error) if !is_overtaken(&error) => each(Manner::Apart).await,
        together => together,
    }
}

/// The savepoints of commits: one of all of them, or one of each.
#[derive(Clone, Copy)]
enum Manner {
    Together,
    Apart,
}

/// Treats a refusal as a result. Every other error ends the attempt.
fn refusable<T>(committed: Result<T, StoreError>) -> Result<Result<T, StoreError>, StoreError> {
    match committed {
        Ok(committed) => Ok(Ok(committed)),
        Err(StoreError::Conflict(conflict)) => Ok(Err(conflict.into())),
        Err(error) => Err(error),
    }
}

/// One result per commit.
async fn commit_each(
    connection: &Connection,
    commits: &[RunCommit],
    manner: Manner,
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
            _ => match manner {
                Manner::Together => refusable(batch.commit(connection, part).await)?,
                Manner::Apart => savepoint(connection, batch.commit(connection, part)).await,
            },
        };
        if part.dedupe.is_some() && matches!(result, Err(StoreError::Conflict(_))) {
            ahead.push(part.runnable());
        }
        results.push(result);
    }
    batch.write(connection).await?;
    Ok(results)
}

/// Commits all of them as part of the caller's step.
pub(crate) async fn commit_together(
    connection: &Connection,
    commits: &[RunCommit],
) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    for part in commits {
        batch.commit(connection, part).await?;
    }
    batch.write(connection).await
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
    async fn commit(
        &mut self,
        connection: &Connection,
        commit: &'a RunCommit,
    ) -> Result<(), StoreError> {
        let id = commit.runnable().as_str();
        let place = self.held(connection, &commit.lease).await?;
        let held = &mut self.emitters[place];
        let mut has_scheduled = commit.events.iter().any(|event| event.scheduled.is_some());
        let mut caused_by = None;
        if let Some(end) = &commit.invocation {
            let origins = invocations::end(connection, id, end, has_scheduled).await?;
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
            last = append::insert(connection, &place, &commit.events, commit.now_ms).await?;
        }
        write_key_values(connection, id, &commit.kv_writes).await?;
        if let Some(progress) = &commit.progress {
            let of = (&commit.run_id, commit.runnable());
            run_places::write(connection, of, &held.owner, progress, commit.now_ms).await?;
        }
        if let Some(ended) = &commit.ended {
            let of = Ending {
                id: &commit.run_id,
                runnable: id,
                caused_by: caused_by.as_ref(),
                last,
                has_scheduled,
            };
            if run_records::insert(connection, &of, ended).await? {
                self.spent.count_run(&held.owner, ended, commit.unrecorded);
            }
            let details = commit.progress.as_ref();
            if let Some(details) = details.and_then(|progress| progress.details.as_ref()) {
                run_places::write_details(connection, commit.run_id.as_str(), details).await?;
            }
        }
        held.has_moved |= !commit.events.is_empty() || commit.dedupe.is_some();
        held.events.append(&commit.events);
        held.last = last;
        held.dedupe = commit.dedupe.as_ref().or(held.dedupe);
        self.spent.add(&held.owner, commit.usage, commit.now_ms);
        let classes = classes_of(&commit.events).into_iter();
        self.untrimmed.extend(classes.map(|class| (id, class)));
        if commit.ended.is_some() {
            self.untrimmed_runs.insert(id);
        }
        Ok(())
    }

    /// The place of the lease's emitter, if the lease is the current one.
    async fn held(
        &mut self,
        connection: &Connection,
        lease: &'a RunnableLease,
    ) -> Result<usize, StoreError> {
        let mut known = self.emitters.iter();
        if let Some(place) = known.position(|held| held.lease == lease) {
            return Ok(place);
        }
        let Emitter { owner, last, .. } = emitters::held(connection, lease).await?;
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

    async fn write(self, connection: &Connection) -> Result<(), StoreError> {
        for held in self.emitters.iter().filter(|held| held.has_moved) {
            let id = held.lease.runnable.as_str();
            let moved = Moved {
                last: held.last,
                dedupe: held.dedupe,
                events: &held.events,
            };
            emitters::move_on(connection, id, &moved).await?;
        }
        for (emitter, class) in self.untrimmed {
            append::note_untrimmed(connection, emitter, class).await?;
        }
        for runnable in self.untrimmed_runs {
            run_retention::note_untrimmed(connection, runnable).await?;
        }
        self.spent.write(connection).await
    }
}

async fn write_key_values(
    connection: &Connection,
    id: &str,
    writes: &[KvWrite],
) -> Result<(), StoreError> {
    for write in writes {
        let done = match &write.value {
            Some(value) => {
                connection
                    .execute(
                        "INSERT INTO key_values (runnable_id, key, value) VALUES ($1, $2, $3)
                     ON CONFLICT (runnable_id, hash_of(key)) DO UPDATE SET value = $3",
                        &[&id, &write.key, &value.get()],
                    )
                    .await
            }
            None => {
                connection
                    .execute(
                        "DELETE FROM key_values WHERE runnable_id = $1 AND hash_of(key) = hash_of($2) AND key = $2",
                        &[&id, &write.key],
                    )
                    .await
            }
        };
        done.map_err(failed("writing a key"))?;
    }
    Ok(())
}
