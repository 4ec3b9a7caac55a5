//! Deliveries as they are listed.

use headwater_model::{
    id::DeliveryId,
    page::{Page, PageRequest, Position},
    webhook::DeliveryState,
};
use headwater_store::{Attempt, Delivery, StoreError};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::failed,
    deliveries,
    row::{get, name_of, named, parsed, unsigned},
};

/// Deliveries with their events, of webhooks that are there.
const LISTED: &str = "SELECT deliveries.position AS delivery_position, id, webhook_id, subscription_id, state, due_at_ms,
                             created_at_ms, delivered_events.*
                      FROM deliveries CROSS JOIN delivered_events ON delivered_events.position = event_position";
const EVERY_STATE: [DeliveryState; 3] = [
    DeliveryState::Pending,
    DeliveryState::Delivered,
    DeliveryState::Dead,
];
/// Sorts behind every id.
const LAST: &str = "~";

pub(super) fn page(
    connection: &Connection,
    webhook_id: &str,
    state: Option<DeliveryState>,
    page: &PageRequest<DeliveryId>,
) -> Result<Page<Delivery>, StoreError> {
    let states = state.map_or(EVERY_STATE.to_vec(), |state| vec![state]);
    let states: Vec<String> = states.iter().map(name_of).collect::<Result<_, _>>()?;
    let (bound, order, from) = match &page.position {
        Position::First => ("id < ?2", "DESC", LAST),
        Position::After(after) => ("id < ?2", "DESC", after.as_str()),
        Position::Before(before) => ("id > ?2", "ASC", before.as_str()),
    };
    // One arm per state: each reads the index in the listed order, and SQLite merges them.
    let arms: Vec<String> = states
        .iter()
        .map(|state| {
            format!(
                "SELECT id AS listed FROM deliveries WHERE webhook_id = ?1 AND state = '{state}' AND {bound}
                 AND EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = ?1)"
            )
        })
        .collect();
    let sql = format!(
        "{LISTED} WHERE id IN (SELECT listed FROM ({} ORDER BY listed {order} LIMIT ?3)) ORDER BY id {order}",
        arms.join(" UNION ALL ")
    );
    let failed = failed("reading deliveries");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![webhook_id, from, page.limit])
        .map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(delivery(connection, row)?);
    }
    if order == "ASC" {
        items.reverse();
    }
    Ok(Page {
        total_count: count(connection, webhook_id, &states)?,
        items,
    })
}

fn count(connection: &Connection, webhook_id: &str, states: &[String]) -> Result<u64, StoreError> {
    let sql = format!(
        "SELECT count(*) FROM deliveries WHERE webhook_id = ?1 AND state IN ('{}')
            AND EXISTS (SELECT 1 FROM webhooks WHERE id = ?1)",
        states.join("', '")
    );
    let count: i64 = connection
        .prepare_cached(&sql)
        .and_then(|mut statement| statement.query_row([webhook_id], |row| row.get(0)))
        .map_err(failed("counting deliveries"))?;
    Ok(count.unsigned_abs())
}

pub(super) fn by_id(connection: &Connection, id: &str) -> Result<Option<Delivery>, StoreError> {
    let failed = failed("reading a delivery");
    let mut statement = connection
        .prepare_cached(&format!(
            "{LISTED} WHERE id = ? AND EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = webhook_id)"
        ))
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    row.map(|row| delivery(connection, row)).transpose()
}

fn delivery(connection: &Connection, row: &Row<'_>) -> Result<Delivery, StoreError> {
    let state: DeliveryState = named(&get::<String>(row, "state")?)?;
    let created_at_ms = unsigned(row, "created_at_ms")?;
    let due_at_ms = unsigned(row, "due_at_ms")?;
    Ok(Delivery {
        id: parsed(row, "id")?,
        webhook_id: parsed(row, "webhook_id")?,
        subscription_id: parsed(row, "subscription_id")?,
        event: deliveries::event(row)?,
        state,
        attempts: attempts(connection, get(row, "delivery_position")?)?,
        // What is due at once was so from the beginning.
        next_attempt_at_ms: (state == DeliveryState::Pending).then(|| due_at_ms.max(created_at_ms)),
        created_at_ms,
    })
}

fn attempts(connection: &Connection, position: i64) -> Result<Vec<Attempt>, StoreError> {
    let failed = failed("reading attempts");
    let mut statement = connection
        .prepare_cached("SELECT * FROM attempts WHERE delivery_position = ? ORDER BY number")
        .map_err(&failed)?;
    let mut rows = statement.query([position]).map_err(&failed)?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        attempts.push(Attempt {
            at_ms: unsigned(row, "at_ms")?,
            latency_ms: unsigned(row, "latency_ms")?,
            status: get(row, "status")?,
            response_excerpt: get(row, "response_excerpt")?,
            error: get(row, "error")?,
        });
    }
    Ok(attempts)
}
