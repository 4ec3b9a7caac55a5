//! Claims and leases of deliveries.

use headwater_model::{time::EpochMs, webhook::AttemptCause};
use headwater_store::{
    ClaimLimit, ClaimedDeliveries, ClaimedDelivery, DeliveryLease, LeaseTerm, NodeEpoch, StoreError,
};
use rusqlite::{Connection, Row, params};

use super::event;
use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, parsed, signed, unsigned},
    webhook_rows,
};

/// A delivery that may be claimed: it is not leased, or its lease has expired.
pub(super) const FREE: &str = "(lease_epoch IS NULL OR lease_expires_at_ms <= ?1)";

pub(super) fn claim(
    connection: &Connection,
    webhook_id: &str,
    term: LeaseTerm,
    now_ms: EpochMs,
    limit: ClaimLimit,
) -> Result<ClaimedDeliveries, StoreError> {
    let webhook = webhook_rows::by_id(connection, webhook_id)?.filter(|webhook| webhook.active);
    let deliveries = match &webhook {
        Some(_) => lease_due(connection, webhook_id, term, now_ms, limit)?,
        None => Vec::new(),
    };
    Ok(ClaimedDeliveries {
        webhook,
        deliveries,
    })
}

fn lease_due(
    connection: &Connection,
    webhook_id: &str,
    term: LeaseTerm,
    now_ms: EpochMs,
    limit: ClaimLimit,
) -> Result<Vec<ClaimedDelivery>, StoreError> {
    let failed = failed("claiming deliveries");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT deliveries.position AS delivery_position, id, subscription_id, attempts, is_again, due_at_ms,
                    lease_number + 1 AS number, delivered_events.*
             FROM deliveries INDEXED BY deliveries_due
             CROSS JOIN delivered_events ON delivered_events.position = event_position
             WHERE webhook_id = ?2 AND state = 'pending' AND due_at_ms <= ?1 AND {FREE}
               AND generation = (SELECT generation FROM webhooks WHERE id = ?2)
             ORDER BY due_at_ms, event_position, deliveries.position"
        ))
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![signed(now_ms), webhook_id])
        .map_err(&failed)?;
    let (mut found, mut retries, mut bytes) = (Vec::new(), 0, 0);
    // Rows are read one by one, so that none beyond the limits is read.
    while found.len() < limit.deliveries as usize && bytes < limit.bytes {
        let Some(row) = rows.next().map_err(&failed)? else {
            break;
        };
        if get::<u32>(row, "attempts")? > 0 {
            if retries == limit.retries {
                // Those retried by hand are among those never attempted.
                match unsigned(row, "due_at_ms")? {
                    0 => continue,
                    _ => break,
                }
            }
            retries += 1;
        }
        let claimed = claimed(row, term.epoch)?;
        bytes += claimed.event.event.get().len() as u64;
        found.push((get(row, "delivery_position")?, claimed));
    }
    let mut lease = connection
        .prepare_cached(
            "UPDATE deliveries SET lease_epoch = ?, lease_expires_at_ms = ?, lease_number = lease_number + 1
             WHERE position = ?",
        )
        .map_err(&failed)?;
    found
        .into_iter()
        .map(|(position, claimed): (i64, ClaimedDelivery)| {
            let (epoch, expires_at_ms) = (signed(term.epoch.0), signed(term.expires_at_ms));
            lease
                .execute(params![epoch, expires_at_ms, position])
                .map_err(&failed)?;
            Ok(claimed)
        })
        .collect()
}

fn claimed(row: &Row<'_>, epoch: NodeEpoch) -> Result<ClaimedDelivery, StoreError> {
    let attempts = get(row, "attempts")?;
    Ok(ClaimedDelivery {
        lease: DeliveryLease {
            delivery_id: parsed(row, "id")?,
            epoch,
            number: get(row, "number")?,
        },
        event: event::of(row)?,
        subscription_id: parsed(row, "subscription_id")?,
        cause: AttemptCause::of_next(unsigned(row, "due_at_ms")?, attempts, get(row, "is_again")?),
        attempts,
    })
}

/// Prolongs a lease, if it still holds.
pub(super) fn extend(
    connection: &Connection,
    lease: &DeliveryLease,
    expires_at_ms: EpochMs,
) -> Result<(), StoreError> {
    let extend = "SET lease_expires_at_ms = ?4";
    update(connection, lease, extend, Some(signed(expires_at_ms)))
}

/// Gives a lease back, if it still holds.
pub(super) fn release(connection: &Connection, lease: &DeliveryLease) -> Result<(), StoreError> {
    let free = "SET lease_epoch = NULL, lease_expires_at_ms = ?4";
    update(connection, lease, free, None)
}

/// Gives back what is leased under the term.
pub(super) fn release_claim(
    connection: &Connection,
    webhook_id: &str,
    term: LeaseTerm,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "UPDATE deliveries SET lease_epoch = NULL, lease_expires_at_ms = NULL
             WHERE webhook_id = ? AND state = 'pending' AND lease_epoch = ? AND lease_expires_at_ms = ?",
            params![webhook_id, signed(term.epoch.0), signed(term.expires_at_ms)],
        )
        .map_err(failed("giving a claim back"))
        .map(drop)
}

/// Changes a delivery if the lease still holds; `?4` is `value`.
fn update(
    connection: &Connection,
    lease: &DeliveryLease,
    set: &str,
    value: Option<i64>,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            &format!(
                "UPDATE deliveries {set} WHERE id = ?1 AND lease_epoch = ?2 AND lease_number = ?3"
            ),
            params![
                lease.delivery_id.as_str(),
                signed(lease.epoch.0),
                lease.number,
                value
            ],
        )
        .map_err(failed("changing a lease"))
        .map(drop)
}
