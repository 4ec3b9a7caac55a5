//! Serializes credential renewal per account.

use std::{collections::HashMap, sync::Arc, time::Duration};

use headwater_model::{id::AccountId, time::EpochMs};
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// The time that an app which did not answer is not asked again.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// One lock per account whose app is being asked for credentials.
#[derive(Default)]
pub(super) struct RenewalLocks {
    by_account: Mutex<HashMap<AccountId, Arc<tokio::sync::Mutex<RenewalState>>>>,
}

/// The result of the last renewal, for the next one.
#[derive(Default)]
pub(super) struct RenewalState {
    failure: Option<(EpochMs, String)>,
}

impl RenewalState {
    /// The app's failure to answer, if that was a moment ago.
    pub(super) fn recent_failure(&self, now_ms: EpochMs) -> Option<&str> {
        let (failed_at_ms, reason) = self.failure.as_ref()?;
        let is_recent = now_ms.abs_diff(*failed_at_ms) < RETRY_AFTER;
        is_recent.then_some(reason)
    }

    pub(super) fn fail(&mut self, now_ms: EpochMs, reason: &str) {
        self.failure = Some((now_ms, reason.to_owned()));
    }

    pub(super) fn succeed(&mut self) {
        self.failure = None;
    }
}

impl RenewalLocks {
    /// Waits for the other users of the account.
    pub(super) async fn take(&self, id: &AccountId) -> OwnedMutexGuard<RenewalState> {
        let state = {
            let mut by_account = self.by_account.lock();
            Arc::clone(by_account.entry(id.clone()).or_default())
        };
        state.lock_owned().await
    }

    /// The account is gone, and with it whatever was to be remembered.
    pub(super) fn forget(&self, id: &AccountId) {
        self.by_account.lock().remove(id);
    }

    /// Releases the lock, and forgets the account if no other renewal waits and nothing is to be remembered.
    pub(super) fn end(&self, id: &AccountId, state: OwnedMutexGuard<RenewalState>) {
        let remembers = state.failure.is_some();
        let mut by_account = self.by_account.lock();
        drop(state);
        let is_last = |state: &Arc<_>| Arc::strong_count(state) == 1;
        if !remembers && by_account.get(id).is_some_and(is_last) {
            by_account.remove(id);
        }
    }
}
