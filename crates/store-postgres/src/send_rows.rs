//! The rows of sends: queued with the commit of their step, leased, ended.

use std::sync::LazyLock;

use headwater_model::{
    id::{InvocationId, RunnableId},
    time::EpochMs,
};
use headwater_store::{
    ClaimedSend, LeaseTerm, NewSend, Owner, SENDS_PER_LANE, SendAttempt, SendId, SendRecord,
    StoreError,
};
use tokio_postgres::Row;

use crate::{
    claim_turn,
    connection::{Connection, failed},
    owner,
    row::{get, moment, name_of, named, parsed, raw, raw_opt, signed, unsigned},
};

/// Queues a send; one that is queued already stays.
pub(crate) async fn queue(
    connection: &Connection,
    (run_id, runnable): (&InvocationId, &RunnableId),
    owner: &Owner,
    send: &NewSend,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO sends (run_id, path, number, runnable_id, user_id, workspace_id, way, value, state,
                                queued_at_ms, due_at_ms, lane)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', $9, $9, $10) ON CONFLICT (run_id, path, number) DO NOTHING",
            &[
                &run_id.as_str(),
                &send.path,
                &signed(send.number),
                &runnable.as_str(),
                &owner.user_id.as_str(),
                &owner.workspace_id.as_ref().map(|id| id.as_str()),
                &name_of(&send.way)?,
                &send.value.get(),
                &signed(now_ms),
                &send.lane,
            ],
        )
        .await
        .map_err(failed("queueing a send"))
        .map(drop)
}

/// The lanes with sends that have not ended, found by skipping from one to the next.
const LANES: &str = "lanes (lane) AS (
    SELECT min(lane) FROM sends WHERE state = 'pending'
    UNION ALL
    SELECT (SELECT min(lane) FROM sends WHERE state = 'pending' AND lane > lanes.lane)
    FROM lanes WHERE lane IS NOT NULL)";

/// The sends that may be in flight: all without a lane, and the first ones of each lane, of which those in flight are
/// first.
static FIRST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT position, due_at_ms, lease_epoch, lease_expires_at_ms FROM sends
         WHERE state = 'pending' AND lane IS NULL
         UNION ALL
         SELECT position, due_at_ms, lease_epoch, lease_expires_at_ms
         FROM lanes CROSS JOIN LATERAL (
                  SELECT position, due_at_ms, lease_epoch, lease_expires_at_ms FROM sends
                  WHERE state = 'pending' AND sends.lane = lanes.lane
                  ORDER BY due_at_ms, position LIMIT {SENDS_PER_LANE}) AS of_lane
         WHERE lanes.lane IS NOT NULL"
    )
});

/// The turn to claim them.
const TURN: &str = "sends";

pub(crate) async fn claim(
    connection: &Connection,
    term: LeaseTerm,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Vec<ClaimedSend>, StoreError> {
    claim_turn::wait(connection, TURN).await?;
    let failed = failed("claiming sends");
    let first = &*FIRST;
    let rows = connection
        .query(
            &format!(
                "WITH RECURSIVE {LANES}
             UPDATE sends SET lease_epoch = $2, lease_expires_at_ms = $3, attempts = attempts + 1
             WHERE position = ANY (ARRAY(
                 SELECT position FROM ({first}) AS first
                 WHERE due_at_ms <= $1 AND (lease_epoch IS NULL OR lease_expires_at_ms <= $1)
                 ORDER BY due_at_ms, position LIMIT $4))
             RETURNING *"
            ),
            &[
                &signed(now_ms),
                &signed(term.epoch.0),
                &signed(term.expires_at_ms),
                &signed(limit),
            ],
        )
        .await
        .map_err(&failed)?;
    let mut found: Vec<(i64, ClaimedSend)> = Vec::new();
    for row in &rows {
        found.push((get(row, "position")?, claimed(row)?));
    }
    // RETURNING promises no order.
    found.sort_by_key(|(position, _)| *position);
    Ok(found.into_iter().map(|(_, send)| send).collect())
}

/// Gives back what is leased under the term.
pub(crate) async fn release_claim(
    connection: &Connection,
    term: LeaseTerm,
) -> Result<(), StoreError> {
    // The lost one may still be at its commit.
    claim_turn::wait(connection, TURN).await?;
    connection
        .execute(
            "UPDATE sends SET lease_epoch = NULL, lease_expires_at_ms = NULL, attempts = attempts - 1
             WHERE state = 'pending' AND lease_epoch = $1 AND lease_expires_at_ms = $2",
            &[&signed(term.epoch.0), &signed(term.expires_at_ms)],
        )
        .await
        .map_err(failed("giving a claim back"))
        .map(drop)
}

fn id_of(row: &Row) -> Result<SendId, StoreError> {
    Ok(SendId {
        run_id: parsed(row, "run_id")?,
        path: get(row, "path")?,
        number: unsigned(row, "number")?,
    })
}

fn claimed(row: &Row) -> Result<ClaimedSend, StoreError> {
    Ok(ClaimedSend {
        id: id_of(row)?,
        attempt: unsigned(row, "attempts")?,
        runnable: parsed(row, "runnable_id")?,
        owner: owner::of(row)?,
        way: named(&get::<String>(row, "way")?)?,
        lane: get(row, "lane")?,
        value: raw(row, "value")?,
        queued_at_ms: unsigned(row, "queued_at_ms")?,
    })
}

/// Records the end of an attempt, if its lease still holds.
pub(crate) async fn end(connection: &Connection, attempt: &SendAttempt) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE sends SET state = $5, due_at_ms = $6, result = $7, lease_epoch = NULL, lease_expires_at_ms = NULL
             WHERE run_id = $1 AND path = $2 AND number = $3 AND attempts = $4 AND state = 'pending'",
            &[
                &attempt.id.run_id.as_str(),
                &attempt.id.path,
                &signed(attempt.id.number),
                &signed(attempt.attempt),
                &name_of(&attempt.state)?,
                &signed(attempt.due_at_ms),
                &attempt.result.as_ref().map(|result| result.get()),
            ],
        )
        .await
        .map_err(failed("recording a send"))?;
    connection
        .execute(
            "DELETE FROM sends WHERE run_id = $1 AND path = $2 AND number = $3 AND is_forgotten AND state <> 'pending'",
            &[
                &attempt.id.run_id.as_str(),
                &attempt.id.path,
                &signed(attempt.id.number),
            ],
        )
        .await
        .map_err(failed("forgetting a send"))
        .map(drop)
}

/// When the next send may be claimed.
pub(crate) async fn next_due(connection: &Connection) -> Result<Option<EpochMs>, StoreError> {
    let first = &*FIRST;
    let next: Option<i64> = connection
        .value(
            &format!("WITH RECURSIVE {LANES}
             SELECT min(greatest(due_at_ms, coalesce(lease_expires_at_ms, 0))) FROM ({first}) AS first"),
            &[],
        )
        .await
        .map_err(failed("looking for sends"))?;
    Ok(next.map(moment))
}

pub(crate) async fn of_run(
    connection: &Connection,
    run_id: &str,
) -> Result<Vec<SendRecord>, StoreError> {
    let failed = failed("reading a run's sends");
    let rows = connection
        .query(
            "SELECT * FROM sends WHERE run_id = $1 ORDER BY position",
            &[&run_id],
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(SendRecord {
            id: id_of(row)?,
            way: named(&get::<String>(row, "way")?)?,
            value: raw(row, "value")?,
            state: named(&get::<String>(row, "state")?)?,
            attempts: unsigned(row, "attempts")?,
            result: raw_opt(row, "result")?,
        });
    }
    Ok(found)
}
