//! Records of acts behind the trait, and their rows.

mod rows;
mod search;

use async_trait::async_trait;
use headwater_model::{id::AuditId, page::PageRequest, time::EpochMs};
use headwater_store::{
    Audit, AuditFilter, AuditReader, AuditRecord, CappedCount, FoundAudit, Progress, StoreError,
};
use rusqlite::{Connection, params};

use self::rows::first_id;
use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{name_of, signed, to_json},
    store::SqliteStore,
};

/// Records of one actor that a write deletes at most: one more than it adds, so that a lower bound is reached in time.
const DROPPED_AT_ONCE: u32 = 2;

#[async_trait]
impl Audit for SqliteStore {
    async fn write_audit(&self, record: AuditRecord, kept_max: u32) -> Result<(), StoreError> {
        self.write(move |connection| write(connection, &record, kept_max))
            .await
    }

    async fn find_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        page: &PageRequest<AuditId>,
    ) -> Result<FoundAudit, StoreError> {
        let (reader, filter, page) = (reader.clone(), filter.clone(), page.clone());
        self.read(move |connection| search::find(connection, reader, filter, &page))
            .await
    }

    async fn count_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        limit: u32,
    ) -> Result<CappedCount, StoreError> {
        let (reader, filter) = (reader.clone(), filter.clone());
        self.read(move |connection| search::count(connection, reader, filter, limit))
            .await
    }

    async fn expire_audit(&self, before_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let before = first_id(before_ms);
        let wanted = before.clone();
        let has_work = move |connection: &_| has_older(connection, &wanted);
        let step = move |connection: &_| expire(connection, &before, limit);
        self.progress_if(has_work, step).await
    }
}

fn write(connection: &Connection, record: &AuditRecord, kept_max: u32) -> Result<(), StoreError> {
    let failed = failed("writing an audit record");
    let AuditRecord { actor, target, .. } = record;
    let via = name_of(&actor.via)?;
    let actor_id = actor.user_id.as_ref().map_or(&*via, |id| id.as_str());
    connection
        .execute_prepared(
            "INSERT INTO audit_records (id, at_ms, via, actor_id, username, key_id, key_name, session_id, action,
                                        target_kind, target_id, target_name, owner_id, workspace_id, details, address,
                                        user_agent)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                record.id.as_str(),
                signed(record.at_ms),
                via,
                actor_id,
                actor.username,
                actor.key_id.as_ref().map(|id| id.as_str()),
                actor.key_name,
                actor.session_id.as_ref().map(|id| id.as_str()),
                record.action,
                target.kind,
                target.id,
                target.name,
                target.owner_id.as_ref().map(|id| id.as_str()),
                target.workspace_id.as_ref().map(|id| id.as_str()),
                to_json(&record.details)?,
                record.address,
                record.user_agent,
            ],
        )
        .map_err(&failed)?;
    let count: i64 = connection
        .prepare_cached(
            "INSERT INTO audit_counts (actor_id, records) VALUES (?, 1)
             ON CONFLICT (actor_id) DO UPDATE SET records = records + 1 RETURNING records",
        )
        .and_then(|mut statement| statement.query_row([actor_id], |row| row.get(0)))
        .map_err(&failed)?;
    let beyond = count - i64::from(kept_max);
    match beyond > 0 {
        true => drop_oldest(connection, actor_id, beyond.min(DROPPED_AT_ONCE.into())),
        false => Ok(()),
    }
}

fn drop_oldest(connection: &Connection, actor_id: &str, count: i64) -> Result<(), StoreError> {
    let failed = failed("deleting audit records of an actor");
    connection
        .execute_prepared(
            "DELETE FROM audit_records WHERE id IN
                 (SELECT id FROM audit_records WHERE actor_id = ? ORDER BY id LIMIT ?)",
            params![actor_id, count],
        )
        .map_err(&failed)?;
    connection
        .execute_prepared(
            "UPDATE audit_counts SET records = records - ? WHERE actor_id = ?",
            params![count, actor_id],
        )
        .map_err(&failed)
        .map(drop)
}

fn has_older(connection: &Connection, before: &str) -> Result<bool, StoreError> {
    connection
        .prepare_cached("SELECT 1 FROM audit_records WHERE id < ? LIMIT 1")
        .and_then(|mut statement| statement.exists([before]))
        .map_err(failed("looking for old audit records"))
}

fn expire(connection: &Connection, before: &str, limit: u32) -> Result<Progress, StoreError> {
    let failed = failed("deleting old audit records");
    let last: Option<String> = connection
        .prepare_cached(
            "SELECT max(id) FROM (SELECT id FROM audit_records WHERE id < ? ORDER BY id LIMIT ?)",
        )
        .and_then(|mut statement| statement.query_row(params![before, limit], |row| row.get(0)))
        .map_err(&failed)?;
    let Some(last) = last else {
        return Ok(Progress::default());
    };
    connection
        .execute_prepared(
            "UPDATE audit_counts SET records = audit_counts.records - gone.records
             FROM (SELECT actor_id, count(*) AS records FROM audit_records WHERE id <= ? GROUP BY actor_id) AS gone
             WHERE audit_counts.actor_id = gone.actor_id",
            [&last],
        )
        .map_err(&failed)?;
    let deleted = connection
        .execute_prepared("DELETE FROM audit_records WHERE id <= ?", [&last])
        .map_err(&failed)?;
    connection
        .execute_prepared("DELETE FROM audit_counts WHERE records <= 0", ())
        .map_err(&failed)?;
    Ok(Progress {
        done: deleted as u64,
        more: deleted >= limit as usize,
        ..Progress::default()
    })
}
