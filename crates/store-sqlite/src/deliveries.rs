//! The queue of deliveries: claims and leases behind the trait. What became of attempts, what is listed and what is
//! deleted have modules of their own.

mod again;
mod attempts;
mod listing;
mod trim;
mod waiting;

use async_trait::async_trait;
use headwater_model::{
    channel::Channel,
    id::{DeliveryId, EmitterId, EventId, WebhookId},
    page::{Page, PageRequest},
    webhook::DeliveryState,
};
use headwater_store::{
    AttemptRecord, ClaimLimit, ClaimedDelivery, DeliveredEvent, Deliveries, Delivery,
    DeliveryLease, DisabledWebhook, LeaseTerm, NodeEpoch, Progress, RecordedAttempts, Replay,
    StoreError, WebhookBacklog,
};
use rusqlite::{Connection, Row, params};

use crate::{
    SqliteStore,
    connection::failed,
    row::{get, parsed, raw, signed, trace, unsigned},
};

/// Deliveries given up together with the webhook; more are given up in steps of their own.
const GIVEN_UP_AT_ONCE: u32 = 1_000;

/// A delivery that may be claimed: nobody holds it, or the lease ran out.
const FREE: &str = "(lease_epoch IS NULL OR lease_expires_at_ms <= ?1)";

#[async_trait]
impl Deliveries for SqliteStore {
    async fn claim_deliveries(
        &self,
        webhook_id: &WebhookId,
        term: LeaseTerm,
        now_ms: u64,
        limit: ClaimLimit,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let id = webhook_id.clone();
        self.write(move |connection| claim(connection, id.as_str(), term, (now_ms, limit)))
            .await
    }

    async fn webhooks_with_work(
        &self,
        now_ms: u64,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let after = after.cloned();
        self.read(move |connection| {
            waiting::webhooks_with_work(connection, now_ms, after.as_ref(), limit)
        })
        .await
    }

    async fn retries_due(
        &self,
        after_ms: u64,
        now_ms: u64,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.read(move |connection| waiting::retries_due(connection, (after_ms, now_ms), limit))
            .await
    }

    async fn extend_delivery_leases(
        &self,
        leases: &[DeliveryLease],
        expires_at_ms: u64,
    ) -> Result<(), StoreError> {
        let leases = leases.to_vec();
        let expires_at_ms = signed(expires_at_ms);
        self.write(move |connection| {
            let extend = "SET lease_expires_at_ms = ?4";
            leases
                .iter()
                .try_for_each(|lease| update(connection, lease, extend, Some(expires_at_ms)))
        })
        .await
    }

    async fn release_deliveries(&self, leases: &[DeliveryLease]) -> Result<(), StoreError> {
        let leases = leases.to_vec();
        self.write(move |connection| {
            let free = "SET lease_epoch = NULL, lease_expires_at_ms = ?4";
            leases
                .iter()
                .try_for_each(|lease| update(connection, lease, free, None))
        })
        .await
    }

    async fn record_attempts(
        &self,
        webhook_id: &WebhookId,
        attempts: Vec<AttemptRecord>,
        disabled: Option<DisabledWebhook>,
        now_ms: u64,
    ) -> Result<RecordedAttempts, StoreError> {
        let id = webhook_id.clone();
        self.write(move |connection| {
            attempts::record(connection, &id, (&attempts, disabled), now_ms)
        })
        .await
    }

    async fn deliveries(
        &self,
        webhook_id: &WebhookId,
        state: Option<DeliveryState>,
        page: &PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, StoreError> {
        let (id, page) = (webhook_id.clone(), page.clone());
        self.read(move |connection| listing::page(connection, id.as_str(), state, &page))
            .await
    }

    async fn webhook_backlogs(&self, ids: &[WebhookId]) -> Result<Vec<WebhookBacklog>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection| {
            let backlogs = ids
                .iter()
                .map(|id| waiting::backlog(connection, id.as_str()));
            backlogs.collect()
        })
        .await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let id = id.clone();
        self.read(move |connection| listing::by_id(connection, id.as_str()))
            .await
    }

    async fn deliveries_of(
        &self,
        emitter: &EmitterId,
        event: EventId,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError> {
        let emitter = emitter.clone();
        self.read(move |connection| listing::of_event(connection, (emitter.as_str(), event), limit))
            .await
    }

    async fn retry_delivery(&self, id: &DeliveryId, now_ms: u64) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |connection| again::retry(connection, &id, now_ms))
            .await
    }

    async fn replay(
        &self,
        webhook_id: &WebhookId,
        replay: &Replay,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let (id, replay) = (webhook_id.clone(), *replay);
        self.write(move |connection| again::replay(connection, &id, &replay, limit))
            .await
    }

    async fn trim_deliveries(
        &self,
        keep: u32,
        dead_before_ms: u64,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.write(move |connection| trim::trim(connection, keep, dead_before_ms, limit))
            .await
    }
}

/// Makes dead letters of what a webhook has not taken: of a bounded number at once, of the others in steps of trimming,
/// until when their former generation tells that they are dead.
pub(crate) fn begin_giving_up(
    connection: &Connection,
    webhook_id: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    let failed = failed("giving deliveries up");
    connection
        .prepare_cached(
            "UPDATE webhooks SET generation = generation + 1, given_up_at_ms = ?2 WHERE id = ?1",
        )
        .and_then(|mut statement| statement.execute(params![webhook_id, at_ms]))
        .map_err(&failed)?;
    if give_up(connection, webhook_id, GIVEN_UP_AT_ONCE)? < GIVEN_UP_AT_ONCE {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT INTO untrimmed_deliveries (webhook_id) VALUES (?) ON CONFLICT DO NOTHING",
        )
        .and_then(|mut statement| statement.execute([webhook_id]))
        .map_err(&failed)
        .map(drop)
}

/// Writes that up to `limit` deliveries of a webhook's former generations are dead; fewer were all that were left.
pub(crate) fn give_up(
    connection: &Connection,
    webhook_id: &str,
    limit: u32,
) -> Result<u32, StoreError> {
    let failed = failed("giving deliveries up");
    let given_up = connection
        .prepare_cached(
            "UPDATE deliveries SET state = 'dead', lease_epoch = NULL, lease_expires_at_ms = NULL, is_again = 0,
                                   ended_at_ms = (SELECT given_up_at_ms FROM webhooks WHERE id = ?1)
             WHERE position IN (SELECT position FROM deliveries INDEXED BY deliveries_due
                                WHERE webhook_id = ?1 AND state = 'pending'
                                  AND generation < (SELECT generation FROM webhooks WHERE id = ?1) LIMIT ?2)",
        )
        .and_then(|mut statement| statement.execute(params![webhook_id, limit]))
        .map_err(&failed)?;
    if given_up < limit as usize {
        connection
            .prepare_cached("UPDATE webhooks SET given_up_at_ms = NULL WHERE id = ?")
            .and_then(|mut statement| statement.execute([webhook_id]))
            .map_err(&failed)?;
    }
    Ok(u32::try_from(given_up).unwrap_or(u32::MAX))
}

fn claim(
    connection: &Connection,
    webhook_id: &str,
    term: LeaseTerm,
    (now_ms, limit): (u64, ClaimLimit),
) -> Result<Vec<ClaimedDelivery>, StoreError> {
    let failed = failed("claiming deliveries");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT deliveries.position AS delivery_position, id, subscription_id, attempts, due_at_ms,
                    lease_number + 1 AS number, delivered_events.*
             FROM deliveries INDEXED BY deliveries_due
             CROSS JOIN delivered_events ON delivered_events.position = event_position
             WHERE webhook_id = ?2 AND state = 'pending' AND due_at_ms <= ?1 AND {FREE}
               AND generation = (SELECT generation FROM webhooks WHERE id = ?2 AND active)
             ORDER BY due_at_ms, event_position, deliveries.position"
        ))
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![signed(now_ms), webhook_id])
        .map_err(&failed)?;
    let (mut found, mut retries, mut bytes) = (Vec::new(), 0, 0);
    // Rows are read one by one: nothing behind the limits is looked at.
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
    Ok(ClaimedDelivery {
        lease: DeliveryLease {
            delivery_id: parsed(row, "id")?,
            epoch,
            number: get(row, "number")?,
        },
        event: event(row)?,
        subscription_id: parsed(row, "subscription_id")?,
        attempts: get(row, "attempts")?,
    })
}

/// The columns of `delivered_events`.
fn event(row: &Row<'_>) -> Result<DeliveredEvent, StoreError> {
    Ok(DeliveredEvent {
        emitter: parsed(row, "emitter_id")?,
        id: EventId {
            ms: unsigned(row, "ms")?,
            sequence: get(row, "sequence")?,
        },
        channel: Channel::named(get::<String>(row, "channel")?),
        event: raw(row, "event")?,
        trace: trace(row)?,
    })
}

/// Changes a delivery if the lease still holds; `?4` is `value`.
fn update(
    connection: &Connection,
    lease: &DeliveryLease,
    set: &str,
    value: Option<i64>,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(&format!(
            "UPDATE deliveries {set} WHERE id = ?1 AND lease_epoch = ?2 AND lease_number = ?3"
        ))
        .and_then(|mut statement| {
            statement.execute(params![
                lease.delivery_id.as_str(),
                signed(lease.epoch.0),
                lease.number,
                value
            ])
        })
        .map_err(failed("changing a lease"))
        .map(drop)
}
