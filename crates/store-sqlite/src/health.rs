//! The health of the database: whether writes succeed, and whether they are copied into the main file.

use std::time::{Duration, Instant};

use headwater_store::StoreError;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Notify;

use crate::connection::failed;

/// The bytes that have to fit before a full disk counts as having room again: the next request may not be a small one.
const PROBE_BYTES: u32 = 1024 * 1024;

/// The shortest period between two tries.
const PROBED_EVERY: Duration = Duration::from_secs(1);

/// Whether writes succeed: recorded by the writer, read by health checks.
pub(crate) struct Health {
    failure: Mutex<Option<Failure>>,
    probed_every: Duration,
    /// Notified when writes were copied into the main file in idle time.
    pub(crate) copied: Notify,
}

/// Set since a write failed.
struct Failure {
    /// The database's error text of the last failure.
    cause: String,
    /// The time of the last try whether there is room again.
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

    /// Records a failed write. The first one is logged.
    pub(crate) fn fail(&self, cause: &str) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            tracing::error!(
                cause,
                "the store cannot be written; everything that must be stored is refused until it can"
            );
        }
        *failure = Some(Failure {
            cause: cause.to_owned(),
            probed_at: failure.take().and_then(|failure| failure.probed_at),
        });
    }

    /// The cause of the last failure, until a try shows that there is room again.
    pub(crate) fn cause(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.as_ref().map(|failure| failure.cause.clone())
    }

    /// Called after a write that succeeded. A small one may succeed on a full disk too, so that only a large one ends
    /// the failure. The connection must not be in a transaction.
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

/// Writes unused bytes, and frees them again.
fn write_probe(connection: &Connection) -> Result<(), StoreError> {
    for bytes in [Some(PROBE_BYTES), None] {
        connection
            .execute("UPDATE node SET probe = zeroblob(?1)", [bytes])
            .map_err(failed("probing whether the store can be written"))?;
    }
    Ok(())
}

/// Copies writes into the main file; in mode `PASSIVE` as far as possible without blocking others.
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
