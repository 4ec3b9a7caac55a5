//! Claiming invocations: several that are due, or one by its id.

use std::sync::Arc;

use headwater_model::{
    id::{InvocationId, RunnableId},
    origin::Origin,
    time::EpochMs,
};
use headwater_store::{Claimed, Lease, LeaseTerm, NodeEpoch, StoreError, WorkLimit, WorkflowState};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    invocations::{FREE, WHILE_INACTIVE},
    row::{get, named, parsed, raw, raw_opt, signed, trace, unsigned},
    workflow_state,
};

/// The condition on the invocations that may be claimed; `None`: none may.
fn claimable(
    connection: &Connection,
    id: &RunnableId,
    has_begun: bool,
) -> Result<Option<&'static str>, StoreError> {
    let state = match id {
        RunnableId::Source(_) => None,
        RunnableId::Workflow(id) => workflow_state::state(connection, id.as_str())?,
    };
    Ok(match (state, has_begun) {
        (Some(WorkflowState::Deleting), _) => None,
        (_, true) => Some("has_begun"),
        (Some(WorkflowState::Inactive), false) => Some(WHILE_INACTIVE),
        (Some(WorkflowState::Active) | None, false) => Some("TRUE"),
    })
}

pub(crate) fn claim(
    connection: &Connection,
    id: &RunnableId,
    term: LeaseTerm,
    now_ms: EpochMs,
    limit: WorkLimit,
) -> Result<Vec<Claimed>, StoreError> {
    let failed = failed("claiming invocations");
    let Some(which) = claimable(connection, id, limit.has_begun)? else {
        return Ok(Vec::new());
    };
    let mut statement = connection
        .prepare_cached(&format!(
            "UPDATE invocations SET lease_epoch = ?4, lease_expires_at_ms = ?5, attempt = attempt + 1
             WHERE position IN (
                 SELECT position
                 FROM (SELECT position, sum(bytes) OVER (ORDER BY due_at_ms, position) - bytes AS before
                       FROM (SELECT position, due_at_ms,
                                    octet_length(event) + coalesce(octet_length(state), 0) AS bytes
                             FROM invocations
                             WHERE runnable_id = ?2 AND due_at_ms <= ?1 AND {FREE} AND {which}
                             ORDER BY due_at_ms, position LIMIT ?3))
                 WHERE before < ?6)
             RETURNING *"
        ))
        .map_err(&failed)?;
    let parameters = params![
        signed(now_ms),
        id.as_str(),
        limit.invocations,
        signed(term.epoch.0),
        signed(term.expires_at_ms),
        signed(limit.bytes)
    ];
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let mut found: Vec<((EpochMs, i64), Claimed)> = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let place = (unsigned(row, "due_at_ms")?, get(row, "position")?);
        found.push((place, claimed(row, term.epoch)?));
    }
    // RETURNING promises no order.
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, claimed)| claimed).collect())
}

/// Leases one that nobody holds, due or not.
pub(crate) fn claim_one(
    connection: &Connection,
    runnable: &RunnableId,
    term: LeaseTerm,
    now_ms: EpochMs,
    id: &InvocationId,
) -> Result<Option<Claimed>, StoreError> {
    let failed = failed("claiming an invocation");
    let mut statement = connection
        .prepare_cached(&format!(
            "UPDATE invocations SET lease_epoch = ?4, lease_expires_at_ms = ?5, attempt = attempt + 1
             WHERE id = ?3 AND runnable_id = ?2 AND {FREE} RETURNING *"
        ))
        .map_err(&failed)?;
    let parameters = params![
        signed(now_ms),
        runnable.as_str(),
        id.as_str(),
        signed(term.epoch.0),
        signed(term.expires_at_ms)
    ];
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    row.map(|row| claimed(row, term.epoch)).transpose()
}

/// Gives back what is leased under the term.
pub(crate) fn release(
    connection: &Connection,
    runnable: &RunnableId,
    term: LeaseTerm,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "UPDATE invocations SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + 1
             WHERE runnable_id = ? AND lease_epoch = ? AND lease_expires_at_ms = ?",
            params![
                runnable.as_str(),
                signed(term.epoch.0),
                signed(term.expires_at_ms)
            ],
        )
        .map_err(failed("giving a claim back"))
        .map(drop)
}

fn claimed(row: &Row<'_>, epoch: NodeEpoch) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        lease: Lease {
            invocation_id: parsed(row, "id")?,
            epoch,
            attempt: get(row, "attempt")?,
        },
        runnable: parsed(row, "runnable_id")?,
        trigger: named(&get::<String>(row, "trigger")?)?,
        via: get(row, "timer_prop")?,
        fed_by: get(row, "trigger_id")?,
        event: raw(row, "event")?.into(),
        hops: get(row, "hops")?,
        queued_at_ms: unsigned(row, "queued_at_ms")?,
        origin: Origin {
            request_id: get::<Option<String>>(row, "request_id")?.map(Arc::from),
            trace: trace(row)?,
        },
        state: raw_opt(row, "state")?,
        starts: get::<u32>(row, "attempt")?.saturating_sub(get(row, "given_back")?),
    })
}
