//! The daily quota of invocations, if the node has one: the users that may still run today.
//!
//! An invocation takes its place when it is accepted (requests at endpoints, manual runs) or, if nobody
//! waits for an answer, when it is about to start (ticks and events, which wait until there is one).
//! Places are counted in memory; each day begins with the store's count. Hooks take places without
//! asking, so that no deployment fails half-way. An invocation over midnight may count for either day.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use headwater_model::{id::UserId, time::EpochSeconds};
use headwater_store::{Spender, StoreError, Trigger};
use parking_lot::Mutex;

use crate::{core::Core, error::PlatformError};

const DAY_S: u64 = 24 * 60 * 60;
/// The interval at which waiters for midnight look at the clock, which may be set.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// The time that runs started by events wait for dispatch that is far behind.
const DISPATCH_PAUSE: Duration = Duration::from_secs(1);
/// Events that dispatch may be behind before they wait: a second of its work.
const UNDISPATCHED_MAX: u64 = 10_000;
/// Waiting work of a source that still keeps up with its triggers.
const KEEPS_UP: usize = 16;

/// The quotas of all users.
pub(crate) struct Quotas {
    core: Arc<Core>,
    taken: TakenPlaces,
    /// Events that dispatch has not reached: as long as there are many, those that it has passed on start no runs.
    undispatched: AtomicU64,
}

/// The places that users have taken, by day.
#[derive(Default)]
struct TakenPlaces {
    by_user: Mutex<HashMap<UserId, Taken>>,
}

impl TakenPlaces {
    /// Changes the number that the user has taken on that day, if it is known.
    fn change<T>(
        &self,
        user_id: &UserId,
        day: u64,
        change: impl FnOnce(&mut u64) -> T,
    ) -> Option<T> {
        let mut by_user = self.by_user.lock();
        let taken = by_user.get_mut(user_id).filter(|taken| taken.day == day)?;
        Some(change(&mut taken.invocations))
    }

    /// Begins a user's day with the store's count, unless it has begun meanwhile.
    fn begin(&self, user_id: &UserId, day: u64, invocations: u64) {
        let mut by_user = self.by_user.lock();
        by_user.retain(|_, taken| taken.day >= day);
        by_user
            .entry(user_id.clone())
            .or_insert(Taken { day, invocations });
    }
}

#[derive(Clone, Copy)]
struct Taken {
    day: u64,
    invocations: u64,
}

impl Quotas {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            taken: TakenPlaces::default(),
            undispatched: AtomicU64::new(0),
        }
    }

    /// Notes how far dispatch is behind.
    pub(crate) fn note_undispatched(&self, events: u64) {
        self.undispatched.store(events, Ordering::Relaxed);
    }

    /// Takes one of the user's invocations of today.
    ///
    /// # Errors
    /// `QuotaExceeded` when there is none left.
    pub(crate) async fn take_invocation(&self, user_id: &UserId) -> Result<(), PlatformError> {
        let Some(quota) = self.core.config.daily_invocations_quota else {
            return Ok(());
        };
        self.read_taken(user_id).await?;
        self.admit(user_id)
            .map_err(|_| PlatformError::QuotaExceeded {
                quota,
                retry_after_s: until_midnight_s(self.core.env.now_at()),
            })
    }

    /// Gives one back that came to nothing.
    pub(crate) fn give_invocation_back(&self, user_id: &UserId) {
        let day = self.core.env.now_ms().day();
        self.taken
            .change(user_id, day, |taken| *taken = taken.saturating_sub(1));
    }

    /// Counts a hook, which runs in any case.
    pub(crate) fn count_hook(&self, user_id: &UserId) {
        let day = self.core.env.now_ms().day();
        self.taken.change(user_id, day, |taken| *taken += 1);
    }

    /// Takes one of the user's invocations of today if it is known how many are left: `read_taken` first.
    /// Otherwise says when to look again.
    pub(crate) fn admit(&self, user_id: &UserId) -> Result<(), Duration> {
        let Some(quota) = self.core.config.daily_invocations_quota else {
            return Ok(());
        };
        let now_ms = self.core.env.now_ms();
        let is_admitted = self.taken.change(user_id, now_ms.day(), |taken| {
            let is_left = *taken < quota;
            *taken += u64::from(is_left);
            is_left
        });
        match is_admitted {
            Some(true) => Ok(()),
            Some(false) => {
                Err(Duration::from_secs(until_midnight_s(now_ms.to_seconds())).min(LOOK_EVERY))
            }
            None => Err(Duration::from_secs(1)),
        }
    }

    /// The same for work of that trigger, of a source of whose work so much waits in memory.
    pub(crate) fn admit_run(
        &self,
        user_id: &UserId,
        trigger: Trigger,
        waiting: usize,
    ) -> Result<(), Duration> {
        if trigger == Trigger::Event
            && waits_for_dispatch(self.undispatched.load(Ordering::Relaxed), waiting)
        {
            return Err(DISPATCH_PAUSE);
        }
        self.admit(user_id)
    }

    /// Reads the number that the user has taken today, unless it is known.
    pub(crate) async fn read_taken(&self, user_id: &UserId) -> Result<(), StoreError> {
        let now_ms = self.core.env.now_ms();
        let day = now_ms.day();
        let is_known = self.taken.change(user_id, day, |_| ()).is_some();
        if is_known || self.core.config.daily_invocations_quota.is_none() {
            return Ok(());
        }
        let spender = Spender::User(user_id.clone());
        let usage = self.core.store.usage(&spender, now_ms, now_ms).await?;
        self.taken.begin(user_id, day, usage.invocations);
        Ok(())
    }
}

/// Whether runs that events start wait: dispatch is far behind, their emits would be more to dispatch,
/// and the log keeps all of it until then. A source that keeps up is not the cause of dispatch being
/// behind.
fn waits_for_dispatch(undispatched: u64, waiting: usize) -> bool {
    undispatched > UNDISPATCHED_MAX && waiting > KEEPS_UP
}

fn until_midnight_s(now_at: EpochSeconds) -> u64 {
    DAY_S - now_at.0 % DAY_S
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    #[test]
    fn only_sources_with_much_to_run_wait_for_dispatch_that_is_far_behind() {
        assert!(waits_for_dispatch(UNDISPATCHED_MAX + 1, KEEPS_UP + 1));
        assert!(!waits_for_dispatch(UNDISPATCHED_MAX + 1, KEEPS_UP));
        assert!(!waits_for_dispatch(UNDISPATCHED_MAX, 256));
    }

    #[test]
    fn a_day_begins_once_and_ends_with_the_next() {
        let quotas = TakenPlaces::default();
        let user = UserId::new(EpochMs(0), 1);
        let taken = |day| quotas.change(&user, day, |taken| *taken);
        assert_eq!(taken(1), None);
        quotas.begin(&user, 1, 5);
        quotas.change(&user, 1, |taken| *taken += 1);
        quotas.begin(&user, 1, 5);
        assert_eq!(taken(1), Some(6));
        assert_eq!(taken(2), None);
        quotas.begin(&user, 2, 0);
        assert_eq!((taken(1), taken(2)), (None, Some(0)));
    }

    #[test]
    fn midnight_is_the_next_one() {
        assert_eq!(until_midnight_s(EpochSeconds(0)), DAY_S);
        assert_eq!(until_midnight_s(EpochSeconds(DAY_S - 1)), 1);
        assert_eq!(until_midnight_s(EpochSeconds(5 * DAY_S + 10)), DAY_S - 10);
    }
}
