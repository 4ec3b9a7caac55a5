//! The webhooks that have deliveries to make, and when.

use headwater_model::{id::WebhookId, limits::PENDING_DELIVERIES_COUNTED_MAX, time::EpochMs};
use headwater_store::{Progress, StoreError, WebhookBacklog};

use super::claims::FREE;
use crate::{
    connection::{Connection, failed},
    row::{moment, parsed, signed, unsigned, unsigned_opt},
};

/// Skips from webhook to webhook through the index of pending deliveries and reads only the first of each: the cost
/// depends on the number of waiting webhooks, not of deliveries.
pub(super) async fn webhooks_with_work(
    connection: &Connection,
    now_ms: EpochMs,
    after: Option<&WebhookId>,
    limit: u32,
) -> Result<Progress, StoreError> {
    let failed = failed("looking for deliveries");
    let after = after.map_or("", WebhookId::as_str);
    let rows = connection.query(&format!(
            "WITH RECURSIVE waiting (webhook) AS (
                 SELECT min(webhook_id) FROM deliveries WHERE state = 'pending' AND webhook_id > $2
                 UNION ALL
                 SELECT (SELECT min(webhook_id) FROM deliveries WHERE state = 'pending' AND webhook_id > webhook)
                 FROM waiting WHERE webhook IS NOT NULL)
             SELECT webhook,
                    (SELECT CASE WHEN due_at_ms > 0 THEN due_at_ms WHEN is_again THEN again_at_ms ELSE created_at_ms END
                     FROM deliveries
                     WHERE state = 'pending' AND webhook_id = webhook AND deliveries.generation = webhooks.generation
                       AND due_at_ms <= $1 AND {FREE}
                     ORDER BY due_at_ms, event_position, position LIMIT 1) AS due_ms,
                    (SELECT min(due_at_ms) FROM deliveries
                     WHERE state = 'pending' AND webhook_id = webhook AND deliveries.generation = webhooks.generation
                       AND due_at_ms > $1) AS next_due_ms
             FROM waiting JOIN webhooks ON webhooks.id = webhook AND active"
        ), &[&signed(now_ms), &after]).await
        .map_err(&failed)?;
    let mut due: Vec<(EpochMs, WebhookId)> = Vec::new();
    let mut next_due_ms = None;
    for row in &rows {
        if due.len() == limit as usize {
            break;
        }
        if let Some(due_ms) = unsigned_opt(row, "due_ms")? {
            due.push((due_ms, parsed(row, "webhook")?));
        }
        if let Some(next_ms) = unsigned_opt(row, "next_due_ms")? {
            next_due_ms = Some(next_due_ms.map_or(next_ms, |next: EpochMs| next.min(next_ms)));
        }
    }
    due.sort_unstable();
    Ok(Progress {
        more: due.len() == limit as usize,
        next_due_ms,
        woken_webhooks: due.into_iter().map(|(_, id)| id).collect(),
        ..Progress::default()
    })
}

/// Scans the index of retries between two moments.
pub(super) async fn retries_due(
    connection: &Connection,
    after_ms: EpochMs,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    let failed = failed("looking for retries");
    let rows = connection
        .query(
            "SELECT webhook_id, due_at_ms FROM deliveries
             WHERE state = 'pending' AND due_at_ms > 0 AND due_at_ms > $1 AND due_at_ms <= $2
             ORDER BY due_at_ms LIMIT $3",
            &[&signed(after_ms), &signed(now_ms), &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    let (mut woken, mut found, mut last_ms) = (Vec::new(), 0, after_ms);
    for row in &rows {
        let webhook: WebhookId = parsed(row, "webhook_id")?;
        (found, last_ms) = (found + 1, unsigned(row, "due_at_ms")?);
        if !woken.contains(&webhook) {
            woken.push(webhook);
        }
    }
    let more = found == limit;
    let next_due_ms = match more {
        true => Some(last_ms),
        false => next_retry(connection, now_ms).await?,
    };
    Ok(Progress {
        more,
        next_due_ms,
        woken_webhooks: woken,
        ..Progress::default()
    })
}

async fn next_retry(
    connection: &Connection,
    now_ms: EpochMs,
) -> Result<Option<EpochMs>, StoreError> {
    let next: Option<i64> = connection
        .value(
            "SELECT min(due_at_ms) FROM deliveries
             WHERE state = 'pending' AND due_at_ms > 0 AND due_at_ms > $1",
            &[&signed(now_ms)],
        )
        .await
        .map_err(failed("looking for the next retry"))?;
    Ok(next.map(moment))
}

/// Counts in an index and no further than the bound. The oldest is the first of those that were dispatched, because ids
/// are ordered by time, or of those that are retried by hand, which have an index of their own.
pub(super) async fn backlog(
    connection: &Connection,
    webhook_id: &str,
) -> Result<WebhookBacklog, StoreError> {
    const WAITING: &str = "FROM deliveries WHERE webhook_id = $1 AND state = 'pending'
                           AND generation = (SELECT generation FROM webhooks WHERE id = $1)";
    let row = connection
        .query_one(
            &format!(
                "SELECT (SELECT count(*) FROM (SELECT 1 {WAITING} LIMIT $2) AS counted) AS pending,
                        least((SELECT created_at_ms {WAITING} AND NOT is_again ORDER BY id LIMIT 1),
                              (SELECT min(again_at_ms) {WAITING} AND is_again)) AS oldest_at_ms"
            ),
            &[&webhook_id, &signed(PENDING_DELIVERIES_COUNTED_MAX)],
        )
        .await
        .map_err(failed("counting deliveries"))?;
    Ok(WebhookBacklog {
        pending: unsigned(&row, "pending")?,
        oldest_at_ms: unsigned_opt(&row, "oldest_at_ms")?,
    })
}
