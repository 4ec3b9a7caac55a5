//! Listing deliveries.

use headwater_model::{
    channel::ChannelClass,
    id::{DeliveryId, EventId},
    page::{Page, PageRequest, Position},
    time::EpochMs,
    webhook::DeliveryState,
};
use headwater_store::{Attempt, AttemptHeaders, Delivery, EventDelivery, StoreError};
use rusqlite::{Connection, Row, params};

use super::event;
use crate::{
    connection::failed,
    row::{get, json_opt, named, parsed, parsed_opt, signed, unsigned},
    webhook_rows::{self, Standing},
};

/// Where a delivery is in its life.
pub(super) const STATE: &str = "CASE WHEN state = 'pending' AND deliveries.generation < webhooks.generation THEN 'dead' ELSE state END";
/// The columns of an attempt without its headers.
const ATTEMPT: &str = "at_ms, cause, latency_ms, status, response_excerpt, error, failure";
/// A text that sorts after every id.
const LAST: &str = "~";

/// Deliveries with their events, of webhooks that are there, and with what the log still has of the events.
fn listed() -> String {
    format!(
        "SELECT deliveries.position AS delivery_position, deliveries.id AS id, webhook_id, subscription_id, {STATE} AS state,
                due_at_ms, is_again, again_at_ms, created_at_ms, delivered_events.*,
                (SELECT run_id FROM events WHERE events.position = event_position) AS run_id,
                (SELECT summary FROM events WHERE events.position = event_position) AS summary
         FROM deliveries CROSS JOIN delivered_events ON delivered_events.position = event_position
                         CROSS JOIN webhooks ON webhooks.id = webhook_id"
    )
}

pub(super) fn page(
    connection: &Connection,
    webhook_id: &str,
    state: Option<DeliveryState>,
    page: &PageRequest<DeliveryId>,
) -> Result<Page<Delivery>, StoreError> {
    let Some(standing) = webhook_rows::standing(connection, webhook_id)? else {
        return Ok(Page {
            total_count: 0,
            items: Vec::new(),
        });
    };
    let parts = parts(&standing, state);
    let (bound, order, from) = match &page.position {
        Position::First => ("id < ?3", "DESC", LAST),
        Position::After(after) => ("id < ?3", "DESC", after.as_str()),
        Position::Before(before) => ("id > ?3", "ASC", before.as_str()),
    };
    let sql = format!(
        "{} WHERE deliveries.id IN ({} LIMIT ?4) ORDER BY deliveries.id {order}",
        listed(),
        ids(&parts, bound, order),
    );
    let failed = failed("reading deliveries");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![webhook_id, standing.generation, from, page.limit])
        .map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(delivery(connection, row, false)?);
    }
    if order == "ASC" {
        items.reverse();
    }
    Ok(Page {
        total_count: count(connection, webhook_id, &standing, &parts)?,
        items,
    })
}

/// The last attempt to any of a webhook's newest deliveries.
pub(super) fn last_attempt(
    connection: &Connection,
    webhook_id: &str,
    among: u32,
) -> Result<Option<Attempt>, StoreError> {
    let Some(standing) = webhook_rows::standing(connection, webhook_id)? else {
        return Ok(None);
    };
    let sql = format!(
        "SELECT {ATTEMPT}, NULL AS request_headers, NULL AS response_headers
         FROM attempts WHERE delivery_position IN (
             SELECT position FROM deliveries WHERE id IN ({} LIMIT ?4))
         ORDER BY at_ms DESC, number DESC LIMIT 1",
        ids(&parts(&standing, None), "id < ?3", "DESC"),
    );
    let failed = failed("reading the last attempt at a webhook");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![webhook_id, standing.generation, LAST, among])
        .map_err(&failed)?;
    rows.next().map_err(&failed)?.map(attempt).transpose()
}

/// The ids of the parts in that order. One arm per part: each reads the index in it, and SQLite merges them.
fn ids(parts: &[String], bound: &str, order: &str) -> String {
    let arms: Vec<String> = parts
        .iter()
        .map(|part| format!("SELECT id AS listed FROM deliveries WHERE {part} AND {bound}"))
        .collect();
    let arms = arms.join(" UNION ALL ");
    format!("SELECT listed FROM ({arms}) ORDER BY listed {order}")
}

/// The parts of the index that are to be listed, as conditions on webhook `?1` and its generation `?2`.
pub(crate) fn parts(standing: &Standing, state: Option<DeliveryState>) -> Vec<String> {
    let every = [
        (
            DeliveryState::Pending,
            "state = 'pending' AND is_again = 0 AND generation = ?2",
        ),
        (
            DeliveryState::Pending,
            "state = 'pending' AND is_again = 1 AND generation = ?2",
        ),
        (
            DeliveryState::Delivered,
            "state = 'delivered' AND is_again = 0 AND generation <= ?2",
        ),
        (
            DeliveryState::Dead,
            "state = 'dead' AND is_again = 0 AND generation <= ?2",
        ),
        (
            DeliveryState::Discarded,
            "state = 'discarded' AND is_again = 0 AND generation <= ?2",
        ),
        (
            DeliveryState::Dead,
            "state = 'pending' AND is_again = 0 AND generation < ?2",
        ),
        (
            DeliveryState::Dead,
            "state = 'pending' AND is_again = 1 AND generation < ?2",
        ),
    ];
    let count = match standing.given_up_at_ms {
        Some(_) => every.len(),
        None => every.len() - 2,
    };
    let wanted = every.iter().take(count);
    wanted
        .filter(|(of, _)| state.is_none_or(|state| state == *of))
        .map(|(_, part)| format!("webhook_id = ?1 AND {part}"))
        .collect()
}

fn count(
    connection: &Connection,
    webhook_id: &str,
    standing: &Standing,
    parts: &[String],
) -> Result<u64, StoreError> {
    let counts: Vec<String> = parts
        .iter()
        .map(|part| format!("(SELECT count(*) FROM deliveries WHERE {part})"))
        .collect();
    let count: i64 = connection
        .prepare_cached(&format!("SELECT {}", counts.join(" + ")))
        .and_then(|mut statement| {
            statement.query_row(params![webhook_id, standing.generation], |row| row.get(0))
        })
        .map_err(failed("counting deliveries"))?;
    Ok(count.unsigned_abs())
}

/// The delivery with the headers of its attempts.
pub(super) fn by_id(connection: &Connection, id: &str) -> Result<Option<Delivery>, StoreError> {
    one(connection, id, true)
}

/// The delivery as pages have it.
pub(super) fn without_headers(
    connection: &Connection,
    id: &str,
) -> Result<Option<Delivery>, StoreError> {
    one(connection, id, false)
}

/// The id as it was read.
pub(super) fn id(text: &str) -> Result<DeliveryId, StoreError> {
    text.parse()
        .map_err(|error| StoreError::Corrupt(format!("a delivery's id: {error}")))
}

fn one(
    connection: &Connection,
    id: &str,
    has_headers: bool,
) -> Result<Option<Delivery>, StoreError> {
    let failed = failed("reading a delivery");
    let mut statement = connection
        .prepare_cached(&format!("{} WHERE deliveries.id = ?", listed()))
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    row.map(|row| delivery(connection, row, has_headers))
        .transpose()
}

/// Those of an event that is in the log: its place there leads to them.
pub(super) fn of_event(
    connection: &Connection,
    emitter: &str,
    event: EventId,
    limit: u32,
) -> Result<Vec<EventDelivery>, StoreError> {
    let failed = failed("reading the deliveries of an event");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT deliveries.id AS id, webhook_id, {STATE} AS state
             FROM deliveries CROSS JOIN webhooks ON webhooks.id = webhook_id
             WHERE event_position IN (
                 SELECT position FROM events
                 WHERE emitter_id = ?1 AND class IN ({ordinary}, {errors}, {logs}) AND ms = ?2 AND sequence = ?3)
             ORDER BY deliveries.id LIMIT ?4",
            ordinary = ChannelClass::Ordinary.code(),
            errors = ChannelClass::Errors.code(),
            logs = ChannelClass::Logs.code(),
        ))
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![emitter, signed(event.ms), event.sequence, limit])
        .map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(EventDelivery {
            id: parsed(row, "id")?,
            webhook_id: parsed(row, "webhook_id")?,
            state: named(&get::<String>(row, "state")?)?,
        });
    }
    Ok(found)
}

fn delivery(
    connection: &Connection,
    row: &Row<'_>,
    has_headers: bool,
) -> Result<Delivery, StoreError> {
    let state: DeliveryState = named(&get::<String>(row, "state")?)?;
    let created_at_ms: EpochMs = unsigned(row, "created_at_ms")?;
    // The wait of a delivery that is due at once began then.
    let since_ms = match get(row, "is_again")? {
        true => unsigned(row, "again_at_ms")?,
        false => created_at_ms,
    };
    let due_at_ms = unsigned::<EpochMs>(row, "due_at_ms")?.max(since_ms);
    Ok(Delivery {
        id: parsed(row, "id")?,
        webhook_id: parsed(row, "webhook_id")?,
        subscription_id: parsed(row, "subscription_id")?,
        event: event::of(row)?,
        run_id: parsed_opt(row, "run_id")?,
        summary: get(row, "summary")?,
        state,
        attempts: attempts(connection, get(row, "delivery_position")?, has_headers)?,
        next_attempt_at_ms: (state == DeliveryState::Pending).then_some(due_at_ms),
        created_at_ms,
    })
}

fn attempts(
    connection: &Connection,
    position: i64,
    has_headers: bool,
) -> Result<Vec<Attempt>, StoreError> {
    let failed = failed("reading attempts");
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT {ATTEMPT},
                    CASE WHEN ?2 THEN request_headers END AS request_headers,
                    CASE WHEN ?2 THEN response_headers END AS response_headers
             FROM attempts WHERE delivery_position = ?1 ORDER BY number"
        ))
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![position, has_headers])
        .map_err(&failed)?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        attempts.push(attempt(row)?);
    }
    Ok(attempts)
}

fn attempt(row: &Row<'_>) -> Result<Attempt, StoreError> {
    let cause: Option<String> = get(row, "cause")?;
    let failure: Option<String> = get(row, "failure")?;
    Ok(Attempt {
        at_ms: unsigned(row, "at_ms")?,
        cause: cause.as_deref().map(named).transpose()?,
        latency_ms: unsigned(row, "latency_ms")?,
        status: get(row, "status")?,
        response_excerpt: get(row, "response_excerpt")?,
        error: get(row, "error")?,
        failure: failure.as_deref().map(named).transpose()?,
        headers: headers(row)?,
    })
}

fn headers(row: &Row<'_>) -> Result<Option<AttemptHeaders>, StoreError> {
    let Some(request) = json_opt(row, "request_headers")? else {
        return Ok(None);
    };
    Ok(Some(AttemptHeaders {
        request,
        response: json_opt(row, "response_headers")?.unwrap_or_default(),
    }))
}
