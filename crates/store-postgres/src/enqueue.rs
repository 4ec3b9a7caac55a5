//! Queueing invocations: in their order, each refused on its own.

use std::collections::{BTreeMap, HashSet};

use futures::try_join;
use headwater_model::id::{RunnableId, WorkflowId};
use headwater_store::{
    Conflict, Entity, Lease, LeaseTerm, NewInvocation, RunnableLease, SourceState, StoreError,
    Taken, WorkflowState,
};

use crate::{
    connection::{Connection, failed},
    emitters::{self, Locked},
    row::{get, list, name_of, named, signed},
    waiting_runs, workflow_state,
};

/// An invocation to queue, and the lease of its runnable under which it is leased at once.
pub(crate) type Queued = (NewInvocation, Option<(RunnableLease, LeaseTerm)>);

/// Queues them, each leased if its lease is the current one and it is due; one result of each.
pub(crate) async fn all(
    connection: &Connection,
    jobs: &[Queued],
) -> Result<Vec<Result<Option<Lease>, StoreError>>, StoreError> {
    let leases = jobs.iter().filter_map(|(_, lease)| lease.as_ref());
    let leases: Vec<_> = leases.map(|(lease, _)| lease).collect();
    let (states, held) = try_join!(
        states(connection, jobs),
        Locked::leased(connection, &leases)
    )?;
    let mut refused = BTreeMap::new();
    let mut rows = Vec::with_capacity(jobs.len());
    for (place, job) in jobs.iter().enumerate() {
        match check_takes(connection, &job.0, &states).await {
            Ok(()) => rows.push((&job.0, term(job, &held))),
            Err(StoreError::Conflict(conflict)) => drop(refused.insert(place, conflict)),
            Err(error) => return Err(error),
        }
    }
    let mut queued = insert(connection, &rows).await?;
    let results = jobs.iter().enumerate().map(|(place, job)| {
        if let Some(conflict) = refused.remove(&place) {
            return Err(conflict.into());
        }
        let id = &job.0.id;
        match queued.take(id.as_str()) {
            Some(_) => Ok(lease_of(job, &held)),
            None => Err(Conflict::Taken(Taken::Invocation(id.clone())).into()),
        }
    });
    Ok(results.collect())
}

/// The states of the sources among the runnables, none of which changes before the step has ended.
async fn states(
    connection: &Connection,
    jobs: &[Queued],
) -> Result<BTreeMap<String, SourceState>, StoreError> {
    const STATES: &str = "SELECT id, state FROM sources WHERE id = ANY($1) ORDER BY id FOR SHARE";
    let ids = list(jobs, |(invocation, _)| invocation.runnable.as_str());
    let found = connection.query(STATES, &[&ids]).await;
    let found = found.map_err(failed("queueing invocations"))?;
    let found = found.iter();
    found
        .map(|row| Ok((get(row, "id")?, named(&get::<String>(row, "state")?)?)))
        .collect()
}

async fn check_takes(
    connection: &Connection,
    invocation: &NewInvocation,
    states: &BTreeMap<String, SourceState>,
) -> Result<(), StoreError> {
    let runnable = &invocation.runnable;
    if let RunnableId::Workflow(id) = runnable {
        return check_workflow_takes(connection, invocation, id).await;
    }
    match states.get(runnable.as_str()) {
        None | Some(SourceState::Deleting) => Err(emitters::gone(runnable)),
        Some(SourceState::Inactive) => {
            Err(Conflict::Inactive(Entity::Runnable(runnable.clone())).into())
        }
        Some(SourceState::Active | SourceState::Deploying | SourceState::Updating) => Ok(()),
    }
}

async fn check_workflow_takes(
    connection: &Connection,
    invocation: &NewInvocation,
    id: &WorkflowId,
) -> Result<(), StoreError> {
    let runnable = &invocation.runnable;
    match workflow_state::state(connection, id.as_str()).await? {
        None | Some(WorkflowState::Deleting) => Err(emitters::gone(runnable)),
        Some(WorkflowState::Inactive) if !invocation.trigger.is_by_hand() => {
            Err(Conflict::Inactive(Entity::Runnable(runnable.clone())).into())
        }
        Some(WorkflowState::Active | WorkflowState::Inactive) => {
            match waiting_runs::has_room(connection, id.as_str()).await? {
                true => Ok(()),
                false => Err(Conflict::QueueFull(Entity::Runnable(runnable.clone())).into()),
            }
        }
    }
}

/// The term for which an invocation is leased at once, if it is.
fn term((invocation, lease): &Queued, held: &Locked) -> Option<LeaseTerm> {
    let (lease, term) = lease.as_ref()?;
    let is_its = lease.runnable == invocation.runnable && lease.epoch == term.epoch;
    let is_due = invocation.due_at_ms <= invocation.now_ms;
    (is_its && is_due && held.under(lease).is_ok()).then_some(*term)
}

fn lease_of(job: &Queued, held: &Locked) -> Option<Lease> {
    term(job, held).map(|term| Lease {
        invocation_id: job.0.id.clone(),
        epoch: term.epoch,
        attempt: 1,
    })
}

/// Writes rows, and returns the ids of those that were not there.
async fn insert(
    connection: &Connection,
    rows: &[(&NewInvocation, Option<LeaseTerm>)],
) -> Result<HashSet<String>, StoreError> {
    if rows.is_empty() {
        return Ok(HashSet::new());
    }
    let triggers = rows.iter().map(|(row, _)| name_of(&row.trigger));
    let triggers: Vec<String> = triggers.collect::<Result<_, _>>()?;
    let inserted = connection
        .query(
            "INSERT INTO invocations (id, runnable_id, trigger, event, hops, queued_at_ms, lease_epoch,
                                      lease_expires_at_ms, attempt, request_id, traceparent, due_at_ms, timer_prop,
                                      state)
             SELECT id, runnable_id, trigger, event, hops, queued_at_ms, lease_epoch, lease_expires_at_ms, attempt,
                    request_id, traceparent, due_at_ms, timer_prop, state
             FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
                         $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::text[], $14::text[])
                  WITH ORDINALITY
                  AS row (id, runnable_id, trigger, event, hops, queued_at_ms, lease_epoch, lease_expires_at_ms,
                          attempt, request_id, traceparent, due_at_ms, timer_prop, state, number)
             ORDER BY number
             ON CONFLICT (id) DO NOTHING RETURNING id",
            &[
                &list(rows, |(row, _)| row.id.as_str()),
                &list(rows, |(row, _)| row.runnable.as_str()),
                &triggers,
                &list(rows, |(row, _)| row.event.get()),
                &list(rows, |(row, _)| signed(row.hops)),
                &list(rows, |(row, _)| signed(row.now_ms)),
                &list(rows, |(_, term)| term.map(|term| signed(term.epoch.0))),
                &list(rows, |(_, term)| term.map(|term| signed(term.expires_at_ms))),
                &list(rows, |(_, term)| i64::from(term.is_some())),
                &list(rows, |(row, _)| row.origin.request_id()),
                &list(rows, |(row, _)| row.origin.trace.as_ref().map(ToString::to_string)),
                &list(rows, |(row, _)| signed(row.due_at_ms)),
                &list(rows, |(row, _)| row.via.as_deref()),
                &list(rows, |(row, _)| row.state.as_ref().map(|state| state.get())),
            ],
        )
        .await
        .map_err(failed("queueing invocations"))?;
    inserted.iter().map(|row| get(row, "id")).collect()
}
