//! Marks of commits, which survive a server: of a transaction that is tried again after a failure it is known for certain
//! whether the former try was written. `docs/guide/postgresql.md` tells what a fail-over does.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::atomic::{AtomicI64, Ordering::Relaxed},
};

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

/// The marks of this process.
pub(crate) struct Marks {
    process: i64,
    last: AtomicI64,
}

/// The mark of one transaction.
pub(crate) struct Mark {
    process: i64,
    kind: &'static str,
    number: i64,
}

impl Default for Marks {
    fn default() -> Self {
        // Seeded at random.
        let process = RandomState::new().hash_one(std::process::id());
        Self {
            process: process.cast_signed(),
            last: AtomicI64::new(0),
        }
    }
}

impl Marks {
    /// The mark of the next transaction of that kind. The one before it must have ended.
    pub(crate) fn next(&self, kind: &'static str) -> Mark {
        Mark {
            process: self.process,
            kind,
            number: self.last.fetch_add(1, Relaxed),
        }
    }
}

impl Mark {
    /// Leaves it in the transaction.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub(crate) async fn leave(&self, connection: &Connection) -> Result<(), StoreError> {
        let left = connection
            .execute(
                "INSERT INTO commit_marks (process, kind, number) VALUES ($1, $2, $3)
                 ON CONFLICT (process, kind) DO UPDATE SET number = excluded.number, written_at = now()",
                &[&self.process, &self.kind, &self.number],
            )
            .await;
        left.map_err(failed("leaving a mark")).map(drop)
    }

    /// Whether it was committed, once its transaction is not under way any more.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub(crate) async fn is_left(&self, connection: &Connection) -> Result<bool, StoreError> {
        let left = "SELECT 1 FROM commit_marks WHERE process = $1 AND kind = $2 AND number = $3";
        let left = connection
            .exists(left, &[&self.process, &self.kind, &self.number])
            .await;
        left.map_err(failed("looking for a mark"))
    }
}

/// Forgets marks of processes that are gone.
///
/// # Errors
/// `Unavailable` when the database cannot be reached.
pub(crate) async fn forget_old(connection: &Connection) -> Result<(), StoreError> {
    let old = "DELETE FROM commit_marks WHERE written_at < now() - interval '1 day'";
    let forgotten = connection.execute(old, &[]).await;
    forgotten.map_err(failed("forgetting marks")).map(drop)
}
