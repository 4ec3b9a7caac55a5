//! The number of workers that a tenant has, and its limit.

use std::{
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Entries kept before those of tenants without workers are removed.
const TENANTS_SWEPT_FROM: usize = 64;

/// The workers that a tenant may have.
struct Share {
    workers: Arc<Semaphore>,
    /// The number that callers wait for.
    waiting: AtomicUsize,
}

/// The right to have one worker; given back when dropped.
pub(super) struct Place {
    _permit: Option<OwnedSemaphorePermit>,
    /// Kept so that a tenant's share stays known while it has a worker.
    _share: Arc<Share>,
}

/// The shares of all tenants.
pub(super) struct Shares {
    workers_max: usize,
    by_tenant: Mutex<HashMap<Arc<str>, Weak<Share>>>,
}

/// Counts a caller that waits for so many workers until it stops waiting, for whatever reason.
struct Waiting<'a>(&'a Share, usize);

impl<'a> Waiting<'a> {
    fn of(share: &'a Share, workers: usize) -> Self {
        share.waiting.fetch_add(workers, Ordering::SeqCst);
        Self(share, workers)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(self.1, Ordering::SeqCst);
    }
}

impl Shares {
    /// A limit of workers per tenant.
    pub(super) fn new(workers_max: usize) -> Self {
        Self {
            workers_max: workers_max.clamp(1, Semaphore::MAX_PERMITS),
            by_tenant: Mutex::default(),
        }
    }

    /// A place for one more worker of the tenant, which counts as so many. `make_room` is called when there is none, once
    /// for each of these.
    pub(super) async fn take(&self, tenant: &Arc<str>, size: u32, make_room: impl Fn()) -> Place {
        let share = self.share(tenant);
        // One that counts as more than there may be is the tenant's only one.
        let most = u32::try_from(self.workers_max).unwrap_or(u32::MAX);
        let size = size.clamp(1, most);
        let workers = Arc::clone(&share.workers);
        let permit = match Arc::clone(&workers).try_acquire_many_owned(size) {
            Ok(permit) => Some(permit),
            Err(_) => {
                let _waiting = Waiting::of(&share, size as usize);
                (0..size).for_each(|_| make_room());
                workers.acquire_many_owned(size).await.ok()
            }
        };
        Place {
            _permit: permit,
            _share: share,
        }
    }

    /// Tenants with waiting callers, and the number of workers that these wait for.
    pub(super) fn waiting(&self) -> Vec<(Arc<str>, usize)> {
        let by_tenant = self.by_tenant.lock();
        let waiting = by_tenant.iter().filter_map(|(tenant, share)| {
            let count = share.upgrade()?.waiting.load(Ordering::SeqCst);
            (count > 0).then(|| (Arc::clone(tenant), count))
        });
        waiting.collect()
    }

    fn share(&self, tenant: &Arc<str>) -> Arc<Share> {
        let mut by_tenant = self.by_tenant.lock();
        if let Some(share) = by_tenant.get(tenant).and_then(Weak::upgrade) {
            return share;
        }
        if by_tenant.len() >= TENANTS_SWEPT_FROM {
            by_tenant.retain(|_, share| share.strong_count() > 0);
        }
        let share = Arc::new(Share {
            workers: Arc::new(Semaphore::new(self.workers_max)),
            waiting: AtomicUsize::new(0),
        });
        by_tenant.insert(Arc::clone(tenant), Arc::downgrade(&share));
        share
    }
}
