//! Deliveries that somebody wants made once more.

use headwater_store::{Progress, Replay, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{connection::failed, row::signed, webhooks};

/// Pending again, as if it had just been dispatched.
const ANEW: &str = "state = 'pending', attempts = 0, due_at_ms = 0, ended_at_ms = NULL";

pub(super) fn retry(connection: &Connection, id: &str) -> Result<(), StoreError> {
    let failed = failed("retrying a delivery");
    let webhook_id: Option<String> = connection
        .prepare_cached("SELECT webhook_id FROM deliveries WHERE id = ?")
        .and_then(|mut statement| statement.query_row([id], |row| row.get(0)).optional())
        .map_err(&failed)?;
    let gone = || StoreError::Conflict(format!("delivery `{id}` is gone"));
    let webhook_id = webhook_id.ok_or_else(gone)?;
    match webhooks::is_active(connection, &webhook_id)? {
        None => return Err(gone()),
        Some(false) => return Err(inactive(&webhook_id)),
        Some(true) => {}
    }
    // Where one that is pending is in its schedule, and who attempts it, stays.
    for sql in [
        "UPDATE deliveries SET due_at_ms = 0 WHERE id = ? AND state = 'pending'",
        &format!("UPDATE deliveries SET {ANEW} WHERE id = ? AND state <> 'pending'"),
    ] {
        connection.execute(sql, [id]).map_err(&failed)?;
    }
    Ok(())
}

fn inactive(webhook_id: &str) -> StoreError {
    StoreError::Conflict(format!("webhook `{webhook_id}` is not active"))
}

/// Goes through the index in the order of dispatch, which is that of events, and stops at the bound.
pub(super) fn replay(
    connection: &Connection,
    webhook_id: &str,
    replay: &Replay,
    limit: u32,
) -> Result<Progress, StoreError> {
    match webhooks::is_active(connection, webhook_id)? {
        None => return Err(webhooks::gone(webhook_id)),
        Some(false) => return Err(inactive(webhook_id)),
        Some(true) => {}
    }
    let of = |state: &str| {
        format!(
            "SELECT id FROM deliveries WHERE webhook_id = ?1 AND state = '{state}'
             AND indexed_at_ms BETWEEN ?2 AND ?3 AND ended_at_ms <= ?4"
        )
    };
    let ended = match replay.delivered {
        true => format!("{} UNION ALL {}", of("dead"), of("delivered")),
        false => of("dead"),
    };
    let done = connection
        .prepare_cached(&format!(
            "UPDATE deliveries SET {ANEW} WHERE id IN (SELECT id FROM ({ended} ORDER BY id LIMIT ?5))"
        ))
        .and_then(|mut statement| {
            statement.execute(params![
                webhook_id,
                signed(replay.since_ms),
                signed(replay.until_ms),
                signed(replay.now_ms),
                limit
            ])
        })
        .map_err(failed("replaying deliveries"))?;
    Ok(Progress {
        done: done as u64,
        more: done == limit as usize,
        ..Progress::default()
    })
}
