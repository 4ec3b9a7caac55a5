//! The store itself: its pools of connections, and the kinds of its steps.

use std::{sync::Arc, time::Instant};

use deadpool_postgres::{ClientWrapper, Object};
use headwater_model::time::EpochMs;
use headwater_store::{NodeName, Progress, StoreError};

use crate::{
    clock::{self, DatabaseClock},
    connection::{Connection, failed},
    database::{Database, Transaction, served_by},
    grouped::Grouped,
    living, migration,
    pooling::{self, Pooling},
    server::{Server, connect},
};

/// Connections of one node.
const CONNECTIONS: usize = 8;
const POOLED_COPY: &str = "a pooler in transaction mode is before the server, and copying needs a connection of its own: give the \
                           address of the server itself";
/// Copying takes as long as it takes, and a transaction of it waits for the other side. It is not a node's.
const UNHURRIED: &str = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '10s'; \
                         SET application_name = 'headwater store copy'";

/// A PostgreSQL database as a store, which any number of nodes may share.
pub struct PostgresStore {
    database: Arc<Database>,
    /// For heartbeats alone: a node whose steps wait for connections is not dead.
    heartbeats: Database,
    /// Steps of many sources that share transactions.
    pub(crate) grouped: Grouped,
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
        let other = connect(&self.database.pool).await?;
        let session = Object::take(connect(&self.database.pool).await?);
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
        let pooling = Arc::new(Pooling::default());
        let database = Database::new(server.pool(CONNECTIONS)?, Arc::clone(&pooling));
        let database = Arc::new(database);
        Ok(Self {
            heartbeats: Database::new(server.pool(1)?, pooling),
            grouped: Grouped::start(&database),
            database,
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
    /// Transactions of nodes that are dead are ended: nobody waits for their locks.
    ///
    /// # Errors
    /// Those of [`PostgresStore::open`].
    pub async fn prepare(&self, name: &NodeName) -> Result<bool, StoreError> {
        let next = |connection: Connection| async move {
            // A new database has no tables yet.
            if migration::known(&connection).await? > 0 {
                if living::has_others(&connection, name).await? {
                    return Ok(None);
                }
                living::end_transactions_of_the_dead(&connection).await?;
            }
            migration::run_next(&connection).await.map(Some)
        };
        loop {
            let ran = self.database.attempt(Transaction::Migrating, next);
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
        while self.database.attempt(Transaction::Migrating, next).await? {}
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
        self.clock.set(now_ms, Instant::now());
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
        // The answer of the statement: that to the commit may come much later.
        let timed = |connection| {
            let step = step(connection);
            async move { step.await.map(|now_ms| (now_ms, Instant::now())) }
        };
        let (now_ms, at) = self.heartbeats.run(Transaction::Beating, timed).await?;
        self.clock.set(now_ms, at);
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
        self.database.run(Transaction::Writing, step).await
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
        self.database.run(Transaction::Appending, step).await
    }

    /// The same with a step that locks what it depends on, or is of one statement: it is overtaken by none.
    pub(crate) async fn write_locking<T, F>(
        &self,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        self.database.run(Transaction::Locking, step).await
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

    /// Runs a step of chores, unless there is nothing to do. Those on rows that commits write, too, are `Appending`: they
    /// would be overtaken again and again.
    pub(crate) async fn progress_if<L, F>(
        &self,
        transaction: Transaction,
        has_work: impl Fn(Connection) -> L + Send + Sync,
        step: impl Fn(Connection) -> F + Send + Sync,
    ) -> Result<Progress, StoreError>
    where
        L: Future<Output = Result<bool, StoreError>> + Send,
        F: Future<Output = Result<Progress, StoreError>> + Send,
    {
        match self.read(has_work).await? {
            false => Ok(Progress::default()),
            true => self.database.run(transaction, step).await,
        }
    }

    /// Runs a step of chores, unless nothing is due yet at `now_ms`.
    pub(crate) async fn progress_if_due<L, F>(
        &self,
        transaction: Transaction,
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
            return self.database.run(transaction, step).await;
        }
        Ok(Progress {
            next_due_ms,
            ..Progress::default()
        })
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
        self.database.run(Transaction::Reading, step).await
    }
}
