//! Deliveries that are retried by hand.

use headwater_model::{
    id::{DeliveryId, WebhookId},
    time::EpochMs,
};
use headwater_store::{Conflict, Entity, Progress, Replay, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::signed,
    webhook_rows::{self, Standing},
};

/// Makes it pending again, as if it had just been dispatched: in generation `?2`, at `?3`. A former lease is lost.
const ANEW: &str =
    "state = 'pending', generation = ?2, is_again = 1, again_at_ms = ?3, attempts = 0, due_at_ms = 0,
                    ended_at_ms = NULL, lease_epoch = NULL, lease_expires_at_ms = NULL";

pub(super) fn retry(
    connection: &Connection,
    delivery_id: &DeliveryId,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let id = delivery_id.as_str();
    let failed = failed("retrying a delivery");
    let webhook_id: Option<String> = connection
        .prepare_cached("SELECT webhook_id FROM deliveries WHERE id = ?")
        .and_then(|mut statement| statement.query_row([id], |row| row.get(0)).optional())
        .map_err(&failed)?;
    let gone = || Conflict::Gone(Entity::Delivery(delivery_id.clone()));
    let webhook_id = webhook_id.ok_or_else(gone)?;
    let standing = webhook_rows::standing(connection, &webhook_id)?.ok_or_else(gone)?;
    if !standing.is_active {
        return Err(webhook_rows::inactive(&webhook_id.parse().map_err(
            |error| StoreError::Corrupt(format!("a delivery's webhook: {error}")),
        )?));
    }
    make_due(connection, id, standing.generation, now_ms)
}

/// Makes a delivery due at once, in its webhook's generation.
pub(crate) fn make_due(
    connection: &Connection,
    id: &str,
    generation: i64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let failed = failed("retrying a delivery");
    // A pending one keeps its place in the retry schedule, and its lease.
    let pending =
        "UPDATE deliveries SET due_at_ms = 0 WHERE id = ? AND state = 'pending' AND generation = ?";
    let is_pending = connection
        .execute_prepared(pending, params![id, generation])
        .map_err(&failed)?
        > 0;
    if !is_pending {
        let ended = format!("UPDATE deliveries SET {ANEW} WHERE id = ?1");
        let parameters = params![id, generation, signed(now_ms)];
        connection
            .execute_prepared(&ended, parameters)
            .map_err(&failed)?;
    }
    Ok(())
}

/// Goes through the index in the order of dispatch, which is that of events, and stops at the bound.
pub(super) fn replay(
    connection: &Connection,
    webhook: &WebhookId,
    replay: &Replay,
    limit: u32,
) -> Result<Progress, StoreError> {
    let webhook_id = webhook.as_str();
    let standing = webhook_rows::standing(connection, webhook_id)?;
    let standing = standing.ok_or_else(|| webhook_rows::gone(webhook))?;
    if !standing.is_active {
        return Err(webhook_rows::inactive(webhook));
    }
    let sql = format!(
        "UPDATE deliveries SET {ANEW} WHERE id IN (SELECT id FROM ({} ORDER BY id LIMIT ?6))",
        ended(&standing, replay)
    );
    let done = connection
        .execute_prepared(
            &sql,
            params![
                webhook_id,
                standing.generation,
                signed(replay.now_ms),
                signed(replay.since_ms),
                signed(replay.until_ms),
                limit
            ],
        )
        .map_err(failed("replaying deliveries"))?;
    Ok(Progress {
        done: done as u64,
        more: done == limit as usize,
        ..Progress::default()
    })
}

/// Selects those that had ended at `?3`: dead ones, also where that is not written yet, and delivered ones if wanted.
fn ended(standing: &Standing, replay: &Replay) -> String {
    let of = |which: &str| {
        format!(
            "SELECT id FROM deliveries WHERE webhook_id = ?1 AND {which} AND indexed_at_ms BETWEEN ?4 AND ?5"
        )
    };
    let mut arms = vec![of("state = 'dead' AND is_again = 0 AND ended_at_ms <= ?3")];
    if replay.delivered {
        arms.push(of(
            "state = 'delivered' AND is_again = 0 AND ended_at_ms <= ?3",
        ));
    }
    if standing
        .given_up_at_ms
        .is_some_and(|at_ms| at_ms <= signed(replay.now_ms))
    {
        arms.push(of("state = 'pending' AND generation < ?2"));
    }
    arms.join(" UNION ALL ")
}
