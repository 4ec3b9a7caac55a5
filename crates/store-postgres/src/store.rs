//! The store itself: its pool of connections, and the transactions of its steps.

use std::{str::FromStr as _, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};
use tokio_postgres::{Config, NoTls};

use crate::{
    connection::{Connection, failed, is_overtaken},
    migration,
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
    ($begin:literal) => {
        concat!(
            $begin,
            "; SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '10s'; \
             SET LOCAL statement_timeout = '60s'"
        )
    };
}

/// All statements of a step see the same moment.
const READING: &str = bounded!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
/// Steps have the effect of one after the other. One that would not is run again.
const WRITING: &str = bounded!("BEGIN ISOLATION LEVEL SERIALIZABLE");
/// For a step of one statement, whose rows are locked as it finds them.
const WRITING_STATEMENT: &str = bounded!("BEGIN ISOLATION LEVEL READ COMMITTED");
/// The time in which a connection is there.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);
/// The time after which a server that does not answer counts as lost.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// The time that a step waits for a connection while others have them all.
const FREE_WITHIN: Duration = Duration::from_secs(30);

/// A PostgreSQL database as a store, which any number of nodes may share.
pub struct PostgresStore {
    pool: Pool,
}

impl PostgresStore {
    /// Connects to the database (`postgres://user@host/database`) and brings its schema up to date.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be reached, `Unsupported` when a newer version of the program has written it.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let mut config = Config::from_str(url)
            .map_err(|error| StoreError::unavailable("reading the database's URL", error))?;
        config
            .application_name("headwater")
            .connect_timeout(CONNECTED_WITHIN)
            .tcp_user_timeout(ANSWERED_WITHIN)
            .keepalives_idle(ANSWERED_WITHIN);
        let recycling = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool = Pool::builder(Manager::from_config(config, NoTls, recycling))
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(FREE_WITHIN))
            .build()
            .map_err(|error| StoreError::unavailable("setting up connections", error))?;
        let store = Self { pool };
        store.migrate().await?;
        Ok(store)
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let next = |connection: Connection| async move { migration::run_next(&connection).await };
        while self.attempt(migration::BEGIN, next).await? {}
        Ok(())
    }

    async fn connect(&self) -> Result<Object, StoreError> {
        let connected = self.pool.get().await;
        connected.map_err(|error| StoreError::unavailable("connecting to the database", error))
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
        self.retried(WRITING, step).await
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
        self.retried(WRITING_STATEMENT, step).await
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
    /// step overtakes one of them.
    pub(crate) async fn write_parts<F>(
        &self,
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
        self.write(step).await
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
        self.retried(READING, step).await
    }

    /// Runs a step in a transaction, again as long as others overtake it.
    async fn retried<T, F>(
        &self,
        begin: &'static str,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let mut tries = 1;
        loop {
            match self.attempt(begin, &step).await {
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
        begin: &'static str,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let object = self.connect().await?;
        let begun = Connection::begin(object, begin).await;
        let connection = begun.map_err(failed("beginning a transaction"))?;
        let result = step(connection.clone()).await;
        let ended = match &result {
            Ok(_) => connection.end("COMMIT").await.map_err(failed("committing")),
            Err(_) => connection
                .end("ROLLBACK")
                .await
                .map_err(failed("rolling back")),
        };
        result.and_then(|value| ended.map(|()| value))
    }
}
