//! Freeing the room of records that have expired, and of stores that were cleared or deleted.

use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};

use crate::{
    connection::{Connection, Params, failed},
    row::{get, signed},
};

/// The number of rows that one write sweeps to make room.
const AT_ONCE: u32 = 1_000;

/// Deletes up to `limit` rows that reads no longer show.
pub(super) async fn step(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    let sql = "SELECT position FROM data_store_records WHERE expires_at_ms <= $1 LIMIT $2";
    let expired = positions(connection, sql, &[&signed(now_ms), &signed(limit)]).await?;
    subtract_counts(connection, &expired).await?;
    delete(connection, &expired).await?;
    let left = limit - u32::try_from(expired.len()).unwrap_or(limit);
    let (swept, more) = match left {
        0 => (0, true),
        left => leftovers(connection, left).await?,
    };
    Ok(Progress {
        done: expired.len() as u64 + swept,
        more,
        ..Progress::default()
    })
}

/// Deletes some of the expired records of one store.
pub(super) async fn expired_of(
    connection: &Connection,
    store_id: i64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let sql = "SELECT position FROM data_store_records WHERE expires_at_ms <= $1 AND store_id = $2 LIMIT $3";
    let of_store: Params<'_> = &[&signed(now_ms), &store_id, &signed(AT_ONCE)];
    let expired = positions(connection, sql, of_store).await?;
    subtract_counts(connection, &expired).await?;
    delete(connection, &expired).await
}

/// Deletes rows of a deleted store. Returns their number, and whether there may be more.
async fn leftovers(connection: &Connection, limit: u32) -> Result<(u64, bool), StoreError> {
    let failed = failed("sweeping data stores");
    let store_id: Option<i64> = connection
        .value_opt("SELECT store_id FROM data_store_leftovers LIMIT 1", &[])
        .await
        .map_err(&failed)?;
    let Some(store_id) = store_id else {
        return Ok((0, false));
    };
    let sql = "SELECT position FROM data_store_records WHERE store_id = $1 LIMIT $2";
    let rows = positions(connection, sql, &[&store_id, &signed(limit)]).await?;
    delete(connection, &rows).await?;
    if rows.len() < limit as usize {
        connection
            .execute(
                "DELETE FROM data_store_leftovers WHERE store_id = $1",
                &[&store_id],
            )
            .await
            .map_err(&failed)?;
    }
    Ok((rows.len() as u64, true))
}

async fn positions(
    connection: &Connection,
    sql: &str,
    params: Params<'_>,
) -> Result<Vec<i64>, StoreError> {
    let rows = connection.query(sql, params).await;
    let rows = rows.map_err(failed("looking for records to sweep"))?;
    rows.iter().map(|row| get(row, "position")).collect()
}

/// Subtracts the rows from their stores' counts.
async fn subtract_counts(connection: &Connection, positions: &[i64]) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE data_stores SET records = data_stores.records - swept.records, bytes = data_stores.bytes - swept.bytes
             FROM (SELECT store_id, count(*) AS records, sum(bytes)::bigint AS bytes
                   FROM data_store_records WHERE position = ANY($1) GROUP BY store_id) AS swept
             WHERE id = store_id",
            &[&positions],
        )
        .await
        .map_err(failed("counting what is swept"))
        .map(drop)
}

async fn delete(connection: &Connection, positions: &[i64]) -> Result<(), StoreError> {
    connection
        .execute(
            "DELETE FROM data_store_records WHERE position = ANY($1)",
            &[&positions],
        )
        .await
        .map_err(failed("sweeping records"))
        .map(drop)
}
