//! Reading beside the writer: a few connections, each used by one step at a time.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use headwater_store::StoreError;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::{self, failed};

/// Connections that only read.
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
}

/// A connection in use; goes back even if the step panics.
struct Borrowed {
    readers: Arc<Readers>,
    connection: Option<Connection>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.readers.idle.lock().extend(self.connection.take());
    }
}

impl Readers {
    /// Opens the first of that many connections; the others are opened when they are first needed.
    pub(crate) fn open(path: &Path, count: usize) -> Result<Self, StoreError> {
        Ok(Self {
            path: path.to_owned(),
            idle: Mutex::new(vec![connection::reading(path)?]),
            free: Arc::new(Semaphore::new(count)),
        })
    }

    /// Runs a step on a free connection, on a thread that may block. All its statements see the same moment.
    pub(crate) async fn run<T: Send + 'static>(
        self: Arc<Self>,
        step: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let free = Arc::clone(&self.free);
        let permit = free
            .acquire_owned()
            .await
            .map_err(|error| StoreError::unavailable("reading", error))?;
        // The permit goes along: a caller that goes away does not free a connection that is still in use.
        let read = tokio::task::spawn_blocking(move || {
            let idle = self.idle.lock().pop();
            let connection = match idle {
                Some(connection) => connection,
                None => connection::reading(&self.path)?,
            };
            let borrowed = Borrowed {
                readers: self,
                connection: Some(connection),
                _permit: permit,
            };
            let connection = borrowed
                .connection
                .as_ref()
                .ok_or_else(|| no_reader("all are in use"))?;
            let moment = connection
                .unchecked_transaction()
                .map_err(failed("reading"))?;
            step(&moment)
        });
        read.await.map_err(|error| no_reader(&error.to_string()))?
    }
}

fn no_reader(why: &str) -> StoreError {
    StoreError::unavailable("reading", why.to_owned())
}
