//! Turns at changing the life of a source or a workflow: its deployments, updates and its deletion come one after the
//! other.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use headwater_model::id::RunnableId;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// One lock per runnable whose life is being changed.
#[derive(Default)]
pub(crate) struct Lifecycles {
    locks: Mutex<HashMap<RunnableId, Weak<tokio::sync::Mutex<()>>>>,
}

impl Lifecycles {
    /// Waits for its turn to change its life.
    pub(crate) async fn lock(&self, id: &RunnableId) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock();
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(id).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::new(tokio::sync::Mutex::new(()));
                locks.insert(id.clone(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}
