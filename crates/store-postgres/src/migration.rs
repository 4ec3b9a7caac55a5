//! The schema and its history: numbered files, each run once, in order, in a transaction of its own.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_members.sql"),
];

/// One process at a time migrates.
pub(crate) const BEGIN: &str = "BEGIN;
    SELECT pg_advisory_xact_lock(hashtext('headwater migration'));
    CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)";

/// Runs the next migration in a transaction that began with [`BEGIN`]. False: the schema is up to date.
pub(crate) async fn run_next(connection: &Connection) -> Result<bool, StoreError> {
    let failed = failed("migrating the database");
    let version = known(connection).await?;
    let Some(migration) = MIGRATIONS.get(version) else {
        return Ok(false);
    };
    let next = version + 1;
    let script = format!(
        "{migration}\nDELETE FROM schema_version; INSERT INTO schema_version VALUES ({next});"
    );
    connection.run(&script).await.map_err(&failed)?;
    Ok(true)
}

/// The version of the schema, if this program knows it; 0 where there is none yet.
pub(crate) async fn known(connection: &Connection) -> Result<usize, StoreError> {
    let failed = failed("reading the version of the schema");
    let is_there = "SELECT to_regclass('schema_version') IS NOT NULL";
    let is_there: bool = connection.value(is_there, &[]).await.map_err(&failed)?;
    if !is_there {
        return Ok(0);
    }
    let version: i64 = connection
        .value("SELECT coalesce(max(version), 0) FROM schema_version", &[])
        .await
        .map_err(&failed)?;
    match usize::try_from(version).unwrap_or(usize::MAX) {
        known if known <= MIGRATIONS.len() => Ok(known),
        newer => Err(StoreError::Unsupported(format!(
            "the database has schema {newer}, this program knows {}; start a newer headwater",
            MIGRATIONS.len()
        ))),
    }
}
