//! The limits of attempts in flight: per host and on the whole node.
//!
//! Responsible for permits and their fairness. Not for the limit of one webhook, which its courier
//! keeps by itself, nor for which webhooks are unwell: those that fail or are slow.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use crate::error::PlatformError;

/// Hosts remembered before those that nobody uses any more are looked for.
const HOSTS_SWEPT_FROM: usize = 64;

/// A number of attempts, of which those to unwell webhooks may have three quarters: however many of them
/// hang, the others go on.
struct Share {
    all: Arc<Semaphore>,
    unwell: Arc<Semaphore>,
}

type Permits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl Share {
    fn new(attempts: usize) -> Self {
        let attempts = attempts.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(attempts)),
            unwell: Arc::new(Semaphore::new((attempts - attempts / 4).max(1))),
        }
    }

    fn try_acquire(&self, unwell: bool) -> Result<Permits, TryAcquireError> {
        let share = match unwell {
            true => Some(Arc::clone(&self.unwell).try_acquire_owned()?),
            false => None,
        };
        Ok((Arc::clone(&self.all).try_acquire_owned()?, share))
    }

    async fn acquire(&self, unwell: bool) -> Option<Permits> {
        let share = match unwell {
            true => Some(Arc::clone(&self.unwell).acquire_owned().await.ok()?),
            false => None,
        };
        Some((Arc::clone(&self.all).acquire_owned().await.ok()?, share))
    }
}

/// The right to have one attempt in flight; given back when dropped.
pub(super) struct Permit {
    host: Permits,
    node: Permits,
    /// As long as an attempt is in flight, its host is known, and its limit the same.
    gate: Gate,
}

impl Permit {
    /// Whether it is one for an unwell webhook.
    pub(super) fn is_of_unwell(&self) -> bool {
        self.node.1.is_some()
    }

    /// Counts the attempt among those to unwell webhooks. `false`: they have no room.
    pub(super) fn count_as_unwell(&mut self) -> bool {
        let room = |share: &Share| Arc::clone(&share.unwell).try_acquire_owned().ok();
        let (host, node) = (room(&self.gate.host), room(&self.gate.limits.node));
        let has_room = host.is_some() && node.is_some();
        if has_room {
            (self.host.1, self.node.1) = (host, node);
        }
        has_room
    }
}

/// The limits of the node.
pub(super) struct Limits {
    node: Share,
    attempts: usize,
    attempts_per_host: usize,
    hosts: Mutex<Hosts>,
}

struct Hosts {
    by_name: HashMap<String, Weak<Share>>,
    swept_at: usize,
}

/// The way to permits for one host.
#[derive(Clone)]
pub(super) struct Gate {
    limits: Arc<Limits>,
    host: Arc<Share>,
}

impl Limits {
    pub(super) fn new(attempts: usize, attempts_per_host: usize) -> Self {
        Self {
            node: Share::new(attempts),
            attempts: attempts.max(1),
            attempts_per_host,
            hosts: Mutex::new(Hosts {
                by_name: HashMap::new(),
                swept_at: HOSTS_SWEPT_FROM,
            }),
        }
    }

    /// The number of attempts in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.attempts - self.node.all.available_permits().min(self.attempts)
    }

    /// The way to attempts at this host.
    pub(super) fn gate(self: &Arc<Self>, host: &str) -> Gate {
        let mut hosts = self.hosts.lock();
        let known = hosts.by_name.get(host).and_then(Weak::upgrade);
        let share = known.unwrap_or_else(|| {
            if hosts.by_name.len() >= hosts.swept_at {
                hosts.by_name.retain(|_, share| share.strong_count() > 0);
                hosts.swept_at = (hosts.by_name.len() * 2).max(HOSTS_SWEPT_FROM);
            }
            let share = Arc::new(Share::new(self.attempts_per_host));
            hosts
                .by_name
                .insert(host.to_owned(), Arc::downgrade(&share));
            share
        });
        Gate {
            limits: Arc::clone(self),
            host: share,
        }
    }
}

impl Gate {
    /// Whether both lead to the same host.
    pub(super) fn is_of_same_host(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.host, &other.host)
    }

    /// A permit, if there is one at once.
    pub(super) fn try_acquire(&self, unwell: bool) -> Option<Permit> {
        Some(Permit {
            host: self.host.try_acquire(unwell).ok()?,
            node: self.limits.node.try_acquire(unwell).ok()?,
            gate: self.clone(),
        })
    }

    /// A permit for an attempt that somebody waits for. It takes the room of those that fail, because it may be made to find
    /// out why they do.
    ///
    /// # Errors
    /// `Conflict` if there is none at once.
    pub(super) fn acquire_at_once(&self) -> Result<Permit, PlatformError> {
        self.try_acquire(true).ok_or_else(|| {
            let full = "as many attempts as may be under way at once wait for this host; try again in a moment";
            PlatformError::Conflict(full.to_owned())
        })
    }

    /// A permit, in turn. The host's comes first: waiting for it takes nothing from other hosts.
    pub(super) async fn acquire(&self, unwell: bool) -> Option<Permit> {
        Some(Permit {
            host: self.host.acquire(unwell).await?,
            node: self.limits.node.acquire(unwell).await?,
            gate: self.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(gate: &Gate, unwell: bool) -> Vec<Permit> {
        std::iter::from_fn(|| gate.try_acquire(unwell)).collect()
    }

    #[test]
    fn a_full_host_leaves_other_hosts_their_room() {
        let limits = Arc::new(Limits::new(100, 8));
        let full = fill(&limits.gate("one"), false);
        assert_eq!(full.len(), 8);
        assert!(limits.gate("one").try_acquire(false).is_none());
        assert!(limits.gate("other").try_acquire(false).is_some());
        drop(full);
        assert!(limits.gate("one").try_acquire(false).is_some());
    }

    #[test]
    fn unwell_webhooks_fill_neither_host_nor_node() {
        let limits = Arc::new(Limits::new(16, 8));
        let gates: Vec<Gate> = ["a", "b", "c"].map(|host| limits.gate(host)).into();
        let unwell: Vec<Permit> = gates.iter().flat_map(|gate| fill(gate, true)).collect();
        assert_eq!(unwell.len(), 12, "three quarters of the node");
        assert_eq!(fill(&gates[0], false).len(), 2, "what is left of the host");
        assert_eq!(fill(&gates[2], false).len(), 4, "what is left of the node");
    }

    #[test]
    fn attempts_that_become_slow_leave_room_to_the_others() {
        let limits = Arc::new(Limits::new(16, 8));
        let gates: Vec<Gate> = ["a", "b"].map(|host| limits.gate(host)).into();
        let mut full: Vec<Permit> = gates.iter().flat_map(|gate| fill(gate, false)).collect();
        assert!(limits.gate("c").try_acquire(false).is_none());
        // The attempts that have no room among the slow ones are ended.
        full.retain_mut(Permit::count_as_unwell);
        assert_eq!(full.len(), 12);
        assert!(full.iter().all(Permit::is_of_unwell));
        assert!(limits.gate("c").try_acquire(true).is_none());
        assert_eq!(fill(&limits.gate("c"), false).len(), 4);
    }

    #[tokio::test]
    async fn who_waits_for_a_host_holds_nothing_of_the_node() {
        let limits = Arc::new(Limits::new(9, 8));
        let gate = limits.gate("one");
        let mut full = fill(&gate, false);
        let mut waiting = Box::pin(gate.acquire(false));
        assert!(futures::poll!(&mut waiting).is_pending());
        let other = limits.gate("other").try_acquire(false);
        assert!(other.is_some(), "the node's ninth is free");
        full.pop();
        drop(other);
        assert!(waiting.await.is_some());
    }

    #[test]
    fn hosts_that_nobody_uses_are_forgotten() {
        let limits = Arc::new(Limits::new(8, 8));
        let kept = limits.gate("kept");
        for number in 0..10_000 {
            limits.gate(&number.to_string());
        }
        assert!(limits.hosts.lock().by_name.len() <= HOSTS_SWEPT_FROM + 1);
        let full = fill(&kept, false);
        assert!(limits.gate("kept").try_acquire(false).is_none());
        drop(full);
    }

    #[test]
    fn a_limit_of_nothing_still_lets_one_through() {
        let limits = Arc::new(Limits::new(0, 0));
        let gate = limits.gate("one");
        assert!(gate.try_acquire(true).is_some());
        assert!(gate.try_acquire(false).is_some());
    }
}
