//! Claims and leases of deliveries.

use std::collections::HashMap;

use futures::try_join;
use headwater_model::{time::EpochMs, webhook::AttemptCause};
use headwater_store::{
    ClaimLimit, ClaimedDeliveries, ClaimedDelivery, DeliveryLease, LeaseTerm, NodeEpoch, StoreError,
};
use tokio_postgres::Row;

use super::event;
use crate::{
    claim_turn,
    connection::{Connection, failed},
    row::{get, list, parsed, signed, unsigned},
    webhook_rows,
};

/// A delivery that may be claimed: it is not leased, or its lease has expired.
pub(super) const FREE: &str = "(lease_epoch IS NULL OR lease_expires_at_ms <= $1)";

pub(super) async fn claim(
    connection: &Connection,
    webhook_id: &str,
    term: LeaseTerm,
    now_ms: EpochMs,
    limit: ClaimLimit,
) -> Result<ClaimedDeliveries, StoreError> {
    let (_, _, webhook) = try_join!(
        claim_turn::wait(connection, webhook_id),
        in_order(connection),
        webhook_rows::kept(connection, webhook_id),
    )?;
    let webhook = webhook.filter(|webhook| webhook.active);
    let deliveries = match &webhook {
        Some(_) => lease_due(connection, webhook_id, term, now_ms, limit).await?,
        None => Vec::new(),
    };
    Ok(ClaimedDeliveries {
        webhook,
        deliveries,
    })
}

/// Lets the first deliveries be found in the order of their index: a bitmap of it would be of all that wait.
async fn in_order(connection: &Connection) -> Result<(), StoreError> {
    let set = connection.run("SET LOCAL enable_bitmapscan = off");
    set.await.map_err(failed("claiming deliveries"))
}

async fn lease_due(
    connection: &Connection,
    webhook_id: &str,
    term: LeaseTerm,
    now_ms: EpochMs,
    limit: ClaimLimit,
) -> Result<Vec<ClaimedDelivery>, StoreError> {
    let failed = failed("claiming deliveries");
    let positions = choose(connection, webhook_id, now_ms, limit).await?;
    // Another step may have ended or leased some of them since they were chosen.
    let rows = connection
        .query(
            &format!(
                "UPDATE deliveries
                 SET lease_epoch = $3, lease_expires_at_ms = $4, lease_number = lease_number + 1
                 FROM delivered_events
                 WHERE deliveries.position = ANY($2) AND delivered_events.position = event_position
                   AND (state = 'pending' AND due_at_ms <= $1) IS TRUE AND {FREE}
                 RETURNING deliveries.position AS place, id, subscription_id, attempts, due_at_ms, is_again,
                           lease_number AS number, delivered_events.*"
            ),
            &[
                &signed(now_ms),
                &positions,
                &signed(term.epoch.0),
                &signed(term.expires_at_ms),
            ],
        )
        .await
        .map_err(&failed)?;
    let mut claims = HashMap::with_capacity(rows.len());
    for row in &rows {
        claims.insert(get::<i64>(row, "place")?, claimed(row, term.epoch)?);
    }
    // RETURNING promises no order.
    let in_order = positions.iter();
    Ok(in_order.filter_map(|place| claims.remove(place)).collect())
}

/// The positions of the deliveries that are next, within the limits. Of the retries that are due, no more are looked at
/// than may be claimed; those retried by hand are among those never attempted.
async fn choose(
    connection: &Connection,
    webhook_id: &str,
    now_ms: EpochMs,
    limit: ClaimLimit,
) -> Result<Vec<i64>, StoreError> {
    let failed = failed("looking for deliveries to claim");
    let rows = connection
        .query(
            &format!(
                "WITH free AS NOT MATERIALIZED (
                     SELECT position, attempts, due_at_ms, event_position FROM deliveries
                     WHERE webhook_id = $2 AND state = 'pending' AND {FREE}
                       AND generation = (SELECT generation FROM webhooks WHERE id = $2))
                 SELECT due.position, attempts, octet_length(event)::bigint AS bytes
                 FROM ((SELECT position, attempts, due_at_ms, event_position
                        FROM (SELECT *, count(*) FILTER (WHERE attempts > 0) OVER before AS retries FROM free
                              WHERE due_at_ms = 0
                              WINDOW before AS (ORDER BY event_position, position ROWS UNBOUNDED PRECEDING)) AS at_once
                        WHERE attempts = 0 OR retries <= $3 ORDER BY event_position, position LIMIT $4)
                       UNION ALL
                       (SELECT position, attempts, due_at_ms, event_position FROM free
                        WHERE due_at_ms > 0 AND due_at_ms <= $1
                        ORDER BY due_at_ms, event_position, position LIMIT $3)) AS due
                 JOIN delivered_events ON delivered_events.position = event_position
                 ORDER BY due_at_ms, event_position, due.position"
            ),
            &[
                &signed(now_ms),
                &webhook_id,
                &signed(limit.retries),
                &signed(limit.deliveries),
            ],
        )
        .await
        .map_err(&failed)?;
    let (mut positions, mut retries, mut bytes) = (Vec::new(), 0, 0);
    for row in &rows {
        if positions.len() == limit.deliveries as usize || bytes >= limit.bytes {
            break;
        }
        if get::<i64>(row, "attempts")? > 0 {
            if retries == limit.retries {
                continue;
            }
            retries += 1;
        }
        bytes += unsigned::<u64>(row, "bytes")?;
        positions.push(get(row, "position")?);
    }
    Ok(positions)
}

fn claimed(row: &Row, epoch: NodeEpoch) -> Result<ClaimedDelivery, StoreError> {
    let attempts = unsigned(row, "attempts")?;
    Ok(ClaimedDelivery {
        lease: DeliveryLease {
            delivery_id: parsed(row, "id")?,
            epoch,
            number: unsigned(row, "number")?,
        },
        event: event::of(row)?,
        subscription_id: parsed(row, "subscription_id")?,
        cause: AttemptCause::of_next(unsigned(row, "due_at_ms")?, attempts, get(row, "is_again")?),
        attempts,
    })
}

/// Prolongs leases that still hold.
pub(super) async fn extend(
    connection: &Connection,
    leases: &[DeliveryLease],
    expires_at_ms: EpochMs,
) -> Result<(), StoreError> {
    let extend = "SET lease_expires_at_ms = $4";
    update(connection, leases, extend, Some(signed(expires_at_ms))).await
}

/// Gives leases back that still hold.
pub(super) async fn release(
    connection: &Connection,
    leases: &[DeliveryLease],
) -> Result<(), StoreError> {
    let free = "SET lease_epoch = NULL, lease_expires_at_ms = $4";
    update(connection, leases, free, None).await
}

/// Gives back what is leased under the term.
pub(super) async fn release_claim(
    connection: &Connection,
    webhook_id: &str,
    term: LeaseTerm,
) -> Result<(), StoreError> {
    // The lost one may still be at its commit.
    claim_turn::wait(connection, webhook_id).await?;
    connection
        .execute(
            "UPDATE deliveries SET lease_epoch = NULL, lease_expires_at_ms = NULL
             WHERE webhook_id = $1 AND state = 'pending' AND lease_epoch = $2 AND lease_expires_at_ms = $3",
            &[
                &webhook_id,
                &signed(term.epoch.0),
                &signed(term.expires_at_ms),
            ],
        )
        .await
        .map_err(failed("giving a claim back"))
        .map(drop)
}

/// Changes deliveries whose leases still hold; `$4` is `value`.
async fn update(
    connection: &Connection,
    leases: &[DeliveryLease],
    set: &str,
    value: Option<i64>,
) -> Result<(), StoreError> {
    let mut leases: Vec<&DeliveryLease> = leases.iter().collect();
    leases.sort_by_key(|lease| lease.delivery_id.as_str());
    connection
        .execute(
            &format!(
                "UPDATE deliveries {set}
                 FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS lease (delivery_id, epoch, number)
                 WHERE id = delivery_id AND lease_epoch = epoch AND lease_number = number"
            ),
            &[
                &list(&leases, |lease| lease.delivery_id.as_str()),
                &list(&leases, |lease| signed(lease.epoch.0)),
                &list(&leases, |lease| signed(lease.number)),
                &value,
            ],
        )
        .await
        .map_err(failed("changing leases"))
        .map(drop)
}
