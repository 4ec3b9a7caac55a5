//! Retention of deliveries, and of the events that are kept for them; and the end of those that are given up in numbers.

use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};
use rusqlite::{Connection, ToSql, params};

use super::give_up;
use crate::{
    connection::{ExecutePrepared as _, failed},
    row::signed,
    webhook_rows,
};

/// Whether a step has anything to look at.
pub(super) fn has_work(
    connection: &Connection,
    keep: u32,
    dead_before_ms: EpochMs,
) -> Result<bool, StoreError> {
    if keep != before(connection)? || !untrimmed(connection, 1)?.is_empty() {
        return Ok(true);
    }
    let is_past = |state: &str| {
        connection
            .prepare_cached(&format!(
                "SELECT 1 FROM deliveries WHERE state = '{state}' AND ended_at_ms < ? LIMIT 1"
            ))
            .and_then(|mut statement| statement.exists([signed(dead_before_ms)]))
            .map_err(failed("looking for deliveries to trim"))
    };
    Ok(is_past("dead")? || is_past("discarded")?)
}

pub(super) fn trim(
    connection: &Connection,
    keep: u32,
    dead_before_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    restart_if_fewer(connection, keep)?;
    let mut left = limit;
    for state in ["dead", "discarded"] {
        left -= delete(
            connection,
            &format!("state = '{state}' AND ended_at_ms < ?1 ORDER BY ended_at_ms LIMIT ?2"),
            params![signed(dead_before_ms), left],
        )?;
    }
    let untrimmed = untrimmed(connection, limit)?;
    for webhook_id in &untrimmed {
        if left == 0 {
            break;
        }
        let standing = webhook_rows::standing(connection, webhook_id)?;
        let given_up = standing.as_ref().and_then(|webhook| webhook.given_up_at_ms);
        if given_up.is_some() {
            left -= give_up::step(connection, webhook_id, left)?;
        }
        left -= match standing {
            Some(_) => delete_beyond(connection, webhook_id, keep, left)?,
            None => delete(
                connection,
                "webhook_id = ?1 LIMIT ?2",
                params![webhook_id, left],
            )?,
        };
        if left > 0 {
            finish(connection, webhook_id)?;
        }
    }
    Ok(Progress {
        done: u64::from(limit - left),
        more: left == 0 || untrimmed.len() == limit as usize,
        ..Progress::default()
    })
}

/// The number of deliveries to keep of the trimming before.
fn before(connection: &Connection) -> Result<u32, StoreError> {
    connection
        .prepare_cached("SELECT keep_deliveries FROM retention")
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
        .map_err(failed("beginning to trim"))
}

/// Restarts trimming if earlier trims kept more deliveries than are to be kept now.
fn restart_if_fewer(connection: &Connection, keep: u32) -> Result<(), StoreError> {
    let failed = failed("beginning to trim");
    let before = before(connection)?;
    if keep < before {
        let all = "INSERT INTO untrimmed_deliveries (webhook_id) SELECT id FROM webhooks WHERE TRUE ON CONFLICT DO NOTHING";
        connection.execute_prepared(all, ()).map_err(&failed)?;
    }
    if keep != before {
        connection
            .execute_prepared("UPDATE retention SET keep_deliveries = ?", [keep])
            .map_err(&failed)?;
    }
    Ok(())
}

fn untrimmed(connection: &Connection, limit: u32) -> Result<Vec<String>, StoreError> {
    let failed = failed("looking for deliveries to trim");
    let mut statement = connection
        .prepare_cached("SELECT webhook_id FROM untrimmed_deliveries LIMIT ?")
        .map_err(&failed)?;
    let ids = statement
        .query_map([limit], |row| row.get(0))
        .map_err(&failed)?;
    ids.collect::<Result<_, _>>().map_err(&failed)
}

/// Deletes the oldest of those that were taken, beyond the newest `keep`.
fn delete_beyond(
    connection: &Connection,
    webhook_id: &str,
    keep: u32,
    limit: u32,
) -> Result<u32, StoreError> {
    delete(
        connection,
        "webhook_id = ?1 AND state = 'delivered' AND is_again = 0
         AND id <= (SELECT id FROM deliveries WHERE webhook_id = ?1 AND state = 'delivered' AND is_again = 0
                    ORDER BY id DESC LIMIT 1 OFFSET ?3)
         ORDER BY id LIMIT ?2",
        params![webhook_id, limit, keep],
    )
}

/// Deletes deliveries, and the events that nobody needs without them.
fn delete(
    connection: &Connection,
    which: &str,
    parameters: &[&dyn ToSql],
) -> Result<u32, StoreError> {
    let failed = failed("trimming deliveries");
    let events: Vec<i64> = {
        let mut statement = connection
            .prepare_cached(&format!(
                "DELETE FROM deliveries WHERE position IN (SELECT position FROM deliveries WHERE {which})
                 RETURNING event_position"
            ))
            .map_err(&failed)?;
        let rows = statement
            .query_map(parameters, |row| row.get(0))
            .map_err(&failed)?;
        rows.collect::<Result<_, _>>().map_err(&failed)?
    };
    for event in &events {
        connection
            .execute_prepared(
                "UPDATE delivered_events SET deliveries = deliveries - 1 WHERE position = ?",
                [event],
            )
            .map_err(&failed)?;
        connection
            .execute_prepared(
                "DELETE FROM delivered_events WHERE position = ? AND deliveries <= 0",
                [event],
            )
            .map_err(&failed)?;
    }
    Ok(u32::try_from(events.len()).unwrap_or(u32::MAX))
}

fn finish(connection: &Connection, webhook_id: &str) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "DELETE FROM untrimmed_deliveries WHERE webhook_id = ?",
            [webhook_id],
        )
        .map_err(failed("trimming deliveries"))
        .map(drop)
}
