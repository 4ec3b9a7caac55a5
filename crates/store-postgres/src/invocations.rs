//! The rows of invocations: claimed, given back, ended or left with a checkpoint.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use futures::try_join;
use headwater_model::{
    event::EventRef,
    id::{InvocationId, RunnableId},
    origin::Origin,
    time::EpochMs,
};
use headwater_store::{Claimed, Lease, LeaseTerm, NodeEpoch, StoreError, WorkLimit, WorkflowState};
use serde_json::value::RawValue;
use tokio_postgres::Row;

use crate::{
    connection::{Connection, Params, failed},
    event_row, queued_events,
    row::{get, list, moment, named, parsed, raw, raw_opt, signed, trace, unsigned},
    workflow_state,
};

/// An invocation that may be claimed: it is not leased, or its lease has expired.
const FREE: &str = "(lease_epoch IS NULL OR lease_expires_at_ms <= $1)";

/// A run of a workflow that goes on, or begins, while the workflow is inactive: its triggers are off, and nothing else.
const WHILE_INACTIVE: &str =
    "(invocations.state IS NOT NULL OR invocations.trigger IN ('manual', 'replay'))";

/// The condition on the invocations that may be claimed; `None`: none may.
pub(crate) async fn claimable(
    connection: &Connection,
    id: &RunnableId,
    has_begun: bool,
) -> Result<Option<&'static str>, StoreError> {
    let state = match id {
        RunnableId::Source(_) => None,
        RunnableId::Workflow(id) => workflow_state::state(connection, id.as_str()).await?,
    };
    Ok(match (state, has_begun) {
        (Some(WorkflowState::Deleting), _) => None,
        (_, true) => Some("has_begun"),
        (Some(WorkflowState::Inactive), false) => Some(WHILE_INACTIVE),
        (Some(WorkflowState::Active) | None, false) => Some("TRUE"),
    })
}

/// Claims those of `which` that are due, for a step that has its turn to claim. They are locked before they are counted
/// against the limit: a commit under way may leave one of an expired lease until later, or end it.
pub(crate) async fn claim(
    connection: &Connection,
    id: &RunnableId,
    which: &str,
    term: LeaseTerm,
    now_ms: EpochMs,
    limit: WorkLimit,
) -> Result<Vec<Claimed>, StoreError> {
    let failed = failed("claiming invocations");
    let parameters: Params<'_> = &[
        &signed(now_ms),
        &id.as_str(),
        &signed(limit.invocations),
        &signed(term.epoch.0),
        &signed(term.expires_at_ms),
        &signed(limit.bytes),
    ];
    let rows = connection
        .query(
            &format!(
                "UPDATE invocations SET lease_epoch = $4, lease_expires_at_ms = $5, attempt = attempt + 1
             WHERE position = ANY (ARRAY(
                 SELECT position
                 FROM (SELECT position, sum(bytes) OVER (ORDER BY due_at_ms, position) - bytes AS before
                       FROM (SELECT position, due_at_ms,
                                    octet_length(event) + coalesce(octet_length(state), 0) AS bytes
                             FROM invocations
                             WHERE runnable_id = $2 AND due_at_ms <= $1 AND {FREE} AND {which}
                             ORDER BY due_at_ms, position LIMIT $3 FOR NO KEY UPDATE) AS free) AS summed
                 WHERE before < $6))
             RETURNING *"
            ),
            parameters,
        )
        .await
        .map_err(&failed)?;
    let mut found: Vec<((EpochMs, i64), Claimed)> = Vec::new();
    for row in &rows {
        let place = (unsigned(row, "due_at_ms")?, get(row, "position")?);
        found.push((place, claimed(row, term.epoch)?));
    }
    // RETURNING promises no order.
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, claimed)| claimed).collect())
}

/// Leases one that nobody holds, due or not.
pub(crate) async fn claim_one(
    connection: &Connection,
    runnable: &RunnableId,
    term: LeaseTerm,
    now_ms: EpochMs,
    id: &InvocationId,
) -> Result<Option<Claimed>, StoreError> {
    let parameters: Params<'_> = &[
        &signed(now_ms),
        &runnable.as_str(),
        &id.as_str(),
        &signed(term.epoch.0),
        &signed(term.expires_at_ms),
    ];
    let row = connection
        .query_opt(
            &format!(
                "UPDATE invocations SET lease_epoch = $4, lease_expires_at_ms = $5, attempt = attempt + 1
                 WHERE id = $3 AND (runnable_id = $2) IS TRUE AND {FREE} RETURNING *"
            ),
            parameters,
        )
        .await
        .map_err(failed("claiming an invocation"))?;
    row.map(|row| claimed(&row, term.epoch)).transpose()
}

fn claimed(row: &Row, epoch: NodeEpoch) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        lease: Lease {
            invocation_id: parsed(row, "id")?,
            epoch,
            attempt: unsigned(row, "attempt")?,
        },
        runnable: parsed(row, "runnable_id")?,
        trigger: named(&get::<String>(row, "trigger")?)?,
        via: get(row, "timer_prop")?,
        fed_by: get(row, "trigger_id")?,
        event: raw(row, "event")?.into(),
        hops: unsigned(row, "hops")?,
        queued_at_ms: unsigned(row, "queued_at_ms")?,
        origin: Origin {
            request_id: get::<Option<String>>(row, "request_id")?.map(Arc::from),
            trace: trace(row)?,
        },
        state: raw_opt(row, "state")?,
        starts: unsigned::<u32>(row, "attempt")?.saturating_sub(unsigned(row, "given_back")?),
    })
}

/// Skips from runnable to runnable through the index, without reading the rest of each one's queue.
pub(crate) async fn runnables_with_work(
    connection: &Connection,
    epoch: NodeEpoch,
    others: &[i64],
    now_ms: EpochMs,
    after: &str,
    limit: u32,
) -> Result<Vec<RunnableId>, StoreError> {
    let failed = failed("looking for work");
    // An invocation that a dead node holds is free as soon as its runnable is taken over.
    let living: Vec<i64> = others.iter().copied().chain([signed(epoch.0)]).collect();
    let parameters: Params<'_> = &[&signed(now_ms), &after, &signed(limit), &others, &living];
    let rows = connection
        .query(
            &format!(
                "WITH RECURSIVE waiting (runnable) AS (
                 SELECT min(runnable_id) FROM invocations WHERE runnable_id > $2
                 UNION ALL
                 SELECT (SELECT min(runnable_id) FROM invocations WHERE runnable_id > runnable)
                 FROM waiting WHERE runnable IS NOT NULL)
             SELECT runnable FROM waiting JOIN emitters ON emitter_id = runnable
                                          LEFT JOIN sources ON sources.id = runnable
                                          LEFT JOIN workflows ON workflows.id = runnable
             WHERE coalesce(sources.state, workflows.state) IN ('active', 'updating', 'deploying', 'inactive')
               AND (sources.state IS NULL OR sources.state <> 'inactive')
               AND (emitters.lease_epoch IS NULL
                    OR emitters.lease_epoch <> ALL($4))
               AND EXISTS (SELECT 1 FROM invocations
                           WHERE runnable_id = runnable AND due_at_ms <= $1
                             AND (workflows.state IS DISTINCT FROM 'inactive' OR {WHILE_INACTIVE})
                             AND ({FREE} OR lease_epoch <> ALL($5)))
             ORDER BY runnable LIMIT $3"
            ),
            parameters,
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(parsed(row, "runnable")?);
    }
    Ok(found)
}

/// Prolongs leases that still hold.
pub(crate) async fn extend(
    connection: &Connection,
    leases: &[Lease],
    expires_at_ms: EpochMs,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE invocations SET lease_expires_at_ms = $4
             FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS lease (id, epoch, attempt)
             WHERE invocations.id = lease.id AND lease_epoch = epoch AND invocations.attempt = lease.attempt",
            &[
                &list(leases, |lease| lease.invocation_id.as_str()),
                &list(leases, |lease| signed(lease.epoch.0)),
                &list(leases, |lease| signed(lease.attempt)),
                &signed(expires_at_ms),
            ],
        )
        .await
        .map_err(failed("prolonging leases"))
        .map(drop)
}

/// Gives a lease back, if it still holds.
pub(crate) async fn release(
    connection: &Connection,
    lease: &Lease,
    due_at_ms: Option<EpochMs>,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE invocations
             SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + 1,
                 due_at_ms = coalesce($4, due_at_ms)
             WHERE id = $1 AND lease_epoch = $2 AND attempt = $3",
            &[
                &lease.invocation_id.as_str(),
                &signed(lease.epoch.0),
                &signed(lease.attempt),
                &due_at_ms.map(signed),
            ],
        )
        .await
        .map_err(failed("giving a lease back"))
        .map(drop)
}

/// Gives back what is leased under the term.
pub(crate) async fn release_claim(
    connection: &Connection,
    runnable: &RunnableId,
    term: LeaseTerm,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE invocations SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + 1
             WHERE runnable_id = $1 AND lease_epoch = $2 AND lease_expires_at_ms = $3",
            &[
                &runnable.as_str(),
                &signed(term.epoch.0),
                &signed(term.expires_at_ms),
            ],
        )
        .await
        .map_err(failed("giving a claim back"))
        .map(drop)
}

/// An invocation that a run ends.
pub(crate) struct Ended {
    position: i64,
    /// Whether its run had emitted scheduled events before its last commit.
    pub(crate) had_scheduled: bool,
    /// The event that it was queued for.
    pub(crate) caused_by: Option<EventRef>,
    /// Whose queued events it counts among, and its bytes.
    queued_by: Option<(String, i64)>,
}

/// The invocations of runnables that are leased so, by id. They stay it until the step has ended.
pub(crate) async fn leased(
    connection: &Connection,
    ends: &[(&str, &Lease)],
) -> Result<HashMap<String, Ended>, StoreError> {
    if ends.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = connection
        .query(
            "SELECT invocations.id, position, has_scheduled, owner_id, cause_emitter_id, cause_ms, cause_sequence,
                    CASE WHEN owner_id IS NOT NULL THEN octet_length(event)::bigint ELSE 0 END AS bytes
             FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS lease (runnable, id, epoch, attempt)
                  JOIN invocations ON invocations.id = lease.id AND lease_epoch = epoch
                                      AND invocations.attempt = lease.attempt AND (runnable_id = runnable) IS TRUE
             ORDER BY invocations.id FOR UPDATE OF invocations",
            &[
                &list(ends, |(runnable, _)| *runnable),
                &list(ends, |(_, lease)| lease.invocation_id.as_str()),
                &list(ends, |(_, lease)| signed(lease.epoch.0)),
                &list(ends, |(_, lease)| signed(lease.attempt)),
            ],
        )
        .await
        .map_err(failed("ending invocations"))?;
    let rows = rows.iter();
    rows.map(|row| Ok((get(row, "id")?, ended(row)?))).collect()
}

fn ended(row: &Row) -> Result<Ended, StoreError> {
    let owner: Option<String> = get(row, "owner_id")?;
    let bytes = get(row, "bytes")?;
    Ok(Ended {
        position: get(row, "position")?,
        had_scheduled: get(row, "has_scheduled")?,
        caused_by: event_row::cause(row)?,
        queued_by: owner.map(|owner| (owner, bytes)),
    })
}

/// Deletes invocations that have ended.
pub(crate) async fn delete(connection: &Connection, ended: &[Ended]) -> Result<(), StoreError> {
    if ended.is_empty() {
        return Ok(());
    }
    let deleted = async {
        let sql = "DELETE FROM invocations WHERE position = ANY($1)";
        let positions = list(ended, |of| of.position);
        let deleted = connection.execute(sql, &[&positions]).await;
        deleted.map_err(failed("ending invocations"))
    };
    let queued = ended.iter().filter_map(|of| of.queued_by.as_ref());
    let queued: Vec<_> = queued.map(|(owner, bytes)| (&owner[..], *bytes)).collect();
    try_join!(deleted, queued_events::remove(connection, &queued)).map(drop)
}

/// An invocation that does not end with a commit.
pub(crate) struct GoingOn<'a> {
    pub(crate) runnable: &'a str,
    pub(crate) lease: &'a Lease,
    pub(crate) state: &'a RawValue,
    /// The time at which it becomes due, of one that is left until then.
    pub(crate) due_at_ms: Option<EpochMs>,
    pub(crate) has_scheduled: bool,
}

/// Writes the states of invocations that go on, and the checkpoints of those that are left, each once and if its lease still
/// holds. Returns the ids of those of which it does.
pub(crate) async fn go_on(
    connection: &Connection,
    going_on: &[GoingOn<'_>],
) -> Result<HashSet<String>, StoreError> {
    let (noted, left): (Vec<_>, Vec<_>) = going_on.iter().partition(|of| of.due_at_ms.is_none());
    let (noted, left) = try_join!(note(connection, &noted), leave(connection, &left))?;
    let written = noted.iter().chain(&left);
    written.map(|row| get(row, "id")).collect()
}

/// Writes the states of invocations that go on. They count as begun once from here.
async fn note(connection: &Connection, going_on: &[&GoingOn<'_>]) -> Result<Vec<Row>, StoreError> {
    if going_on.is_empty() {
        return Ok(Vec::new());
    }
    connection
        .query(
            "UPDATE invocations
             SET state = going_on.state, has_scheduled = (invocations.has_scheduled OR going_on.has_scheduled),
                 given_back = invocations.attempt - 1, has_begun = TRUE
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::boolean[])
                  AS going_on (id, epoch, attempt, runnable, state, has_scheduled)
             WHERE invocations.id = going_on.id AND lease_epoch = epoch AND invocations.attempt = going_on.attempt
               AND (runnable_id = runnable) IS TRUE
             RETURNING invocations.id",
            &[
                &list(going_on, |of| of.lease.invocation_id.as_str()),
                &list(going_on, |of| signed(of.lease.epoch.0)),
                &list(going_on, |of| signed(of.lease.attempt)),
                &list(going_on, |of| of.runnable),
                &list(going_on, |of| of.state.get()),
                &list(going_on, |of| of.has_scheduled),
            ],
        )
        .await
        .map_err(failed("noting the state of invocations"))
}

/// Writes the checkpoints of invocations, with the time each becomes due. With an answer to one of its waits that came
/// meanwhile it is due at once.
async fn leave(connection: &Connection, left: &[&GoingOn<'_>]) -> Result<Vec<Row>, StoreError> {
    if left.is_empty() {
        return Ok(Vec::new());
    }
    connection
        .query(
            "UPDATE invocations
             SET state = checkpoint.state, has_scheduled = (invocations.has_scheduled OR checkpoint.has_scheduled),
                 given_back = invocations.attempt, has_begun = TRUE, lease_epoch = NULL, lease_expires_at_ms = NULL,
                 due_at_ms = CASE WHEN EXISTS (SELECT 1 FROM run_resolutions
                                               WHERE run_id = invocations.id AND NOT is_applied)
                                  THEN 0 ELSE checkpoint.due_at_ms END
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::boolean[])
                  AS checkpoint (id, epoch, attempt, runnable, state, due_at_ms, has_scheduled)
             WHERE invocations.id = checkpoint.id AND lease_epoch = epoch AND invocations.attempt = checkpoint.attempt
               AND (runnable_id = runnable) IS TRUE
             RETURNING invocations.id",
            &[
                &list(left, |of| of.lease.invocation_id.as_str()),
                &list(left, |of| signed(of.lease.epoch.0)),
                &list(left, |of| signed(of.lease.attempt)),
                &list(left, |of| of.runnable),
                &list(left, |of| of.state.get()),
                &list(left, |of| of.due_at_ms.map(signed)),
                &list(left, |of| of.has_scheduled),
            ],
        )
        .await
        .map_err(failed("leaving invocations"))
}

/// The due time of the next invocation that is not due yet.
pub(crate) async fn next_due(
    connection: &Connection,
    after_ms: EpochMs,
) -> Result<Option<EpochMs>, StoreError> {
    let next: Option<i64> = connection
        .value(
            "SELECT min(due_at_ms) FROM invocations
             WHERE due_at_ms > 0 AND due_at_ms > $1",
            &[&signed(after_ms)],
        )
        .await
        .map_err(failed("looking for invocations that wait"))?;
    Ok(next.map(moment))
}
