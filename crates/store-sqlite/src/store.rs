//! The store itself: its writer, its readers and the lock of its file.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use headwater_model::time::EpochMs;
use headwater_store::{Progress, StoreError};
use rusqlite::Connection;

#[cfg(feature = "faults")]
use crate::faults::Faults;
use crate::{
    connection, health::Health, living::Living, migration, readers::Readers,
    run_commits::RunCommits, writer, writer::Writer,
};

/// Connections that read; more would only compete with the writer for the two cores.
const READERS: usize = 4;

/// A SQLite database as a store.
pub struct SqliteStore {
    pub(crate) writer: Writer,
    readers: Option<Arc<Readers>>,
    pub(crate) health: Arc<Health>,
    pub(crate) living: Arc<Living>,
    pub(crate) run_commits: RunCommits,
    #[cfg(feature = "faults")]
    faults: Faults,
    /// Its path, if it has a file.
    pub(crate) path: Option<PathBuf>,
    /// Held until the writer has ended: fields are dropped in this order.
    _lock: Option<File>,
}

impl SqliteStore {
    /// Opens or creates the database and brings its schema up to date.
    ///
    /// # Errors
    /// `Unavailable` when another process has it open, when it cannot be opened, or when a newer
    /// version of the program has written it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_idling(path, writer::IDLE)
    }

    /// The same, with the idle time after which writes are copied into the main file.
    pub(crate) fn open_idling(path: &Path, idle: Duration) -> Result<Self, StoreError> {
        let lock = lock(path)?;
        let connection = connection::writing(path)?;
        migration::run(&connection)?;
        let readers = Readers::open(path, READERS)?;
        let health = Arc::<Health>::default();
        Ok(Self {
            writer: Writer::start(connection, Arc::clone(&health), idle)?,
            readers: Some(Arc::new(readers)),
            health,
            living: Arc::default(),
            run_commits: RunCommits::default(),
            #[cfg(feature = "faults")]
            faults: Faults::default(),
            path: Some(path.to_owned()),
            _lock: Some(lock),
        })
    }

    /// An in-memory store, dropped with its last clone, for tests. Reads go through the writer.
    ///
    /// # Errors
    /// `Unavailable` when there is no memory for it.
    pub fn open_in_memory() -> Result<Self, StoreError> {
        let connection = connection::in_memory()?;
        migration::run(&connection)?;
        let health = Arc::<Health>::default();
        Ok(Self {
            writer: Writer::start(connection, Arc::clone(&health), writer::IDLE)?,
            readers: None,
            health,
            living: Arc::default(),
            run_commits: RunCommits::default(),
            #[cfg(feature = "faults")]
            faults: Faults::default(),
            path: None,
            _lock: None,
        })
    }

    /// The commits of runs, for tests of workflows.
    pub fn run_commits(&self) -> &RunCommits {
        &self.run_commits
    }

    /// The faults that a test may cause.
    #[cfg(feature = "faults")]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Runs a step that writes, alone or together with others in one transaction.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        #[cfg(feature = "faults")]
        self.faults.check()?;
        self.writer.run(step).await
    }

    /// The same with a step that writes with one statement, its last: cheaper where there are very many.
    pub(crate) async fn write_statement<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        #[cfg(feature = "faults")]
        self.faults.check()?;
        self.writer.run_statement(step).await
    }

    /// Runs a step that writes, unless `look`, which only reads, finds the answer: then it costs no transaction.
    pub(crate) async fn write_unless<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<Option<T>, StoreError> + Send + 'static,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        #[cfg(feature = "faults")]
        let step = {
            let away = self.faults.check();
            move |connection: &_| away.and_then(|()| step(connection))
        };
        self.writer.run_unless(look, step).await
    }

    /// Runs a step of chores, unless there is nothing to do.
    pub(crate) async fn progress_if(
        &self,
        has_work: impl FnOnce(&Connection) -> Result<bool, StoreError> + Send + 'static,
        step: impl FnOnce(&Connection) -> Result<Progress, StoreError> + Send + 'static,
    ) -> Result<Progress, StoreError> {
        let look = |connection: &_| Ok((!has_work(connection)?).then(Progress::default));
        self.write_unless(look, step).await
    }

    /// Runs a step of chores, unless nothing is due yet at `now_ms`.
    pub(crate) async fn progress_if_due(
        &self,
        now_ms: EpochMs,
        next_due: impl FnOnce(&Connection) -> Result<Option<EpochMs>, StoreError> + Send + 'static,
        step: impl FnOnce(&Connection) -> Result<Progress, StoreError> + Send + 'static,
    ) -> Result<Progress, StoreError> {
        let look = move |connection: &_| {
            let next_due_ms = next_due(connection)?;
            let is_due = next_due_ms.is_some_and(|due_ms| due_ms <= now_ms);
            Ok((!is_due).then(|| Progress {
                next_due_ms,
                ..Progress::default()
            }))
        };
        self.write_unless(look, step).await
    }

    /// Runs a step of parts that are kept or refused one by one.
    pub(crate) async fn write_parts(
        &self,
        parts: impl FnOnce(&Connection) -> Result<Vec<Result<(), StoreError>>, StoreError>
        + Send
        + 'static,
    ) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        #[cfg(feature = "faults")]
        self.faults.check_commit()?;
        self.writer.run_parts(parts).await
    }

    /// Runs a step that only reads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        #[cfg(feature = "faults")]
        self.faults.check_read()?;
        match &self.readers {
            Some(readers) => Arc::clone(readers).run(step).await,
            None => self.writer.run(step).await,
        }
    }
}

/// Takes the store for this process.
pub(crate) fn lock(path: &Path) -> Result<File, StoreError> {
    let lock_path = path.with_extension("lock");
    let context = format!("locking {}", lock_path.display());
    let file =
        File::create(&lock_path).map_err(|error| StoreError::unavailable(&context, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Unsupported(format!(
            "another headwater is using this data folder, and has locked {}; stop it or choose another --data-dir",
            lock_path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(StoreError::unavailable(context, error)),
    }
}
