//! Records of acts behind the trait, and their rows.

mod rows;
mod search;

use async_trait::async_trait;
use headwater_model::{id::AuditId, page::PageRequest, time::EpochMs};
use headwater_store::{
    Audit, AuditFilter, AuditReader, AuditRecord, CappedCount, FoundAudit, Progress, StoreError,
};

use self::rows::first_id;
use crate::{
    connection::{Connection, failed},
    database::Transaction,
    row::{name_of, signed, to_json},
    store::PostgresStore,
};

/// Records of one actor that a write deletes at most: one more than it adds, so that a lower bound is reached in time.
const DROPPED_AT_ONCE: u32 = 2;

#[async_trait]
impl Audit for PostgresStore {
    async fn write_audit(&self, record: AuditRecord, kept_max: u32) -> Result<(), StoreError> {
        let record = &record;
        self.write(|connection| async move { write(&connection, record, kept_max).await })
            .await
    }

    async fn find_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        page: &PageRequest<AuditId>,
    ) -> Result<FoundAudit, StoreError> {
        self.read(|connection| async move { search::find(&connection, reader, filter, page).await })
            .await
    }

    async fn count_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        limit: u32,
    ) -> Result<CappedCount, StoreError> {
        self.read(
            |connection| async move { search::count(&connection, reader, filter, limit).await },
        )
        .await
    }

    async fn expire_audit(&self, before_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let before = &*first_id(before_ms);
        let has_work = |connection: Connection| async move { has_older(&connection, before).await };
        let step = |connection: Connection| async move { expire(&connection, before, limit).await };
        self.progress_if(Transaction::Writing, has_work, step).await
    }
}

async fn write(
    connection: &Connection,
    record: &AuditRecord,
    kept_max: u32,
) -> Result<(), StoreError> {
    let failed = failed("writing an audit record");
    let AuditRecord { actor, target, .. } = record;
    let via = name_of(&actor.via)?;
    let actor_id = actor.user_id.as_ref().map_or(&*via, |id| id.as_str());
    connection
        .execute(
            "INSERT INTO audit_records (id, at_ms, via, actor_id, username, key_id, key_name, session_id, action,
                                        target_kind, target_id, target_name, owner_id, workspace_id, details, address,
                                        user_agent)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
            &[
                &record.id.as_str(),
                &signed(record.at_ms),
                &via,
                &actor_id,
                &actor.username,
                &actor.key_id.as_ref().map(|id| id.as_str()),
                &actor.key_name,
                &actor.session_id.as_ref().map(|id| id.as_str()),
                &record.action,
                &target.kind,
                &target.id,
                &target.name,
                &target.owner_id.as_ref().map(|id| id.as_str()),
                &target.workspace_id.as_ref().map(|id| id.as_str()),
                &to_json(&record.details)?,
                &record.address,
                &record.user_agent,
            ],
        )
        .await
        .map_err(&failed)?;
    let count: i64 = connection
        .value(
            "INSERT INTO audit_counts (actor_id, records) VALUES ($1, 1)
             ON CONFLICT (actor_id) DO UPDATE SET records = audit_counts.records + 1 RETURNING records",
            &[&actor_id],
        )
        .await
        .map_err(&failed)?;
    let beyond = count - i64::from(kept_max);
    match beyond > 0 {
        true => drop_oldest(connection, actor_id, beyond.min(DROPPED_AT_ONCE.into())).await,
        false => Ok(()),
    }
}

async fn drop_oldest(
    connection: &Connection,
    actor_id: &str,
    count: i64,
) -> Result<(), StoreError> {
    let failed = failed("deleting audit records of an actor");
    connection
        .execute(
            "DELETE FROM audit_records WHERE id IN
                 (SELECT id FROM audit_records WHERE actor_id = $1 ORDER BY id LIMIT $2)",
            &[&actor_id, &count],
        )
        .await
        .map_err(&failed)?;
    connection
        .execute(
            "UPDATE audit_counts SET records = records - $1 WHERE actor_id = $2",
            &[&count, &actor_id],
        )
        .await
        .map_err(&failed)
        .map(drop)
}

async fn has_older(connection: &Connection, before: &str) -> Result<bool, StoreError> {
    connection
        .exists(
            "SELECT 1 FROM audit_records WHERE id < $1 LIMIT 1",
            &[&before],
        )
        .await
        .map_err(failed("looking for old audit records"))
}

async fn expire(connection: &Connection, before: &str, limit: u32) -> Result<Progress, StoreError> {
    let failed = failed("deleting old audit records");
    let last: Option<String> = connection
        .value(
            "SELECT max(id) FROM (SELECT id FROM audit_records WHERE id < $1 ORDER BY id LIMIT $2) AS oldest",
            &[&before, &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    let Some(last) = last else {
        return Ok(Progress::default());
    };
    connection
        .execute(
            "UPDATE audit_counts SET records = audit_counts.records - gone.records
             FROM (SELECT actor_id, count(*) AS records FROM audit_records WHERE id <= $1 GROUP BY actor_id) AS gone
             WHERE audit_counts.actor_id = gone.actor_id",
            &[&last],
        )
        .await
        .map_err(&failed)?;
    let deleted = connection
        .execute("DELETE FROM audit_records WHERE id <= $1", &[&last])
        .await
        .map_err(&failed)?;
    connection
        .execute("DELETE FROM audit_counts WHERE records <= 0", &[])
        .await
        .map_err(&failed)?;
    Ok(Progress {
        done: deleted,
        more: deleted >= u64::from(limit),
        ..Progress::default()
    })
}
