//! Connections: statements that are prepared once, and the errors of the database.

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use deadpool_postgres::Object;
use headwater_store::StoreError;
use tokio_postgres::{
    Error, Row, SimpleQueryMessage, Statement,
    error::SqlState,
    types::{FromSqlOwned, ToSql},
};

use crate::{
    pooling::{self, Pooling},
    text,
};

/// The parameters of a statement.
pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The connection of one step, in a transaction. Its clones are the same connection.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Session>);

/// A pooled connection. It is closed, which rolls back, unless its transaction has ended.
struct Session {
    object: Option<Object>,
    /// Whether its statements are those of this transaction alone.
    prepares_anew: bool,
    has_ended: AtomicBool,
}

impl Session {
    fn object(&self) -> &Object {
        let object = self.object.as_ref();
        object.expect("it is there until the session is dropped")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.has_ended.load(Ordering::Relaxed) {
            drop(self.object.take().map(Object::take));
        }
    }
}

impl Connection {
    /// Begins a transaction with the statements `begin`, and returns what they say.
    pub(crate) async fn begin(
        object: Object,
        begin: &str,
        pooling: &Pooling,
    ) -> Result<(Self, Vec<SimpleQueryMessage>), Error> {
        let mut session = Session {
            object: Some(object),
            prepares_anew: false,
            has_ended: AtomicBool::new(false),
        };
        let object = session.object();
        let begun = object.simple_query(begin).await?;
        pooling.learn(object, &begun).await?;
        if pooling.is_forgetful() {
            object.batch_execute(pooling::FORGET).await?;
            session.prepares_anew = true;
        }
        Ok((Self(Arc::new(session)), begun))
    }

    /// Ends the transaction: `COMMIT` or `ROLLBACK`. A `COMMIT` that the database refuses has ended it, too.
    pub(crate) async fn end(&self, end: &str) -> Result<(), Error> {
        let ended = match self.0.prepares_anew {
            false => self.run(end).await,
            true => self.run(&format!("{end}; {}", pooling::FORGET)).await,
        };
        let has_ended = ended
            .as_ref()
            .err()
            .is_none_or(|error| !is_without_answer(error));
        self.0.has_ended.store(has_ended, Ordering::Relaxed);
        ended
    }

    fn object(&self) -> &Object {
        self.0.object()
    }

    async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        match self.0.prepares_anew {
            false => self.object().prepare_cached(sql).await,
            true => self.object().prepare(sql).await,
        }
    }

    /// Runs statements without parameters.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), Error> {
        self.object().batch_execute(sql).await
    }

    /// Runs a statement, and returns the number of rows that it changed.
    pub(crate) async fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64, Error> {
        let statement = self.prepared(sql).await?;
        let taken = text::taken(params);
        self.object()
            .execute(&statement, &text::params(&taken))
            .await
    }

    /// All rows of a query.
    pub(crate) async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(sql).await?;
        let taken = text::taken(params);
        self.object().query(&statement, &text::params(&taken)).await
    }

    /// The first row of a query, if it has any.
    pub(crate) async fn query_opt(
        &self,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Option<Row>, Error> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// The only row of a query.
    pub(crate) async fn query_one(&self, sql: &str, params: Params<'_>) -> Result<Row, Error> {
        let statement = self.prepared(sql).await?;
        let taken = text::taken(params);
        self.object()
            .query_one(&statement, &text::params(&taken))
            .await
    }

    /// The first column of the only row of a query.
    pub(crate) async fn value<T: FromSqlOwned>(
        &self,
        sql: &str,
        params: Params<'_>,
    ) -> Result<T, Error> {
        let row = self.query_one(sql, params).await?;
        row.try_get(0).map(|text::Read(value)| value)
    }

    /// The first column of the first row of a query, if it has any.
    pub(crate) async fn value_opt<T: FromSqlOwned>(
        &self,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Option<T>, Error> {
        let row = self.query_opt(sql, params).await?;
        row.map(|row| row.try_get(0).map(|text::Read(value)| value))
            .transpose()
    }

    /// Whether a query has rows.
    pub(crate) async fn exists(&self, sql: &str, params: Params<'_>) -> Result<bool, Error> {
        Ok(!self.query(sql, params).await?.is_empty())
    }
}

/// Wraps a database error with the failed step. Only errors of the database engine are worth a retry.
pub(crate) fn failed(context: &'static str) -> impl Fn(Error) -> StoreError {
    move |error| {
        // Expected violations are checked before the write: a row that was written meanwhile is seen by the next try.
        let is_corrupt = match error.code() {
            Some(code) => is_for_good(code) && !is_race(code),
            None => {
                error.to_string().starts_with("error deserializing column") || is_missing(&error)
            }
        };
        match is_corrupt {
            true => StoreError::Corrupt(format!("{context}: {}", told(&error))),
            false => StoreError::unavailable(context, DatabaseError(error)),
        }
    }
}

/// An error of the database that is told in its own words.
#[derive(Debug, thiserror::Error)]
#[error("{}", told(.0))]
struct DatabaseError(#[source] Error);

/// Whether a step failed only because of another that ran at the same time.
pub(crate) fn is_overtaken(error: &StoreError) -> bool {
    code(error).is_some_and(|code| {
        is_race(code)
            || pooling::is_of_pooler(code)
            || *code == SqlState::T_R_SERIALIZATION_FAILURE
            || *code == SqlState::T_R_DEADLOCK_DETECTED
            // Of statements that were sent together, the first error may not be the one that is seen first.
            || *code == SqlState::IN_FAILED_SQL_TRANSACTION
    })
}

/// Whether the server's disk has no room left.
pub(crate) fn is_full(error: &StoreError) -> bool {
    code(error) == Some(&SqlState::DISK_FULL)
}

/// The server's code of an error that may pass.
pub(crate) fn code(error: &StoreError) -> Option<&SqlState> {
    match error {
        StoreError::Unavailable { source, .. } => source.downcast_ref::<DatabaseError>()?.0.code(),
        StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Unsupported(_) => None,
    }
}

/// Whether the values are at fault: they break a rule, cannot be read, or are too long.
fn is_for_good(code: &SqlState) -> bool {
    ["22", "23", "54"].contains(&&code.code()[..2])
}

/// Whether the connection has ended with the error, so that nothing is known of what it was doing.
pub(crate) fn is_without_answer(error: &Error) -> bool {
    let code = error.code();
    code.is_none_or(|code| ["08", "57"].contains(&&code.code()[..2]))
}

/// Whether the row that is in the way, or missing, may be one that another step has just written or deleted.
fn is_race(code: &SqlState) -> bool {
    *code == SqlState::UNIQUE_VIOLATION || *code == SqlState::FOREIGN_KEY_VIOLATION
}

fn is_missing(error: &Error) -> bool {
    error.to_string().starts_with("invalid column")
}

/// The error with the database's own text, or with its cause.
fn told(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        // Not its detail, which has values of the row: keys and tokens among them.
        (Some(of_database), _) => {
            let (message, code) = (of_database.message(), of_database.code().code());
            format!("{message} ({code})")
        }
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
