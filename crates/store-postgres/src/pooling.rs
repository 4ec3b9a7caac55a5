//! Poolers between a node and its server that give each transaction another of the server's connections, such as PgBouncer
//! in transaction mode. Everything that a step needs is in its transaction, but for prepared statements: they are the
//! connection's. Some poolers keep them for their clients (PgBouncer since 1.21, with `max_prepared_statements`). With others
//! each transaction prepares its own, and leaves none behind that another client could take for its own.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use deadpool_postgres::{ClientWrapper, StatementCache};
use parking_lot::Mutex;
use tokio_postgres::{Error, SimpleQueryMessage, error::SqlState};

/// The last column of the last row that a transaction's beginning returns, as SQL: the process that serves it.
macro_rules! backend {
    () => {
        "pg_backend_pid()"
    };
}
pub(crate) use backend;

/// Forgets the statements of a connection of the server.
pub(crate) const FORGET: &str = "DEALLOCATE ALL";
/// Whether this very statement has another name than the driver gave it: then the pooler knows it.
const ARE_KEPT: &str =
    "SELECT coalesce(bool_and(name !~ '^s[0-9]+$'), FALSE) FROM pg_prepared_statements
                        WHERE statement LIKE '%coalesce(bool_and(name %'";
const SLOW: &str = "a pooler is between this node and the database's server, and keeps no prepared statements: each is prepared \
                    anew in each transaction, which is slower; PgBouncer keeps them since 1.21, with max_prepared_statements";

/// The knowledge of a pooler before the server.
#[derive(Debug, Default)]
pub(crate) struct Pooling {
    /// Whether one was found. Without one, each connection is served by one process.
    is_there: AtomicBool,
    /// Whether it keeps no statements.
    is_forgetful: AtomicBool,
    /// The process that served each living connection first.
    first: Mutex<Vec<(Weak<StatementCache>, i32)>>,
}

impl Pooling {
    /// Whether each transaction has to prepare its statements anew.
    pub(crate) fn is_forgetful(&self) -> bool {
        self.is_forgetful.load(Relaxed)
    }

    /// Learns from the beginning of a transaction. No statement of an earlier one may be used before.
    pub(crate) async fn learn(
        &self,
        client: &ClientWrapper,
        said: &[SimpleQueryMessage],
    ) -> Result<(), Error> {
        if self.is_there.load(Relaxed)
            || !backend_of(said).is_some_and(|backend| self.is_other(client, backend))
        {
            return Ok(());
        }
        let asked = client.prepare(ARE_KEPT).await?;
        let are_kept: bool = client.query_one(&asked, &[]).await?.try_get(0)?;
        match are_kept {
            true => self.is_there.store(true, Relaxed),
            false => self.found_forgetful(),
        }
        Ok(())
    }

    /// Learns from an error: of a statement that is not there any more, or of another client's of the same name.
    pub(crate) fn learn_from(&self, code: &SqlState) {
        if is_of_pooler(code) {
            self.found_forgetful();
        }
    }

    fn found_forgetful(&self) {
        self.is_there.store(true, Relaxed);
        if !self.is_forgetful.swap(true, Relaxed) {
            tracing::warn!("{SLOW}");
        }
    }

    /// Whether a connection is served by another process than before.
    fn is_other(&self, client: &ClientWrapper, backend: i32) -> bool {
        let mut first = self.first.lock();
        first.retain(|(connection, _)| connection.strong_count() > 0);
        let known = first.iter().find(|(connection, _)| {
            std::ptr::eq(connection.as_ptr(), Arc::as_ptr(&client.statement_cache))
        });
        match known {
            Some((_, first)) => *first != backend,
            None => {
                first.push((Arc::downgrade(&client.statement_cache), backend));
                false
            }
        }
    }
}

/// Whether an error says that a statement is not the connection's.
pub(crate) fn is_of_pooler(code: &SqlState) -> bool {
    *code == SqlState::INVALID_SQL_STATEMENT_NAME || *code == SqlState::DUPLICATE_PSTATEMENT
}

/// The process that serves a transaction, in what its beginning returned.
pub(crate) fn backend_of(said: &[SimpleQueryMessage]) -> Option<i32> {
    let row = said.iter().rev().find_map(|message| {
        let SimpleQueryMessage::Row(row) = message else {
            return None;
        };
        Some(row)
    })?;
    row.get(row.len().checked_sub(1)?)?.parse().ok()
}
