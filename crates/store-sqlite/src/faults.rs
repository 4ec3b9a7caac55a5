//! A disk that is away when a test says so: nothing can be written, and everything can be read. One that cannot be read for a
//! moment. And one that has lost values of runs.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use headwater_store::StoreError;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// The state of the disk.
#[derive(Default)]
pub struct Faults {
    is_away: AtomicBool,
    /// Hashes of blobs of runs.
    lost: Mutex<Vec<String>>,
    commit_refused: Notify,
    /// Reads that fail from now on.
    unread: AtomicU32,
}

impl Faults {
    /// # Errors
    /// `Unavailable` while the disk is away.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(StoreError::unavailable("writing", "the disk is away")),
            false => Ok(()),
        }
    }

    /// The same for commits of runs.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn check_commit(&self) -> Result<(), StoreError> {
        self.check()
            .inspect_err(|_| self.commit_refused.notify_one())
    }

    /// # Errors
    /// `Unavailable` for as many reads as are to fail.
    pub(crate) fn check_read(&self) -> Result<(), StoreError> {
        let one_less = |left: u32| left.checked_sub(1);
        let (set, get) = (Ordering::SeqCst, Ordering::SeqCst);
        match self.unread.fetch_update(set, get, one_less) {
            Ok(_) => Err(StoreError::unavailable("reading", "the disk hiccups")),
            Err(_) => Ok(()),
        }
    }

    /// Lets the next reads fail.
    pub fn fail_reads(&self, reads: u32) {
        self.unread.store(reads, Ordering::SeqCst);
    }

    /// Takes the disk away, or gives it back.
    pub fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Loses every blob of this hash, as a damaged disk does.
    pub fn lose_blob(&self, hash: &str) {
        self.lost.lock().push(hash.to_owned());
    }

    pub(crate) fn has_lost(&self, hash: &str) -> bool {
        self.lost.lock().iter().any(|lost| lost == hash)
    }

    /// Returns once a commit of runs has failed because the disk was away.
    pub async fn commit_refused(&self) {
        self.commit_refused.notified().await;
    }
}
