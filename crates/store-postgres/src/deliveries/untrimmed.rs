//! The webhooks that may have deliveries to trim.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

/// Notes that a webhook may have deliveries to trim. Its row is written even if it is there: a trim that deletes it meanwhile is
/// overtaken then.
pub(crate) async fn note(connection: &Connection, webhook_id: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO untrimmed_deliveries (webhook_id) VALUES ($1)
               ON CONFLICT (webhook_id) DO UPDATE SET webhook_id = excluded.webhook_id";
    let noted = connection.execute(sql, &[&webhook_id]).await;
    noted
        .map_err(failed("noting deliveries to be trimmed"))
        .map(drop)
}
