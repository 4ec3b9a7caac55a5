//! The schema and its history: numbered files, each run once, in order, in a transaction of its own.

use headwater_store::StoreError;
use rusqlite::Connection;

use crate::connection::failed;

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_every_way_out.sql"),
];

/// Brings the schema up to date.
pub(crate) fn run(connection: &Connection) -> Result<(), StoreError> {
    let failed = failed("migrating the database");
    let version: u32 = connection
        .query_row("PRAGMA user_version", (), |row| row.get(0))
        .map_err(&failed)?;
    if version as usize > MIGRATIONS.len() {
        return Err(StoreError::Corrupt(format!(
            "the database has schema {version}, this program knows {}; start a newer headwater",
            MIGRATIONS.len()
        )));
    }
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(version as usize) {
        let script = format!(
            "BEGIN IMMEDIATE;\n{migration}\nPRAGMA user_version = {};\nCOMMIT;",
            index + 1
        );
        connection.execute_batch(&script).map_err(&failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection;

    #[test]
    fn migrating_twice_changes_nothing_and_a_newer_schema_is_refused() {
        let connection = connection::in_memory().unwrap();
        run(&connection).unwrap();
        run(&connection).unwrap();
        connection
            .pragma_update(None, "user_version", MIGRATIONS.len() + 1)
            .unwrap();
        assert!(
            matches!(run(&connection), Err(StoreError::Corrupt(message)) if message.contains("newer"))
        );
    }
}
