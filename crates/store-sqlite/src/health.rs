//! The condition of the database: whether writes succeed, and where what was written is.

use std::time::{Duration, Instant};

use headwater_store::StoreError;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Notify;

use crate::connection::failed;

/// The bytes that have to fit before a full disk counts as having room again: the next request may not be a small one.
const PROBE_BYTES: u32 = 1024 * 1024;

/// How often that is tried at most.
const PROBED_EVERY: Duration = Duration::from_secs(1);

/// Whether writes succeed. Told by the writer; asked by whoever wants to know whether the node is well.
pub(crate) struct Health {
    failure: Mutex<Option<Failure>>,
    probed_every: Duration,
    /// Told whenever what was written has been copied into the main file because nothing else was to do.
    pub(crate) copied: Notify,
}

/// Since a write has failed.
struct Failure {
    /// The database's words when one failed last.
    cause: String,
    /// When it was tried last whether there is room again.
    probed_at: Option<Instant>,
}

impl Default for Health {
    fn default() -> Self {
        Self::probed_every(PROBED_EVERY)
    }
}

impl Health {
    pub(crate) fn probed_every(probed_every: Duration) -> Self {
        Self {
            failure: Mutex::default(),
            probed_every,
            copied: Notify::new(),
        }
    }

    /// Notes a write that failed. The first one is logged.
    pub(crate) fn fail(&self, cause: &str) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            tracing::error!(
                cause,
                "the store cannot be written; nothing is accepted until it can"
            );
        }
        *failure = Some(Failure {
            cause: cause.to_owned(),
            probed_at: failure.take().and_then(|failure| failure.probed_at),
        });
    }

    /// Why writing failed last, until it has been found that there is room again.
    pub(crate) fn cause(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.as_ref().map(|failure| failure.cause.clone())
    }

    /// After a write that succeeded: a small one does so on a full disk too, so that it takes a large one to be well
    /// again. The connection must not be in a transaction.
    pub(crate) fn probe(&self, connection: &Connection, now: Instant) {
        if !self.begin_probe(now) {
            return;
        }
        match write_probe(connection) {
            Ok(()) => {
                tracing::info!("the store can be written again");
                *self.failure.lock() = None;
            }
            Err(error) => self.fail(&error.in_full()),
        }
    }

    /// Whether it is time to try.
    fn begin_probe(&self, now: Instant) -> bool {
        let mut failure = self.failure.lock();
        let Some(failure) = failure.as_mut() else {
            return false;
        };
        let is_due = |probed_at| now.duration_since(probed_at) >= self.probed_every;
        let is_due = failure.probed_at.is_none_or(is_due);
        if is_due {
            failure.probed_at = Some(now);
        }
        is_due
    }
}

/// Writes bytes that nobody reads, and frees them again.
fn write_probe(connection: &Connection) -> Result<(), StoreError> {
    for bytes in [Some(PROBE_BYTES), None] {
        connection
            .execute("UPDATE node SET probe = zeroblob(?1)", [bytes])
            .map_err(failed("probing whether the store can be written"))?;
    }
    Ok(())
}

/// Copies what was written into the main file; `PASSIVE` as far as nobody has to wait for it.
pub(crate) fn checkpoint(connection: &Connection, mode: &str) -> Result<(), StoreError> {
    let is_busy: bool = connection
        .query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |row| {
            row.get(0)
        })
        .map_err(failed("consolidating the store"))?;
    match is_busy && mode != "PASSIVE" {
        true => Err(StoreError::unavailable(
            "consolidating the store",
            "somebody else is using it",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_there_is_room_again_is_tried_once_a_second() {
        let health = Health::default();
        let now = Instant::now();
        let after = |ms| now + Duration::from_millis(ms);
        assert!(!health.begin_probe(now), "it is well");
        health.fail("full");
        assert!(health.begin_probe(now));
        health.fail("full");
        assert!(!health.begin_probe(after(999)));
        assert!(health.begin_probe(after(1_000)));
        assert!(!health.begin_probe(after(1_999)));
    }
}
