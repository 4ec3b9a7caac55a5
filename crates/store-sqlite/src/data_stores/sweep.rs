//! Freeing the room of records that have expired, and of stores that were cleared or deleted.

use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::signed,
};

/// The number of rows that one write sweeps to make room.
const AT_ONCE: u32 = 1_000;

/// Deletes up to `limit` rows that reads no longer show.
pub(super) fn step(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    let sql = "SELECT position FROM data_store_records WHERE expires_at_ms <= ?1 LIMIT ?2";
    let expired = positions(connection, sql, signed(now_ms), limit)?;
    subtract_counts(connection, &expired)?;
    delete(connection, &expired)?;
    let left = limit - u32::try_from(expired.len()).unwrap_or(limit);
    let (swept, more) = match left {
        0 => (0, true),
        left => leftovers(connection, left)?,
    };
    Ok(Progress {
        done: expired.len() as u64 + swept,
        more,
        ..Progress::default()
    })
}

/// Deletes some of the expired records of one store.
pub(super) fn expired_of(
    connection: &Connection,
    store_id: i64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let sql = format!(
        "SELECT position FROM data_store_records
         WHERE expires_at_ms <= ?1 AND store_id = {store_id} LIMIT ?2"
    );
    let expired = positions(connection, &sql, signed(now_ms), AT_ONCE)?;
    subtract_counts(connection, &expired)?;
    delete(connection, &expired)
}

/// Deletes rows of a deleted store. Returns their number, and whether there may be more.
fn leftovers(connection: &Connection, limit: u32) -> Result<(u64, bool), StoreError> {
    let failed = failed("sweeping data stores");
    let store_id: Option<i64> = connection
        .prepare_cached("SELECT store_id FROM data_store_leftovers LIMIT 1")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)).optional())
        .map_err(&failed)?;
    let Some(store_id) = store_id else {
        return Ok((0, false));
    };
    let sql = "SELECT position FROM data_store_records WHERE store_id = ?1 LIMIT ?2";
    let rows = positions(connection, sql, store_id, limit)?;
    delete(connection, &rows)?;
    if rows.len() < limit as usize {
        connection
            .execute_prepared(
                "DELETE FROM data_store_leftovers WHERE store_id = ?",
                [store_id],
            )
            .map_err(&failed)?;
    }
    Ok((rows.len() as u64, true))
}

fn positions(
    connection: &Connection,
    sql: &str,
    of: i64,
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    let failed = failed("looking for records to sweep");
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let rows = statement
        .query_map(params![of, limit], |row| row.get(0))
        .map_err(&failed)?;
    rows.collect::<Result<_, _>>().map_err(&failed)
}

/// Subtracts the rows from their stores' counts.
fn subtract_counts(connection: &Connection, positions: &[i64]) -> Result<(), StoreError> {
    let failed = failed("counting what is swept");
    let sql = "UPDATE data_stores
               SET records = records - 1,
                   bytes = bytes - (SELECT bytes FROM data_store_records WHERE position = ?1)
               WHERE id = (SELECT store_id FROM data_store_records WHERE position = ?1)";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    for position in positions {
        statement.execute([position]).map_err(&failed)?;
    }
    Ok(())
}

fn delete(connection: &Connection, positions: &[i64]) -> Result<(), StoreError> {
    let failed = failed("sweeping records");
    let mut statement = connection
        .prepare_cached("DELETE FROM data_store_records WHERE position = ?")
        .map_err(&failed)?;
    for position in positions {
        statement.execute([position]).map_err(&failed)?;
    }
    Ok(())
}
