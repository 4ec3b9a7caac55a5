//! The store itself: its pool of connections, and the transactions of its steps.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use deadpool_postgres::{ClientWrapper, Object, Pool};
use headwater_model::time::EpochMs;
use headwater_store::{NodeName, Progress, StoreError};

use crate::{
    clock::{self, DatabaseClock},
    connection::{Connection, code, failed, is_overtaken, is_without_answer},
    living, migration,
    outcome::{self, Outcome, TransactionId, identified},
    pooling::{self, Pooling, backend},
    positions::take_turn,
    server::{Server, connect},
};

/// Connections of one node.
const CONNECTIONS: usize = 8;
/// Runs of a step that others overtake, before it fails.
const TRIES: u32 = 50;
/// The longest wait between them.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// A transaction with bounds: a node that is paused or cut off holds locks for less than the time after which it counts as
/// dead, and nobody waits for ever. They are the transaction's own, so that a pooler may share its connections.
macro_rules! bounded {
    ($begin:literal $(, $first:expr)*) => {
        concat!(
            $begin,
            "; SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '10s'; \
             SET LOCAL statement_timeout = '60s'"
            $(, "; ", $first)*
        )
    };
}

/// The last statement of the beginning of a transaction that only reads, or beats.
macro_rules! served_by {
    () => {
        concat!("SELECT ", backend!())
    };
}

const POOLED_COPY: &str = "a pooler in transaction mode is before the server, and copying needs a connection of its own: give the \
                           address of the server itself";
/// Copying takes as long as it takes, and a transaction of it waits for the other side.
const UNHURRIED: &str = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '10s'";

/// A transaction of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    /// All statements see the same moment.
    Reading,
    /// Steps have the effect of one after the other. One that would not is run again.
    Writing,
    /// For a step of one statement, whose rows are locked as it finds them.
    WritingStatement,
    /// Keeps a node alive. Its outcome is not asked for: the next beat is as good.
    Beating,
    /// Writes, and has its turn to append to the log before it sees anything, so that those before it do not overtake it.
    Appending,
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
            Self::WritingStatement => {
                bounded!("BEGIN ISOLATION LEVEL READ COMMITTED", identified!())
            }
            Self::Beating => bounded!("BEGIN ISOLATION LEVEL READ COMMITTED", served_by!()),
            Self::Appending => bounded!(
                "BEGIN ISOLATION LEVEL SERIALIZABLE",
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
            | Self::WritingStatement
            | Self::Appending
            | Self::Migrating => DONE_WITHIN,
        }
    }
}

/// Half of the time after which a node counts as dead.
const BEAT_WITHIN: Duration = Duration::from_secs(5);
/// More than the time that the server itself gives to a step, and to a `COMMIT` without an answer.
const DONE_WITHIN: Duration = Duration::from_secs(120);
/// The time that a `COMMIT` without an answer is asked for.
const KNOWN_WITHIN: Duration = Duration::from_secs(30);
const ASKED_EVERY: Duration = Duration::from_millis(100);

/// A PostgreSQL database as a store, which any number of nodes may share.
pub struct PostgresStore {
    pool: Pool,
    /// For heartbeats alone: a node whose steps wait for connections is not dead.
    heartbeats: Pool,
    pooling: Pooling,
    clock: Arc<DatabaseClock>,
    pub(crate) is_for_one: bool,
}

impl PostgresStore {
    /// Connects to the database (`postgres://user@host/database`, with TLS as `sslmode` and `sslrootcert` say) and brings
    /// its schema up to date.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be reached, `Unsupported` when a newer version of the program has written it.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let store = Self::connected(url)?;
        store.migrate().await?;
        store.set_clock().await?;
        Ok(store)
    }

    /// A connection that no step shares, for copying.
    ///
    /// # Errors
    /// `Unsupported` where a pooler would share it with others.
    pub(crate) async fn session(&self) -> Result<ClientWrapper, StoreError> {
        let other = connect(&self.pool).await?;
        let session = Object::take(connect(&self.pool).await?);
        let mut backends = Vec::new();
        for client in [&*other, &session] {
            let said = client.simple_query(served_by!()).await;
            backends.push(pooling::backend_of(
                &said.map_err(failed("looking at a connection"))?,
            ));
        }
        if backends[0] == backends[1] {
            return Err(StoreError::Unsupported(POOLED_COPY.to_owned()));
        }
        let set = session.batch_execute(UNHURRIED).await;
        set.map_err(failed("setting up a connection"))?;
        Ok(session)
    }

    pub(crate) fn connected(url: &str) -> Result<Self, StoreError> {
        let server = Server::at(url)?;
        Ok(Self {
            pool: server.pool(CONNECTIONS)?,
            heartbeats: server.pool(1)?,
            pooling: Pooling::default(),
            clock: Arc::default(),
            is_for_one: false,
        })
    }

    /// Connects for a node that takes the database for itself: it starts only while no other lives (`Held`), and those that
    /// come back later find that they are dead. The schema is left as it is until [`PostgresStore::prepare`].
    ///
    /// # Errors
    /// `Unavailable` when it cannot be reached, `Unsupported` when a newer version of the program has written it.
    pub async fn open_for_one(url: &str) -> Result<Self, StoreError> {
        let store = Self {
            is_for_one: true,
            ..Self::connected(url)?
        };
        store.set_clock().await?;
        let version = |connection| async move { migration::known(&connection).await };
        store.read(version).await?;
        Ok(store)
    }

    /// Brings the schema up to date for the node `name`, unless another one lives, which may know only the former one: `false`.
    ///
    /// # Errors
    /// Those of [`PostgresStore::open`].
    pub async fn prepare(&self, name: &NodeName) -> Result<bool, StoreError> {
        let next = |connection: Connection| async move {
            match living::has_others(&connection, name).await? {
                true => Ok(None),
                false => migration::run_next(&connection).await.map(Some),
            }
        };
        loop {
            let ran = self.attempt(&self.pool, Transaction::Migrating, next);
            match ran.await? {
                None => return Ok(false),
                Some(false) => return Ok(true),
                Some(true) => {}
            }
        }
    }

    /// Brings the schema up to date, whoever uses the database.
    ///
    /// # Errors
    /// Those of [`PostgresStore::open`].
    pub(crate) async fn migrate(&self) -> Result<(), StoreError> {
        let next = |connection: Connection| async move { migration::run_next(&connection).await };
        while self
            .attempt(&self.pool, Transaction::Migrating, next)
            .await?
        {}
        Ok(())
    }

    /// The names of the living nodes besides the one of that name.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn others(&self, name: &NodeName) -> Result<Vec<NodeName>, StoreError> {
        self.set_clock().await?;
        let now_ms = self.clock.now_ms();
        self.read(|connection| async move {
            match migration::known(&connection).await? {
                0 => Ok(Vec::new()),
                _ => living::names(&connection, name, now_ms).await,
            }
        })
        .await
    }

    /// The names of all living nodes of a database with tables, even while a store is being copied into it.
    pub(crate) async fn living(&self) -> Result<Vec<NodeName>, StoreError> {
        self.set_clock().await?;
        let (nobody, now_ms) = (&NodeName::new(""), self.clock.now_ms());
        self.read(|connection| async move { living::names(&connection, nobody, now_ms).await })
            .await
    }

    /// The time of the database, which is that of all its nodes.
    pub fn clock(&self) -> Arc<DatabaseClock> {
        Arc::clone(&self.clock)
    }

    async fn set_clock(&self) -> Result<(), StoreError> {
        let now_ms = self
            .read(|connection| async move { clock::ask(&connection).await })
            .await?;
        self.clock.set(now_ms);
        Ok(())
    }

    /// Runs a step of one statement that keeps the node alive, and takes the time that it returns.
    pub(crate) async fn beat<F>(
        &self,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<(), StoreError>
    where
        F: Future<Output = Result<EpochMs, StoreError>> + Send,
    {
        let beat = self.retried(&self.heartbeats, Transaction::Beating, step);
        self.clock.set(beat.await?);
        Ok(())
    }

    /// Runs a step that writes. It is run again if another step that runs at the same time overtakes it.
    pub(crate) async fn write<T, F>(
        &self,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        self.retried(&self.pool, Transaction::Writing, step).await
    }

    /// The same with a step that appends to the log.
    pub(crate) async fn append<T, F>(
        &self,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        self.retried(&self.pool, Transaction::Appending, step).await
    }

    /// The same with a step that writes with one statement, and reads nothing that it depends on: cheaper.
    pub(crate) async fn write_statement<T, F>(
        &self,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        self.retried(&self.pool, Transaction::WritingStatement, step)
            .await
    }

    /// Runs a step that writes, unless `look`, which only reads, finds the answer.
    pub(crate) async fn write_unless<T, L, F>(
        &self,
        look: impl Fn(Connection) -> L + Send + Sync,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        L: Future<Output = Result<Option<T>, StoreError>> + Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        match self.read(look).await? {
            Some(found) => Ok(found),
            None => self.write(step).await,
        }
    }

    /// Runs a step of chores, unless there is nothing to do.
    pub(crate) async fn progress_if<L, F>(
        &self,
        has_work: impl Fn(Connection) -> L + Send + Sync,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<Progress, StoreError>
    where
        L: Future<Output = Result<bool, StoreError>> + Send,
        F: Future<Output = Result<Progress, StoreError>> + Send,
    {
        match self.read(has_work).await? {
            false => Ok(Progress::default()),
            true => self.write(step).await,
        }
    }

    /// Runs a step of chores, unless nothing is due yet at `now_ms`.
    pub(crate) async fn progress_if_due<L, F>(
        &self,
        now_ms: EpochMs,
        next_due: impl Fn(Connection) -> L + Send + Sync,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<Progress, StoreError>
    where
        L: Future<Output = Result<Option<EpochMs>, StoreError>> + Send,
        F: Future<Output = Result<Progress, StoreError>> + Send,
    {
        let next_due_ms = self.read(next_due).await?;
        if next_due_ms.is_some_and(|due_ms| due_ms <= now_ms) {
            return self.write(step).await;
        }
        Ok(Progress {
            next_due_ms,
            ..Progress::default()
        })
    }

    /// Runs a step of parts that are kept or refused one by one, each in a savepoint. All are run again if another
    /// step overtakes one of them. `append`: whether some append to the log.
    pub(crate) async fn write_parts<F>(
        &self,
        append: bool,
        parts: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<Vec<Result<(), StoreError>>, StoreError>
    where
        F: Future<Output = Result<Vec<Result<(), StoreError>>, StoreError>> + Send,
    {
        let step = |connection| {
            let running = parts(connection);
            async {
                let results = running.await?;
                let is_lost =
                    |result: &Result<(), StoreError>| result.as_ref().is_err_and(is_overtaken);
                let (lost, kept): (Vec<_>, Vec<_>) = results.into_iter().partition(is_lost);
                match lost.into_iter().find_map(Result::err) {
                    Some(overtaken) => Err(overtaken),
                    None => Ok(kept),
                }
            }
        };
        match append {
            true => self.append(step).await,
            false => self.write(step).await,
        }
    }

    /// Runs a step that only reads. All its statements see the same moment.
    pub(crate) async fn read<T, F>(
        &self,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        self.retried(&self.pool, Transaction::Reading, step).await
    }

    /// Runs a step in a transaction, again as long as others overtake it.
    async fn retried<T, F>(
        &self,
        pool: &Pool,
        transaction: Transaction,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let mut tries = 1;
        loop {
            let attempt = self.attempt(pool, transaction, &step);
            let attempted = match tokio::time::timeout(transaction.within(), attempt).await {
                Ok(attempted) => attempted,
                Err(elapsed) => Err(StoreError::unavailable("waiting for the database", elapsed)),
            };
            match attempted {
                Err(error) if tries < TRIES && is_overtaken(&error) => {
                    tracing::debug!(error = error.in_full(), tries, "a step is run again");
                    tokio::time::sleep(Duration::from_millis(tries.into()).min(PAUSE_MAX)).await;
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    async fn attempt<T, F>(
        &self,
        pool: &Pool,
        transaction: Transaction,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let object = connect(pool).await?;
        let begun = Connection::begin(object, transaction.begin(), &self.pooling).await;
        let (connection, said) = begun.map_err(failed("beginning a transaction"))?;
        let id = TransactionId::of(&said);
        match step(connection.clone()).await {
            Ok(value) => match (connection.end("COMMIT").await, id) {
                (Ok(()), _) => Ok(value),
                (Err(error), Some(id)) if is_without_answer(&error) => {
                    // It is asked for on another connection, which there may be only one of.
                    drop(connection);
                    match self.outcome(pool, &id).await {
                        Outcome::Committed => Ok(value),
                        Outcome::RolledBack | Outcome::Open | Outcome::Unknown => {
                            Err(failed("committing")(error))
                        }
                    }
                }
                (Err(error), _) => Err(failed("committing")(error)),
            },
            Err(error) => {
                if let Some(code) = code(&error) {
                    self.pooling.learn_from(code);
                }
                // A connection that cannot roll back is closed, which does.
                let _ = connection.end("ROLLBACK").await;
                Err(error)
            }
        }
    }

    /// Asks for the outcome of a `COMMIT` without an answer until it is known, or for as long as a fail-over takes.
    async fn outcome(&self, pool: &Pool, of: &TransactionId) -> Outcome {
        let give_up_at = Instant::now() + KNOWN_WITHIN;
        let ask = |connection: Connection| async move { outcome::ask(&connection, of).await };
        loop {
            let asked = Box::pin(self.attempt(pool, Transaction::Reading, ask)).await;
            match asked {
                Ok(Outcome::Open) | Err(_) if Instant::now() < give_up_at => {
                    tokio::time::sleep(ASKED_EVERY).await;
                }
                Ok(outcome) => return outcome,
                Err(error) => {
                    tracing::warn!(
                        error = error.in_full(),
                        "the outcome of a commit is not known"
                    );
                    return Outcome::Unknown;
                }
            }
        }
    }
}
