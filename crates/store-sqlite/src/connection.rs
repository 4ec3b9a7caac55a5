//! Connections and their settings.

use std::{path::Path, time::Duration};

use headwater_store::StoreError;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, Params, config::DbConfig, ffi, functions::FunctionFlags,
};

/// More than the distinct statements of this crate: all stay prepared.
const STATEMENTS: usize = 512;

/// Statements that are prepared once.
pub(crate) trait ExecutePrepared {
    /// Runs a statement, and returns the number of rows that it changed.
    fn execute_prepared(&self, sql: &str, params: impl Params) -> rusqlite::Result<usize>;
}

impl ExecutePrepared for Connection {
    fn execute_prepared(&self, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
        self.prepare_cached(sql)?.execute(params)
    }
}

/// Wraps a database error with the failed step. Only errors of the database engine are worth a retry.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the errors of rusqlite are an open list: those not known here are the engine's"
)]
pub(crate) fn failed(context: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    use rusqlite::Error;
    move |error| match &error {
        // Expected violations are checked before the write; any other violates the schema.
        Error::SqliteFailure(failure, _) if failure.code == ErrorCode::ConstraintViolation => {
            StoreError::Corrupt(format!("{context}: {error}"))
        }
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::InvalidColumnName(_) => StoreError::Corrupt(format!("{context}: {error}")),
        _ => StoreError::unavailable(context, error),
    }
}

/// Whether a write was refused because a unique column has the value already.
pub(crate) fn is_taken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
    )
}

/// The connection of the writer.
pub(crate) fn writing(path: &Path) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        // Without a mutex, which is the default of `open`: one thread has it.
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Checkpoints copy pages back into the file; rarer ones disturb writers less.
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        configure(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| StoreError::unavailable(format!("opening {}", path.display()), error))
}

/// A connection that cannot write.
pub(crate) fn reading(path: &Path) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        configure(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| StoreError::unavailable(format!("opening {}", path.display()), error))
}

/// A database without a file.
pub(crate) fn in_memory() -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_in_memory()?;
        configure(&connection)?;
        Ok(connection)
    };
    open().map_err(failed("opening a database in memory"))
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    // A statement keeps its plan, whichever values are bound. Otherwise SQLite, built with statistics, plans again
    // for each value that a comparison meets, which took as long as the writing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // `lower` of SQLite knows ASCII only.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("lower_case", 1, flags, |call| {
        Ok(call.get::<String>(0)?.to_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    /// Preparing a statement costs more than what most of them do.
    #[test]
    fn a_statement_keeps_its_plan_whatever_is_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writing = writing(&path).unwrap();
        let table =
            "CREATE TABLE a (x INTEGER, y INTEGER); CREATE INDEX a_by_x ON a (x) WHERE y = 5";
        writing.execute_batch(table).unwrap();
        for connection in [writing, reading(&path).unwrap()] {
            let compares = "SELECT y FROM a WHERE x > ?1 AND y = ?2 LIMIT 1";
            let mut statement = connection.prepare(compares).unwrap();
            for value in 0..10 {
                statement.exists((value, value)).unwrap();
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}
