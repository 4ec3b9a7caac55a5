//! Reading beside the writer: a few connections, each used by one step at a time.

use std::{path::Path, sync::Arc};

use headwater_store::StoreError;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::connection;

/// Connections that only read.
pub(crate) struct Readers {
    idle: Mutex<Vec<Connection>>,
    free: Semaphore,
}

impl Readers {
    /// Opens that many connections.
    pub(crate) fn open(path: &Path, count: usize) -> Result<Self, StoreError> {
        let idle: Result<Vec<_>, _> = (0..count).map(|_| connection::reading(path)).collect();
        Ok(Self {
            idle: Mutex::new(idle?),
            free: Semaphore::new(count),
        })
    }

    /// Runs a step on a free connection, on a thread that may block.
    pub(crate) async fn run<T: Send + 'static>(
        self: Arc<Self>,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let readers = Arc::clone(&self);
        let _place = self
            .free
            .acquire()
            .await
            .map_err(|error| StoreError::unavailable("reading", error))?;
        let read = tokio::task::spawn_blocking(move || {
            let connection = readers
                .idle
                .lock()
                .pop()
                .ok_or_else(|| no_reader("all are in use"))?;
            let result = step(&connection);
            readers.idle.lock().push(connection);
            result
        });
        read.await.map_err(|error| no_reader(&error.to_string()))?
    }
}

fn no_reader(why: &str) -> StoreError {
    StoreError::unavailable("reading", why.to_owned())
}
