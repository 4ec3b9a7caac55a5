//! Which webhooks have deliveries to make.

use headwater_model::id::WebhookId;
use headwater_store::{Progress, StoreError};
use rusqlite::{Connection, params};

use super::FREE;
use crate::{
    connection::failed,
    row::{parsed, signed, unsigned_opt},
};

/// Goes from webhook to webhook through the index of pending deliveries, and looks at the first of each only: the work
/// is that of the webhooks that wait, not that of the deliveries.
pub(super) fn webhooks_with_work(
    connection: &Connection,
    now_ms: u64,
) -> Result<Progress, StoreError> {
    let failed = failed("looking for deliveries");
    let mut statement = connection
        .prepare_cached(&format!(
            "WITH RECURSIVE waiting (webhook) AS (
                 SELECT min(webhook_id) FROM deliveries WHERE state = 'pending'
                 UNION ALL
                 SELECT (SELECT min(webhook_id) FROM deliveries WHERE state = 'pending' AND webhook_id > webhook)
                 FROM waiting WHERE webhook IS NOT NULL)
             SELECT webhook,
                    (SELECT CASE due_at_ms WHEN 0 THEN created_at_ms ELSE due_at_ms END FROM deliveries
                     WHERE state = 'pending' AND webhook_id = webhook AND due_at_ms <= ?1 AND {FREE}
                     ORDER BY due_at_ms, event_position, position LIMIT 1) AS due_ms,
                    (SELECT min(due_at_ms) FROM deliveries
                     WHERE state = 'pending' AND webhook_id = webhook AND due_at_ms > ?1) AS next_due_ms
             FROM waiting CROSS JOIN webhooks ON webhooks.id = webhook AND active"
        ))
        .map_err(&failed)?;
    let mut rows = statement.query(params![signed(now_ms)]).map_err(&failed)?;
    let mut due: Vec<(u64, WebhookId)> = Vec::new();
    let mut next_due_ms = None;
    while let Some(row) = rows.next().map_err(&failed)? {
        if let Some(due_ms) = unsigned_opt(row, "due_ms")? {
            due.push((due_ms, parsed(row, "webhook")?));
        }
        if let Some(next_ms) = unsigned_opt(row, "next_due_ms")? {
            next_due_ms = Some(next_due_ms.map_or(next_ms, |next: u64| next.min(next_ms)));
        }
    }
    due.sort_unstable();
    Ok(Progress {
        next_due_ms,
        woken_webhooks: due.into_iter().map(|(_, id)| id).collect(),
        ..Progress::default()
    })
}
