//! Queueing invocations: in their order, each refused on its own.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use futures::try_join;
use headwater_model::id::RunnableId;
use headwater_store::{
    Conflict, Entity, Lease, LeaseTerm, NewInvocation, RunnableLease, SourceState, StoreError,
    Taken, WorkflowState,
};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    emitters::Locked,
    row::{get, list, name_of, named, signed},
    waiting_runs, workflow_state,
};

/// An invocation to queue, and the lease of its runnable under which it is leased at once.
pub(crate) type Queued = (NewInvocation, Option<(RunnableLease, LeaseTerm)>);

/// The lease of an invocation that is leased at once.
pub(crate) type QueuedResult = Result<Option<Lease>, StoreError>;

/// Queues them, each leased if its lease is the current one and it is due; one result of each. `None`: the workflow lets only so
/// many runs wait, so that this one is queued [`alone`].
pub(crate) async fn together(
    connection: &Connection,
    jobs: &[Arc<Queued>],
) -> Result<Vec<Option<QueuedResult>>, StoreError> {
    let leases = jobs.iter().filter_map(|job| job.1.as_ref());
    let leases: Vec<_> = leases.map(|(lease, _)| lease).collect();
    let invocations: Vec<&NewInvocation> = jobs.iter().map(|job| &job.0).collect();
    let (sources, workflows, held, mut queued) = try_join!(
        sources(connection, &invocations),
        workflows(connection, &invocations),
        Locked::leased(connection, &leases),
        queued(connection, &invocations),
    )?;
    let mut rows = Vec::with_capacity(jobs.len());
    let mut results = Vec::with_capacity(jobs.len());
    for job in jobs {
        let invocation = &job.0;
        let taken = match &invocation.runnable {
            RunnableId::Source(id) => source_takes(invocation, sources.get(id.as_str())),
            RunnableId::Workflow(id) => match workflows.get(id.as_str()) {
                Some((_, Some(_))) => {
                    results.push(None);
                    continue;
                }
                found => workflow_takes(invocation, found.map(|(state, _)| *state)),
            },
        };
        results.push(Some(match taken {
            Ok(()) if queued.insert(invocation.id.as_str().to_owned()) => {
                let term = term(job, &held);
                rows.push((invocation, term));
                Ok(term.map(|term| lease_of(invocation, term)))
            }
            Ok(()) => Err(Conflict::Taken(Taken::Invocation(invocation.id.clone())).into()),
            Err(conflict) => Err(conflict.into()),
        }));
    }
    insert(connection, &rows).await?;
    Ok(results)
}

/// Queues a run of a workflow that bounds how many wait. The step is serializable, because it depends on their number.
pub(crate) async fn alone(connection: &Connection, job: &Arc<Queued>) -> QueuedResult {
    let invocation = &job.0;
    let id = invocation.runnable.as_str();
    let leases: Vec<_> = job.1.iter().map(|(lease, _)| lease).collect();
    let state = workflow_state::state(connection, id).await?;
    workflow_takes(invocation, state)?;
    if !waiting_runs::has_room(connection, id).await? {
        return Err(Conflict::QueueFull(Entity::Runnable(invocation.runnable.clone())).into());
    }
    let held = Locked::leased(connection, &leases).await?;
    if !queued(connection, &[invocation]).await?.is_empty() {
        return Err(Conflict::Taken(Taken::Invocation(invocation.id.clone())).into());
    }
    let term = term(job, &held);
    insert(connection, &[(invocation, term)]).await?;
    Ok(term.map(|term| lease_of(invocation, term)))
}

/// Queues runs that others call, none of them leased. One that is queued already, or whose workflow is not there, is passed
/// over. The step is serializable: it locks no workflow.
pub(crate) async fn calls(
    connection: &Connection,
    calls: &[&NewInvocation],
) -> Result<(), StoreError> {
    const WORKFLOWS: &str = "SELECT id FROM workflows WHERE id = ANY($1)";
    if calls.is_empty() {
        return Ok(());
    }
    let runnables = list(calls, |call| call.runnable.as_str());
    let (workflows, mut queued) = try_join!(
        found(connection, WORKFLOWS, &runnables),
        queued(connection, calls)
    )?;
    let there = calls
        .iter()
        .filter(|call| workflows.contains(call.runnable.as_str()));
    let new = there.filter(|call| queued.insert(call.id.as_str().to_owned()));
    let rows: Vec<_> = new.map(|call| (*call, None)).collect();
    insert(connection, &rows).await
}

/// The ids of those that are queued already.
async fn queued(
    connection: &Connection,
    invocations: &[&NewInvocation],
) -> Result<HashSet<String>, StoreError> {
    const QUEUED: &str = "SELECT id FROM invocations WHERE id = ANY($1)";
    let ids = list(invocations, |invocation| invocation.id.as_str());
    found(connection, QUEUED, &ids).await
}

/// Those of the ids that a query finds.
async fn found(
    connection: &Connection,
    sql: &str,
    ids: &[&str],
) -> Result<HashSet<String>, StoreError> {
    let rows = connection.query(sql, &[&ids]).await;
    let rows = rows.map_err(failed("queueing invocations"))?;
    rows.iter().map(|row| get(row, "id")).collect()
}

/// The states of the sources among the runnables, none of which changes before the step has ended.
async fn sources(
    connection: &Connection,
    invocations: &[&NewInvocation],
) -> Result<BTreeMap<String, SourceState>, StoreError> {
    const STATES: &str = "SELECT id, state FROM sources WHERE id = ANY($1) ORDER BY id FOR SHARE";
    let rows = of_runnables(connection, STATES, invocations, |id| {
        matches!(id, RunnableId::Source(_))
    });
    let rows = rows.await?;
    let rows = rows.iter();
    rows.map(|row| Ok((get(row, "id")?, named(&get::<String>(row, "state")?)?)))
        .collect()
}

/// The same of the workflows, with the number of runs that each lets wait.
async fn workflows(
    connection: &Connection,
    invocations: &[&NewInvocation],
) -> Result<BTreeMap<String, (WorkflowState, Option<i64>)>, StoreError> {
    const STATES: &str =
        "SELECT id, state, waiting_runs FROM workflows WHERE id = ANY($1) ORDER BY id FOR SHARE";
    let rows = of_runnables(connection, STATES, invocations, |id| {
        matches!(id, RunnableId::Workflow(_))
    });
    let rows = rows.await?;
    let rows = rows.iter();
    rows.map(|row| {
        let state = named(&get::<String>(row, "state")?)?;
        Ok((get(row, "id")?, (state, get(row, "waiting_runs")?)))
    })
    .collect()
}

/// The rows of those of the runnables that are of a kind.
async fn of_runnables(
    connection: &Connection,
    sql: &str,
    invocations: &[&NewInvocation],
    is_wanted: impl Fn(&RunnableId) -> bool,
) -> Result<Vec<Row>, StoreError> {
    let runnables = invocations.iter().map(|invocation| &invocation.runnable);
    let wanted = runnables.filter(|runnable| is_wanted(runnable));
    let ids: Vec<&str> = wanted.map(RunnableId::as_str).collect();
    match ids.is_empty() {
        true => Ok(Vec::new()),
        false => connection
            .query(sql, &[&ids])
            .await
            .map_err(failed("queueing invocations")),
    }
}

fn source_takes(invocation: &NewInvocation, state: Option<&SourceState>) -> Result<(), Conflict> {
    let runnable = || Entity::Runnable(invocation.runnable.clone());
    match state {
        None | Some(SourceState::Deleting) => Err(Conflict::Gone(runnable())),
        Some(SourceState::Inactive) => Err(Conflict::Inactive(runnable())),
        Some(SourceState::Active | SourceState::Deploying | SourceState::Updating) => Ok(()),
    }
}

fn workflow_takes(
    invocation: &NewInvocation,
    state: Option<WorkflowState>,
) -> Result<(), Conflict> {
    let runnable = || Entity::Runnable(invocation.runnable.clone());
    match state {
        None | Some(WorkflowState::Deleting) => Err(Conflict::Gone(runnable())),
        Some(WorkflowState::Inactive) if !invocation.trigger.is_by_hand() => {
            Err(Conflict::Inactive(runnable()))
        }
        Some(WorkflowState::Active | WorkflowState::Inactive) => Ok(()),
    }
}

/// The term for which an invocation is leased at once, if it is.
fn term((invocation, lease): &Queued, held: &Locked) -> Option<LeaseTerm> {
    let (lease, term) = lease.as_ref()?;
    let is_its = lease.runnable == invocation.runnable && lease.epoch == term.epoch;
    let is_due = invocation.due_at_ms <= invocation.now_ms;
    (is_its && is_due && held.under(lease).is_ok()).then_some(*term)
}

fn lease_of(invocation: &NewInvocation, term: LeaseTerm) -> Lease {
    Lease {
        invocation_id: invocation.id.clone(),
        epoch: term.epoch,
        attempt: 1,
    }
}

/// Writes rows. One that another step has written meanwhile is found by the next try.
async fn insert(
    connection: &Connection,
    rows: &[(&NewInvocation, Option<LeaseTerm>)],
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let triggers = rows.iter().map(|(row, _)| name_of(&row.trigger));
    let triggers: Vec<String> = triggers.collect::<Result<_, _>>()?;
    connection
        .execute(
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
             ORDER BY number",
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
        .map_err(failed("queueing invocations"))
        .map(drop)
}
