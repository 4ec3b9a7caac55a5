//! The schema and its history: numbered files, each run once, in order, in a transaction of its own.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_files.sql"),
    include_str!("../migrations/0003_components_by_code.sql"),
    include_str!("../migrations/0004_members.sql"),
    include_str!("../migrations/0005_successors.sql"),
    include_str!("../migrations/0006_run_facts.sql"),
    include_str!("../migrations/0007_attempt_causes_and_renewals.sql"),
    include_str!("../migrations/0008_room_for_leases.sql"),
    include_str!("../migrations/0009_commit_marks.sql"),
];

/// One process at a time migrates. One that is paused or cut off meanwhile does not hold up the others.
pub(crate) const BEGIN: &str = "BEGIN;
    SET LOCAL idle_in_transaction_session_timeout = '5s';
    SELECT pg_advisory_xact_lock(hashtext('headwater migration'));
    CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL);
    SELECT pg_backend_pid()";

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

/// The tables that the schema has, whatever else is in the database.
pub(crate) fn tables() -> Vec<&'static str> {
    let lines = MIGRATIONS.iter().flat_map(|script| script.lines());
    let created = lines.filter_map(|line| line.strip_prefix("CREATE TABLE "));
    let names = created.filter_map(|rest| rest.split(' ').next());
    names.collect()
}

/// The table that is there as long as a store is being copied into the database.
pub(crate) const UNFINISHED: &str = "unfinished_copy";

/// Whether a copy into the database was begun and not finished.
pub(crate) async fn is_unfinished(connection: &Connection) -> Result<bool, StoreError> {
    let is_there = "SELECT to_regclass($1) IS NOT NULL";
    let is_there = connection.value(is_there, &[&UNFINISHED]).await;
    is_there.map_err(failed("reading the schema"))
}

/// Whether the schema is the one of this program, and not in the making.
pub(crate) async fn is_current(connection: &Connection) -> Result<bool, StoreError> {
    Ok(known(connection).await? == MIGRATIONS.len())
}

/// Whether the schema is the one of this program, even if it is in the making.
pub(crate) async fn is_of_this_version(connection: &Connection) -> Result<bool, StoreError> {
    Ok(version(connection).await? == MIGRATIONS.len())
}

/// The version of the schema, if this program knows it and it is not in the making; 0 where there is none yet.
pub(crate) async fn known(connection: &Connection) -> Result<usize, StoreError> {
    match is_unfinished(connection).await? {
        true => Err(StoreError::Unsupported(
            StoreError::UNFINISHED_COPY.to_owned(),
        )),
        false => version(connection).await,
    }
}

async fn version(connection: &Connection) -> Result<usize, StoreError> {
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
