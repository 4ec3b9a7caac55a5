//! The rows of invocations: queued, given back, ended or left with a checkpoint; `invocation_claims` leases them.

use headwater_model::{event::EventRef, id::RunnableId, time::EpochMs};
use headwater_store::{
    AfterRun, Conflict, Entity, InvocationEnd, Lease, LeaseTerm, NewInvocation, NodeEpoch,
    RunnableLease, SourceState, StoreError, Taken, WorkflowState,
};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::value::RawValue;

use crate::{
    connection::{ExecutePrepared as _, failed, is_taken},
    emitters, event_row,
    living::{Living, as_json},
    queued_events,
    row::{get, moment, name_of, named, parsed, signed, unsigned},
    waiting_runs, workflow_state,
};

/// An invocation that may be claimed: it is not leased, or its lease has expired.
pub(crate) const FREE: &str = "(lease_epoch IS NULL OR lease_expires_at_ms <= ?1)";

/// A run of a workflow that goes on, or begins, while the workflow is inactive: its triggers are off, and nothing else.
pub(crate) const WHILE_INACTIVE: &str =
    "(invocations.state IS NOT NULL OR invocations.trigger IN ('manual', 'replay'))";

pub(crate) fn enqueue(
    connection: &Connection,
    living: &Living,
    invocation: &NewInvocation,
    lease: Option<&(RunnableLease, LeaseTerm)>,
) -> Result<Option<Lease>, StoreError> {
    check_takes(connection, invocation)?;
    let term = match lease {
        Some((lease, term)) if lease.runnable == invocation.runnable => {
            let is_held = is_held(connection, living, lease)? && lease.epoch == term.epoch;
            let is_due = invocation.due_at_ms <= invocation.now_ms;
            (is_held && is_due).then_some(*term)
        }
        _ => None,
    };
    let id = invocation.runnable.as_str();
    let failed = failed("queueing an invocation");
    let trigger = name_of(&invocation.trigger)?;
    connection
        .execute_prepared(
            "INSERT INTO invocations (id, runnable_id, trigger, event, hops, queued_at_ms, lease_epoch,
                                      lease_expires_at_ms, attempt, request_id, traceparent, due_at_ms, timer_prop,
                                      state)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                invocation.id.as_str(),
                id,
                trigger,
                invocation.event.get(),
                invocation.hops,
                signed(invocation.now_ms),
                term.map(|term| signed(term.epoch.0)),
                term.map(|term| signed(term.expires_at_ms)),
                u32::from(term.is_some()),
                invocation.origin.request_id(),
                invocation.origin.trace.as_ref().map(ToString::to_string),
                signed(invocation.due_at_ms),
                invocation.via,
                invocation.state.as_ref().map(|state| state.get()),
            ],
        )
        .map_err(|error| match is_taken(&error) {
            true => Conflict::Taken(Taken::Invocation(invocation.id.clone())).into(),
            false => failed(error),
        })?;
    Ok(term.map(|term| Lease {
        invocation_id: invocation.id.clone(),
        epoch: term.epoch,
        attempt: 1,
    }))
}

fn check_takes(connection: &Connection, invocation: &NewInvocation) -> Result<(), StoreError> {
    let runnable = &invocation.runnable;
    if let RunnableId::Workflow(id) = runnable {
        return match workflow_state::state(connection, id.as_str())? {
            None | Some(WorkflowState::Deleting) => Err(emitters::gone(runnable)),
            Some(WorkflowState::Inactive) if !invocation.trigger.is_by_hand() => {
                Err(Conflict::Inactive(Entity::Runnable(runnable.clone())).into())
            }
            Some(WorkflowState::Active | WorkflowState::Inactive) => {
                match waiting_runs::has_room(connection, id.as_str())? {
                    true => Ok(()),
                    false => Err(Conflict::QueueFull(Entity::Runnable(runnable.clone())).into()),
                }
            }
        };
    }
    let state: Option<String> = connection
        .prepare_cached("SELECT state FROM sources WHERE id = ?")
        .and_then(|mut statement| {
            let state = statement.query_row([runnable.as_str()], |row| row.get(0));
            state.optional()
        })
        .map_err(failed("queueing an invocation"))?;
    match state.as_deref().map(named).transpose()? {
        None | Some(SourceState::Deleting) => Err(emitters::gone(runnable)),
        Some(SourceState::Inactive) => {
            Err(Conflict::Inactive(Entity::Runnable(runnable.clone())).into())
        }
        Some(SourceState::Active | SourceState::Deploying | SourceState::Updating) => Ok(()),
    }
}

fn is_held(
    connection: &Connection,
    living: &Living,
    lease: &RunnableLease,
) -> Result<bool, StoreError> {
    match emitters::held(connection, living, lease) {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Skips from runnable to runnable through the index, without reading the rest of each one's queue.
pub(crate) fn runnables_with_work(
    connection: &Connection,
    epoch: NodeEpoch,
    others: &[NodeEpoch],
    now_ms: EpochMs,
    after: &str,
    limit: u32,
) -> Result<Vec<RunnableId>, StoreError> {
    let failed = failed("looking for work");
    // An invocation that a dead node holds is free as soon as its runnable is taken over.
    let mut statement = connection
        .prepare_cached(&format!(
            "WITH RECURSIVE waiting (runnable) AS (
                 SELECT min(runnable_id) FROM invocations WHERE runnable_id > ?2
                 UNION ALL
                 SELECT (SELECT min(runnable_id) FROM invocations WHERE runnable_id > runnable)
                 FROM waiting WHERE runnable IS NOT NULL)
             SELECT runnable FROM waiting CROSS JOIN emitters ON emitter_id = runnable
                                          LEFT JOIN sources ON sources.id = runnable
                                          LEFT JOIN workflows ON workflows.id = runnable
             WHERE coalesce(sources.state, workflows.state) IN ('active', 'updating', 'deploying', 'inactive')
               AND (sources.state IS NULL OR sources.state <> 'inactive')
               AND (emitters.lease_epoch IS NULL
                    OR emitters.lease_epoch NOT IN (SELECT value FROM json_each(?4)))
               AND EXISTS (SELECT 1 FROM invocations
                           WHERE runnable_id = runnable AND due_at_ms <= ?1
                             AND (workflows.state IS NOT 'inactive' OR {WHILE_INACTIVE})
                             AND ({FREE} OR lease_epoch NOT IN (SELECT value FROM json_each(?5))))
             LIMIT ?3"
        ))
        .map_err(&failed)?;
    let living: Vec<NodeEpoch> = others.iter().copied().chain([epoch]).collect();
    let parameters = params![
        signed(now_ms),
        after,
        limit,
        as_json(others),
        as_json(&living)
    ];
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(parsed(row, "runnable")?);
    }
    Ok(found)
}

/// Prolongs a lease, if it still holds.
pub(crate) fn extend(
    connection: &Connection,
    lease: &Lease,
    expires_at_ms: EpochMs,
) -> Result<(), StoreError> {
    update(
        connection,
        lease,
        "SET lease_expires_at_ms = ?4",
        Some(expires_at_ms),
    )
}

/// Gives a lease back, if it still holds.
pub(crate) fn release(
    connection: &Connection,
    lease: &Lease,
    due_at_ms: Option<EpochMs>,
) -> Result<(), StoreError> {
    let free = "SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + 1,
                    due_at_ms = coalesce(?4, due_at_ms)";
    update(connection, lease, free, due_at_ms)
}

/// Changes an invocation if the lease still holds; `?4` is `value`.
fn update(
    connection: &Connection,
    lease: &Lease,
    set: &str,
    value: Option<EpochMs>,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            &format!(
                "UPDATE invocations {set} WHERE id = ?1 AND lease_epoch = ?2 AND attempt = ?3"
            ),
            params![
                lease.invocation_id.as_str(),
                signed(lease.epoch.0),
                lease.attempt,
                value.map(signed)
            ],
        )
        .map_err(failed("changing a lease"))
        .map(drop)
}

/// The part of an invocation that its run's record goes on with.
#[derive(Default)]
pub(crate) struct Origins {
    /// Whether its run had emitted scheduled events before its last commit.
    pub(crate) had_scheduled: bool,
    /// The event that it was queued for.
    pub(crate) caused_by: Option<EventRef>,
}

/// Ends an invocation, or writes its checkpoint.
pub(crate) fn end(
    connection: &Connection,
    runnable: &str,
    end: &InvocationEnd,
    has_scheduled: bool,
) -> Result<Origins, StoreError> {
    match &end.then {
        AfterRun::Ended => match delete(connection, runnable, &end.lease)? {
            true => Ok(Origins::default()),
            false => delete_counted(connection, runnable, &end.lease),
        },
        AfterRun::GoesOn { state } => {
            match note(connection, runnable, &end.lease, state, has_scheduled)? {
                true => Ok(Origins::default()),
                false => Err(Conflict::LeaseLost.into()),
            }
        }
        AfterRun::Checkpoint { state, due_at_ms } => {
            let lease = &end.lease;
            match leave(
                connection,
                runnable,
                lease,
                state,
                *due_at_ms,
                has_scheduled,
            )? {
                true => Ok(Origins::default()),
                false => Err(Conflict::LeaseLost.into()),
            }
        }
    }
}

/// Deletes an invocation if the lease still holds. Not one that an event queued, nor one whose run had emitted
/// scheduled events: those take more than this one statement.
fn delete(connection: &Connection, runnable: &str, lease: &Lease) -> Result<bool, StoreError> {
    let deleted = connection
        .execute_prepared(
            "DELETE FROM invocations
             WHERE id = ? AND lease_epoch = ? AND attempt = ? AND runnable_id = ? AND owner_id IS NULL
               AND NOT has_scheduled",
            params![
                lease.invocation_id.as_str(),
                signed(lease.epoch.0),
                lease.attempt,
                runnable
            ],
        )
        .map_err(failed("ending an invocation"))?;
    Ok(deleted > 0)
}

/// Deletes any invocation if the lease still holds.
fn delete_counted(
    connection: &Connection,
    runnable: &str,
    lease: &Lease,
) -> Result<Origins, StoreError> {
    let failed = failed("ending an invocation");
    let mut statement = connection
        .prepare_cached(
            "SELECT position, has_scheduled, owner_id, octet_length(event) AS bytes, cause_emitter_id, cause_ms,
                    cause_sequence
             FROM invocations
             WHERE id = ? AND lease_epoch = ? AND attempt = ? AND runnable_id = ?",
        )
        .map_err(&failed)?;
    let epoch = signed(lease.epoch.0);
    let id = lease.invocation_id.as_str();
    let mut rows = statement
        .query(params![id, epoch, lease.attempt, runnable])
        .map_err(&failed)?;
    let row = rows.next().map_err(&failed)?.ok_or(Conflict::LeaseLost)?;
    let position: i64 = get(row, "position")?;
    let origins = Origins {
        had_scheduled: get(row, "has_scheduled")?,
        caused_by: event_row::cause(row)?,
    };
    if let Some(owner) = get::<Option<String>>(row, "owner_id")? {
        queued_events::remove(connection, &owner, unsigned(row, "bytes")?)?;
    }
    drop(rows);
    connection
        .execute_prepared("DELETE FROM invocations WHERE position = ?", [position])
        .map_err(&failed)?;
    Ok(origins)
}

/// Writes the state of an invocation that goes on, if the lease still holds. It counts as begun once from here.
fn note(
    connection: &Connection,
    runnable: &str,
    lease: &Lease,
    state: &RawValue,
    has_scheduled: bool,
) -> Result<bool, StoreError> {
    let noted = connection
        .execute_prepared(
            "UPDATE invocations
             SET state = ?5, has_scheduled = (has_scheduled OR ?6), given_back = attempt - 1, has_begun = TRUE
             WHERE id = ?1 AND lease_epoch = ?2 AND attempt = ?3 AND runnable_id = ?4",
            params![
                lease.invocation_id.as_str(),
                signed(lease.epoch.0),
                lease.attempt,
                runnable,
                state.get(),
                has_scheduled
            ],
        )
        .map_err(failed("noting the state of an invocation"))?;
    Ok(noted > 0)
}

/// Writes an invocation's checkpoint, with the time it becomes due, if the lease still holds. With an answer to one of
/// its waits that came meanwhile it is due at once.
fn leave(
    connection: &Connection,
    runnable: &str,
    lease: &Lease,
    state: &RawValue,
    due_at_ms: EpochMs,
    has_scheduled: bool,
) -> Result<bool, StoreError> {
    let left = connection
        .execute_prepared(
            "UPDATE invocations
             SET state = ?5, has_scheduled = (has_scheduled OR ?7), given_back = attempt, has_begun = TRUE,
                 lease_epoch = NULL, lease_expires_at_ms = NULL,
                 due_at_ms = CASE WHEN EXISTS (SELECT 1 FROM run_resolutions WHERE run_id = ?1 AND NOT is_applied)
                                  THEN 0 ELSE ?6 END
             WHERE id = ?1 AND lease_epoch = ?2 AND attempt = ?3 AND runnable_id = ?4",
            params![
                lease.invocation_id.as_str(),
                signed(lease.epoch.0),
                lease.attempt,
                runnable,
                state.get(),
                signed(due_at_ms),
                has_scheduled
            ],
        )
        .map_err(failed("leaving an invocation"))?;
    Ok(left > 0)
}

/// The due time of the next invocation that is not due yet.
pub(crate) fn next_due(
    connection: &Connection,
    after_ms: EpochMs,
) -> Result<Option<EpochMs>, StoreError> {
    let next: Option<i64> = connection
        .prepare_cached(
            "SELECT min(due_at_ms) FROM invocations INDEXED BY invocations_waiting
             WHERE due_at_ms > 0 AND due_at_ms > ?",
        )
        .and_then(|mut statement| statement.query_row([signed(after_ms)], |row| row.get(0)))
        .map_err(failed("looking for invocations that wait"))?;
    Ok(next.map(moment))
}
