//! Retention of deliveries, and of the events that are kept for them; and the end of those that are given up in numbers.

use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};

use super::give_up;
use crate::{
    connection::{Connection, Params, failed},
    row::{get, signed, unsigned},
    webhook_rows,
};

/// Whether a step has anything to look at.
pub(super) async fn has_work(
    connection: &Connection,
    keep: u32,
    dead_before_ms: EpochMs,
) -> Result<bool, StoreError> {
    if keep != before(connection).await? || !untrimmed(connection, 1).await?.is_empty() {
        return Ok(true);
    }
    for state in ["dead", "discarded"] {
        let past = format!(
            "SELECT 1 FROM deliveries WHERE state = '{state}' AND ended_at_ms < $1 LIMIT 1"
        );
        let is_past = connection.exists(&past, &[&signed(dead_before_ms)]).await;
        if is_past.map_err(failed("looking for deliveries to trim"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) async fn trim(
    connection: &Connection,
    keep: u32,
    dead_before_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    restart_if_fewer(connection, keep).await?;
    let mut left = limit;
    for state in ["dead", "discarded"] {
        left -= delete(
            connection,
            &format!("state = '{state}' AND ended_at_ms < $1 ORDER BY ended_at_ms LIMIT $2"),
            &[&signed(dead_before_ms), &signed(left)],
        )
        .await?;
    }
    let untrimmed = untrimmed(connection, limit).await?;
    for webhook_id in &untrimmed {
        if left == 0 {
            break;
        }
        let standing = webhook_rows::standing(connection, webhook_id).await?;
        let given_up = standing.as_ref().and_then(|webhook| webhook.given_up_at_ms);
        if given_up.is_some() {
            left -= give_up::step(connection, webhook_id, left).await?;
        }
        left -= match standing {
            Some(_) => delete_beyond(connection, webhook_id, keep, left).await?,
            None => {
                delete(
                    connection,
                    "webhook_id = $1 LIMIT $2",
                    &[webhook_id, &signed(left)],
                )
                .await?
            }
        };
        if left > 0 {
            finish(connection, webhook_id).await?;
        }
    }
    Ok(Progress {
        done: u64::from(limit - left),
        more: left == 0 || untrimmed.len() == limit as usize,
        ..Progress::default()
    })
}

/// The number of deliveries to keep of the trimming before.
async fn before(connection: &Connection) -> Result<u32, StoreError> {
    let failed = failed("beginning to trim");
    let sql = "SELECT keep_deliveries FROM retention";
    let row = connection.query_one(sql, &[]).await.map_err(&failed)?;
    unsigned(&row, "keep_deliveries")
}

/// Restarts trimming if earlier trims kept more deliveries than are to be kept now.
async fn restart_if_fewer(connection: &Connection, keep: u32) -> Result<(), StoreError> {
    let failed = failed("beginning to trim");
    let before = before(connection).await?;
    if keep < before {
        let all = "INSERT INTO untrimmed_deliveries (webhook_id) SELECT id FROM webhooks
                   ON CONFLICT (webhook_id) DO UPDATE SET webhook_id = excluded.webhook_id";
        connection.execute(all, &[]).await.map_err(&failed)?;
    }
    if keep != before {
        connection
            .execute(
                "UPDATE retention SET keep_deliveries = $1",
                &[&signed(keep)],
            )
            .await
            .map_err(&failed)?;
    }
    Ok(())
}

async fn untrimmed(connection: &Connection, limit: u32) -> Result<Vec<String>, StoreError> {
    let failed = failed("looking for deliveries to trim");
    let rows = connection
        .query(
            "SELECT webhook_id FROM untrimmed_deliveries LIMIT $1",
            &[&signed(limit)],
        )
        .await
        .map_err(&failed)?;
    rows.iter().map(|row| get(row, "webhook_id")).collect()
}

/// Deletes the oldest of those that were taken, beyond the newest `keep`.
async fn delete_beyond(
    connection: &Connection,
    webhook_id: &str,
    keep: u32,
    limit: u32,
) -> Result<u32, StoreError> {
    delete(
        connection,
        "webhook_id = $1 AND state = 'delivered' AND NOT is_again
         AND id <= (SELECT id FROM deliveries WHERE webhook_id = $1 AND state = 'delivered' AND NOT is_again
                    ORDER BY id DESC LIMIT 1 OFFSET $3)
         ORDER BY id LIMIT $2",
        &[&webhook_id, &signed(limit), &signed(keep)],
    ).await
}

/// Deletes deliveries, and the events that nobody needs without them.
async fn delete(
    connection: &Connection,
    which: &str,
    parameters: Params<'_>,
) -> Result<u32, StoreError> {
    let failed = failed("trimming deliveries");
    let rows = connection
        .query(
            &format!(
                "DELETE FROM deliveries WHERE position = ANY (ARRAY(SELECT position FROM deliveries WHERE {which}))
                 RETURNING event_position"
            ),
            parameters,
        )
        .await
        .map_err(&failed)?;
    let events: Vec<i64> = rows
        .iter()
        .map(|row| get(row, "event_position"))
        .collect::<Result<_, _>>()?;
    connection
        .execute(
            "UPDATE delivered_events SET deliveries = deliveries - gone
             FROM (SELECT trimmed, count(*) AS gone FROM unnest($1::bigint[]) AS trimmed GROUP BY trimmed) AS counted
             WHERE position = trimmed",
            &[&events],
        )
        .await
        .map_err(&failed)?;
    connection
        .execute(
            "DELETE FROM delivered_events WHERE position = ANY($1) AND deliveries <= 0",
            &[&events],
        )
        .await
        .map_err(&failed)?;
    Ok(u32::try_from(events.len()).unwrap_or(u32::MAX))
}

async fn finish(connection: &Connection, webhook_id: &str) -> Result<(), StoreError> {
    connection
        .execute(
            "DELETE FROM untrimmed_deliveries WHERE webhook_id = $1",
            &[&webhook_id],
        )
        .await
        .map_err(failed("trimming deliveries"))
        .map(drop)
}
