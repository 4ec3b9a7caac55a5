//! Turns at changing a thing: changes of one come one after the other, those of different things beside each other.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// One lock per thing that is being changed.
pub(crate) struct Turns<Id> {
    locks: Mutex<HashMap<Id, Weak<tokio::sync::Mutex<()>>>>,
}

impl<Id> Default for Turns<Id> {
    fn default() -> Self {
        Self {
            locks: Mutex::default(),
        }
    }
}

impl<Id: Clone + Eq + Hash> Turns<Id> {
    /// Waits for its turn to change it.
    pub(crate) async fn lock(&self, id: &Id) -> OwnedMutexGuard<()> {
        self.of(id).lock_owned().await
    }

    /// The turn to change it, unless it is being changed.
    pub(crate) fn try_lock(&self, id: &Id) -> Option<OwnedMutexGuard<()>> {
        self.of(id).try_lock_owned().ok()
    }

    fn of(&self, id: &Id) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.locks.lock();
        locks.retain(|_, lock| lock.strong_count() > 0);
        let known = locks.get(id).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let lock = Arc::new(tokio::sync::Mutex::new(()));
            locks.insert(id.clone(), Arc::downgrade(&lock));
            lock
        })
    }
}
