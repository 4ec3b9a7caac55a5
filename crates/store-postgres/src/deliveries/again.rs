//! Deliveries that are retried by hand.

use headwater_model::{
    id::{DeliveryId, WebhookId},
    time::EpochMs,
};
use headwater_store::{Conflict, Entity, Progress, Replay, StoreError};

use crate::{
    connection::{Connection, Params, failed},
    row::signed,
    webhook_rows::{self, Standing},
};

/// Makes it pending again, as if it had just been dispatched: in generation `$2`, at `$3`. A former lease is lost.
const ANEW: &str =
    "state = 'pending', generation = $2, is_again = TRUE, again_at_ms = $3, attempts = 0, due_at_ms = 0,
                    ended_at_ms = NULL, lease_epoch = NULL, lease_expires_at_ms = NULL";

pub(super) async fn retry(
    connection: &Connection,
    delivery_id: &DeliveryId,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let id = delivery_id.as_str();
    let failed = failed("retrying a delivery");
    let webhook_id: Option<String> = connection
        .value_opt("SELECT webhook_id FROM deliveries WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    let gone = || Conflict::Gone(Entity::Delivery(delivery_id.clone()));
    let webhook_id = webhook_id.ok_or_else(gone)?;
    let standing = webhook_rows::standing(connection, &webhook_id)
        .await?
        .ok_or_else(gone)?;
    if !standing.is_active {
        return Err(webhook_rows::inactive(&webhook_id.parse().map_err(
            |error| StoreError::Corrupt(format!("a delivery's webhook: {error}")),
        )?));
    }
    make_due(connection, id, standing.generation, now_ms).await
}

/// Makes a delivery due at once, in its webhook's generation.
pub(crate) async fn make_due(
    connection: &Connection,
    id: &str,
    generation: i64,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let failed = failed("retrying a delivery");
    // A pending one keeps its place in the retry schedule, and its lease.
    let pending = "UPDATE deliveries SET due_at_ms = 0 WHERE id = $1 AND state = 'pending' AND generation = $2";
    let is_pending = connection
        .execute(pending, &[&id, &generation])
        .await
        .map_err(&failed)?
        > 0;
    if !is_pending {
        let ended = format!("UPDATE deliveries SET {ANEW} WHERE id = $1");
        let parameters: Params<'_> = &[&id, &generation, &signed(now_ms)];
        connection
            .execute(&ended, parameters)
            .await
            .map_err(&failed)?;
    }
    Ok(())
}

/// Goes through the index in the order of dispatch, which is that of events, and stops at the bound.
pub(super) async fn replay(
    connection: &Connection,
    webhook: &WebhookId,
    replay: &Replay,
    limit: u32,
) -> Result<Progress, StoreError> {
    let webhook_id = webhook.as_str();
    let standing = webhook_rows::standing(connection, webhook_id).await?;
    let standing = standing.ok_or_else(|| webhook_rows::gone(webhook))?;
    if !standing.is_active {
        return Err(webhook_rows::inactive(webhook));
    }
    let sql = format!(
        "UPDATE deliveries SET {ANEW} WHERE id = ANY (ARRAY(SELECT id FROM ({} ORDER BY id LIMIT $6) AS ended))",
        ended(&standing, replay)
    );
    let done = connection
        .execute(
            &sql,
            &[
                &webhook_id,
                &standing.generation,
                &signed(replay.now_ms),
                &signed(replay.since_ms),
                &signed(replay.until_ms),
                &signed(limit),
            ],
        )
        .await
        .map_err(failed("replaying deliveries"))?;
    Ok(Progress {
        done,
        more: done == u64::from(limit),
        ..Progress::default()
    })
}

/// Selects those that had ended at `$3`: dead ones, also where that is not written yet, and delivered ones if wanted.
fn ended(standing: &Standing, replay: &Replay) -> String {
    let of = |which: &str| {
        format!(
            "SELECT id FROM deliveries WHERE webhook_id = $1 AND {which} AND indexed_at_ms BETWEEN $4 AND $5"
        )
    };
    let mut arms = vec![of("state = 'dead' AND NOT is_again AND ended_at_ms <= $3")];
    if replay.delivered {
        arms.push(of(
            "state = 'delivered' AND NOT is_again AND ended_at_ms <= $3",
        ));
    }
    if standing
        .given_up_at_ms
        .is_some_and(|at_ms| at_ms <= signed(replay.now_ms))
    {
        arms.push(of("state = 'pending' AND generation < $2"));
    }
    arms.join(" UNION ALL ")
}
