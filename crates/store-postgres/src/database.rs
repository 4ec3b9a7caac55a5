//! The transactions of steps: how each kind begins, that it is run again when others overtake it, and what became of a
//! `COMMIT` without an answer.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::Pool;
use futures::future::join;
use headwater_store::{NODE_TIMEOUT, StoreError};
use tokio::time::{Instant, error::Elapsed, timeout_at};

use crate::{
    connection::{Connection, code, failed, is_overtaken, is_without_answer},
    marks::{Mark, Marks},
    migration,
    outcome::{self, Outcome, TransactionId, identified},
    pooling::Pooling,
    positions::take_turn,
    server::connect,
};

/// Runs of a step that others overtake, before it fails.
const TRIES: u32 = 50;
/// The longest wait between them.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// A transaction with bounds: a node that is paused or cut off holds locks for less than the time after which it counts as
/// dead, and nobody waits for ever. Nor does it read whole tables: the server's statistics of a busy or a young table are behind,
/// and a plan for a table of a few rows would be kept when it has many (and compiling such a plan takes longer than to run it).
/// All is the transaction's own, so that a pooler may share its connections.
macro_rules! bounded {
    ($begin:literal $(, $first:expr)*) => {
        concat!(
            $begin,
            "; SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '10s'; \
             SET LOCAL statement_timeout = '60s'; SET LOCAL enable_seqscan = off; SET LOCAL jit = off"
            $(, "; ", $first)*
        )
    };
}

/// For the steps of the event path, which are many and small: a statement is planned once for a connection. Its plan would be no
/// other for other values, and planning takes longer than to run it. On a table that is empty at that moment all indexes cost the
/// same: conditions on rows that are found by their ids are written `(…) IS TRUE` where there is an index for them.
macro_rules! planned_once {
    () => {
        "SET LOCAL plan_cache_mode = force_generic_plan"
    };
}

/// The last statement of the beginning of a transaction that only reads, or beats.
macro_rules! served_by {
    () => {
        concat!("SELECT ", crate::pooling::backend!())
    };
}
pub(crate) use served_by;

/// A transaction of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transaction {
    /// All statements see the same moment.
    Reading,
    /// Steps have the effect of one after the other. One that would not is run again.
    Writing,
    /// For a step that locks the rows it depends on as it finds them: each statement sees what was committed before it, and
    /// waits where another step would overtake it.
    Locking,
    /// The same, with its turn to append to the log, for commits of runs of sources.
    LockingInTurn,
    /// Keeps a node alive. Its outcome is not asked for: the next beat is as good.
    Beating,
    /// Writes, and has its turn to append to the log before it sees anything, so that those before it do not overtake it.
    Appending,
    /// The same, for commits of runs of workflows.
    Committing,
    /// Brings the schema up to date.
    Migrating,
}

impl Transaction {
    /// The statements that begin it. Those of one that writes return its id.
    fn begin(self) -> &'static str {
        match self {
            Self::Reading => bounded!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                served_by!()
            ),
            Self::Writing => bounded!("BEGIN ISOLATION LEVEL SERIALIZABLE", identified!()),
            Self::Locking => bounded!(
                "BEGIN ISOLATION LEVEL READ COMMITTED",
                planned_once!(),
                identified!()
            ),
            Self::LockingInTurn => bounded!(
                "BEGIN ISOLATION LEVEL READ COMMITTED",
                planned_once!(),
                take_turn!(),
                identified!()
            ),
            Self::Beating => bounded!("BEGIN ISOLATION LEVEL READ COMMITTED", served_by!()),
            Self::Appending => bounded!(
                "BEGIN ISOLATION LEVEL SERIALIZABLE",
                take_turn!(),
                identified!()
            ),
            Self::Committing => bounded!(
                "BEGIN ISOLATION LEVEL SERIALIZABLE",
                planned_once!(),
                take_turn!(),
                identified!()
            ),
            Self::Migrating => migration::BEGIN,
        }
    }

    /// The time after which it counts as failed, whatever the server says. A beat that takes longer helps no more.
    fn within(self) -> Duration {
        match self {
            Self::Beating => BEAT_WITHIN,
            Self::Reading
            | Self::Writing
            | Self::Locking
            | Self::LockingInTurn
            | Self::Appending
            | Self::Committing => DONE_WITHIN,
            Self::Migrating => MIGRATED_WITHIN,
        }
    }

    /// The name of its marks. One that is tried again by itself after any failure has them, and of each kind one is under way
    /// at a time ([`crate::grouped`]).
    fn marked(self) -> Option<&'static str> {
        match self {
            Self::LockingInTurn => Some("sources"),
            Self::Committing => Some("workflows"),
            Self::Reading
            | Self::Writing
            | Self::Locking
            | Self::Beating
            | Self::Appending
            | Self::Migrating => None,
        }
    }
}

/// Half of the time after which a node counts as dead.
const BEAT_WITHIN: Duration = NODE_TIMEOUT.checked_div(2).unwrap();
/// More than the time that the server itself gives to a step.
const DONE_WITHIN: Duration = Duration::from_secs(120);
/// Tables of any size.
const MIGRATED_WITHIN: Duration = Duration::from_hours(24);
/// The time that a `COMMIT` without an answer and without a mark is asked for.
const KNOWN_WITHIN: Duration = Duration::from_secs(30);
const ASKED_EVERY: Duration = Duration::from_millis(100);
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// The connections to a database, and their transactions.
pub(crate) struct Database {
    pub(crate) pool: Pool,
    pooling: Arc<Pooling>,
    marks: Marks,
}

impl Database {
    /// `pooling` is shared by all who use the same database.
    pub(crate) fn new(pool: Pool, pooling: Arc<Pooling>) -> Self {
        Self {
            pool,
            pooling,
            marks: Marks::default(),
        }
    }

    /// Runs a step in a transaction, again as long as others overtake it.
    pub(crate) async fn run<T, F>(
        &self,
        transaction: Transaction,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let mut tries = 1;
        loop {
            match self.attempt(transaction, &step).await {
                Err(error) if tries < TRIES && is_overtaken(&error) => {
                    tracing::debug!(error = error.in_full(), tries, "a step is run again");
                    tokio::time::sleep(Duration::from_millis(tries.into()).min(PAUSE_MAX)).await;
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    /// Runs a step in a transaction once.
    pub(crate) async fn attempt<T, F>(
        &self,
        transaction: Transaction,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let give_up_at = Instant::now() + transaction.within();
        let mark = transaction.marked().map(|kind| self.marks.next(kind));
        let done = timeout_at(give_up_at, self.done(transaction, mark.as_ref(), &step)).await;
        let (connection, id, value) = done.unwrap_or_else(|late| Err(waited(late)))?;
        let error = match timeout_at(give_up_at, connection.end("COMMIT")).await {
            Ok(Ok(())) => return Ok(value),
            Ok(Err(error)) if !is_without_answer(&error) => {
                return Err(failed("committing")(error));
            }
            Ok(Err(error)) => failed("committing")(error),
            Err(late) => waited(late),
        };
        // It is asked for on another connection, which there may be only one of.
        drop(connection);
        match id {
            Some(id) if self.outcome(&id, mark.as_ref()).await == Outcome::Committed => Ok(value),
            Some(_) | None => Err(error),
        }
    }

    /// Does everything of a step but to commit it.
    async fn done<T, F>(
        &self,
        transaction: Transaction,
        mark: Option<&Mark>,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<(Connection, Option<TransactionId>, T), StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let object = connect(&self.pool).await?;
        let begun = Connection::begin(object, transaction.begin(), &self.pooling).await;
        let (connection, said) = begun.map_err(failed("beginning a transaction"))?;
        // Sent before what the step sends first, and answered with it.
        let marked = async {
            match mark {
                Some(mark) => mark.leave(&connection).await,
                None => Ok(()),
            }
        };
        let (marked, done) = join(marked, step(connection.clone())).await;
        match marked.and(done) {
            Ok(value) => Ok((connection, TransactionId::of(&said), value)),
            Err(error) => {
                self.learn_from(&error);
                // A connection that cannot roll back is closed, which does.
                let _ = connection.end("ROLLBACK").await;
                Err(error)
            }
        }
    }

    fn learn_from(&self, error: &StoreError) {
        if let Some(code) = code(error) {
            self.pooling.learn_from(code);
        }
    }

    /// Asks for the outcome of a `COMMIT` without an answer: until it is known where there is a mark, and else for as long as a
    /// fail-over takes.
    async fn outcome(&self, of: &TransactionId, mark: Option<&Mark>) -> Outcome {
        let give_up_at = mark.is_none().then(|| Instant::now() + KNOWN_WITHIN);
        let ask = |connection: Connection| async move { outcome::ask(&connection, of, mark).await };
        let mut told_at = None;
        loop {
            let asked = Box::pin(self.attempt(Transaction::Reading, ask)).await;
            let now = Instant::now();
            let may_ask = give_up_at.is_none_or(|give_up_at| now < give_up_at);
            match asked {
                Ok(Outcome::Open) if may_ask => {}
                Ok(outcome) => return outcome,
                Err(error) => {
                    if told_at.is_none_or(|told_at| told_at + TOLD_EVERY < now) {
                        told_at = Some(now);
                        let error = error.in_full();
                        tracing::warn!(error, "the outcome of a commit is not known yet");
                    }
                    if !may_ask {
                        return Outcome::Unknown;
                    }
                }
            }
            tokio::time::sleep(ASKED_EVERY).await;
        }
    }
}

fn waited(late: Elapsed) -> StoreError {
    StoreError::unavailable("waiting for the database", late)
}
