//! Rows of audit records.

use headwater_model::{id::AuditId, time::EpochMs};
use headwater_store::{Actor, AuditRecord, AuditTarget, StoreError};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    row::{get, json, named, parsed, parsed_opt, unsigned},
};

/// The id that is not above any of that millisecond.
pub(super) fn first_id(ms: EpochMs) -> String {
    AuditId::new(ms, 0).to_string()
}

/// A record by its id.
pub(super) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<AuditRecord>, StoreError> {
    let failed = failed("reading an audit record");
    let rows = connection
        .query("SELECT * FROM audit_records WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    let row = rows.first();
    row.map(record).transpose()
}

fn record(row: &Row) -> Result<AuditRecord, StoreError> {
    let via: String = get(row, "via")?;
    let actor_id: String = get(row, "actor_id")?;
    Ok(AuditRecord {
        id: parsed(row, "id")?,
        at_ms: unsigned(row, "at_ms")?,
        actor: Actor {
            via: named(&via)?,
            // The way by which somebody came who is no user is no id of one.
            user_id: actor_id.parse().ok(),
            username: get(row, "username")?,
            key_id: parsed_opt(row, "key_id")?,
            key_name: get(row, "key_name")?,
            session_id: parsed_opt(row, "session_id")?,
        },
        action: get(row, "action")?,
        target: AuditTarget {
            kind: get(row, "target_kind")?,
            id: get(row, "target_id")?,
            name: get(row, "target_name")?,
            owner_id: parsed_opt(row, "owner_id")?,
            workspace_id: parsed_opt(row, "workspace_id")?,
        },
        details: json(row, "details")?,
        address: get(row, "address")?,
        user_agent: get(row, "user_agent")?,
    })
}
