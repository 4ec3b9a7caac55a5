//! The health of webhooks: for each the attempts of its newest deliveries, read from the index of its deliveries.

use std::collections::BTreeSet;

use async_trait::async_trait;
use headwater_model::{
    id::{DeliveryId, WebhookId},
    time::EpochMs,
};
use headwater_store::{RecentAttempts, StoreError, WebhooksHealth};

use crate::{
    connection::{Connection, failed},
    deliveries::listing,
    row::{get, signed, unsigned, unsigned_opt},
    store::PostgresStore,
    webhook_rows,
};

/// Attempts that are read of a delivery on average, at most: a schedule has eight, and any may be made again by hand.
const ATTEMPTS_OF_A_DELIVERY: u32 = 16;

#[async_trait]
impl WebhooksHealth for PostgresStore {
    async fn webhooks_health(
        &self,
        ids: &[WebhookId],
        since_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<RecentAttempts>, StoreError> {
        self.read(|connection| async move {
            let mut of_each = Vec::with_capacity(ids.len());
            for id in ids {
                of_each.push(health(&connection, id.as_str(), since_ms, limit).await?);
            }
            Ok(of_each)
        })
        .await
    }
}

async fn health(
    connection: &Connection,
    webhook_id: &str,
    since_ms: EpochMs,
    limit: u32,
) -> Result<RecentAttempts, StoreError> {
    let Some(standing) = webhook_rows::standing(connection, webhook_id).await? else {
        return Ok(RecentAttempts::default());
    };
    // One arm per part: each reads the index from its end, and PostgreSQL merges them.
    let arms: Vec<String> = listing::parts(&standing, None)
        .iter()
        .map(|part| format!("SELECT id AS listed FROM deliveries WHERE {part} AND id >= $3"))
        .collect();
    let sql = format!(
        "SELECT position, created_at_ms, latency_ms, coalesce(status BETWEEN 200 AND 299, FALSE) AS has_delivered
         FROM ({} ORDER BY listed DESC LIMIT $4) AS newest
              JOIN deliveries ON deliveries.id = listed LEFT JOIN attempts ON delivery_position = position
         ORDER BY listed DESC LIMIT $5",
        arms.join(" UNION ALL ")
    );
    let failed = failed("reading a webhook's attempts");
    let first = DeliveryId::new(since_ms, 0);
    let attempts_max = limit.saturating_mul(ATTEMPTS_OF_A_DELIVERY);
    let rows = connection
        .query(
            &sql,
            &[
                &webhook_id,
                &standing.generation,
                &first.as_str(),
                &signed(limit),
                &signed(attempts_max),
            ],
        )
        .await
        .map_err(&failed)?;
    let (mut seen, mut read, mut attempts) = (BTreeSet::<i64>::new(), 0, Vec::new());
    let mut oldest_ms: Option<EpochMs> = None;
    for row in &rows {
        let created_at_ms = unsigned(row, "created_at_ms")?;
        oldest_ms = Some(oldest_ms.map_or(created_at_ms, |oldest_ms| oldest_ms.min(created_at_ms)));
        seen.insert(get(row, "position")?);
        read += 1;
        if let Some(latency_ms) = unsigned_opt(row, "latency_ms")? {
            attempts.push((latency_ms, get(row, "has_delivered")?));
        }
    }
    let has_stopped = seen.len() >= limit as usize || read >= attempts_max;
    let since_ms = oldest_ms.filter(|_| has_stopped);
    Ok(RecentAttempts::of(attempts, since_ms))
}
