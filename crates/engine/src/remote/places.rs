//! The machine on which each owner has its place.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use headwater_model::id::{DeploymentId, InvocationId, SourceId};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::borrowed::Borrowed;
use crate::api::{Engine, WorkerOwner};

/// The time after which an owner that could not be moved is tried again.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// The time without a run after which the steps of a deployment may move: files of a run in `/tmp` stay behind. As long as
/// a worker without runs lives.
const STEPS_REST: Duration = Duration::from_secs(300);

/// All that has its place on one machine together: the steps of a deployment share their `/tmp`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Party {
    Source(SourceId),
    Call(InvocationId),
    Deployment(DeploymentId),
}

impl Party {
    pub(super) fn of(owner: &WorkerOwner) -> Self {
        match owner {
            WorkerOwner::Source(id) => Self::Source(id.clone()),
            WorkerOwner::Call(id) => Self::Call(id.clone()),
            WorkerOwner::Step { deployment, .. } => Self::Deployment(deployment.clone()),
        }
    }
}

/// A machine.
#[derive(Clone)]
pub(super) enum Host {
    Own(Arc<dyn Engine>),
    Lent(Arc<Borrowed>),
}

impl Host {
    pub(super) fn is_there(&self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Lent(borrowed) => borrowed.is_there(),
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own(_), Self::Own(_)) => true,
            (Self::Lent(one), Self::Lent(other)) => Arc::ptr_eq(one, other),
            (Self::Own(_), Self::Lent(_)) | (Self::Lent(_), Self::Own(_)) => false,
        }
    }

    pub(super) async fn release(&self, owner: &WorkerOwner) -> bool {
        match self {
            Self::Own(engine) => engine.release(owner).await,
            Self::Lent(borrowed) => borrowed.release(owner).await,
        }
    }

    pub(super) async fn evict(&self, owner: &WorkerOwner) {
        match self {
            Self::Own(engine) => engine.evict(owner).await,
            Self::Lent(borrowed) => borrowed.evict(owner).await,
        }
    }
}

/// The place of a party. Whoever begins a run holds the gate open; whoever moves the party closes it.
#[derive(Default)]
pub(super) struct Place {
    pub(super) gate: tokio::sync::RwLock<()>,
    seat: Mutex<Seat>,
}

#[derive(Default)]
struct Seat {
    host: Option<Host>,
    owners: HashSet<WorkerOwner>,
    used_at: Option<Instant>,
    stays_until: Option<Instant>,
    /// Whether it has left the list of places.
    is_gone: bool,
}

impl Place {
    /// The machine, if it is there.
    pub(super) fn host(&self) -> Option<Host> {
        let seat = self.seat.lock();
        seat.host.clone().filter(Host::is_there)
    }

    /// The machine for a run of the owner, if the party need not move before.
    pub(super) fn settled(&self, owner: &WorkerOwner, preferred: &Host) -> Option<Host> {
        let mut seat = self.seat.lock();
        let host = seat.host.clone().filter(Host::is_there)?;
        if seat.is_gone {
            return None;
        }
        let now = Instant::now();
        let within = |since: Option<Instant>| since.is_some_and(|at| now < at + STEPS_REST);
        let is_bound = seat.stays_until.is_some_and(|until| now < until)
            || matches!(owner, WorkerOwner::Step { .. }) && within(seat.used_at);
        if !host.is(preferred) && !is_bound {
            return None;
        }
        seat.used_at = Some(now);
        seat.owners.insert(owner.clone());
        Some(host)
    }

    /// Moves the party to the machine, unless one of its owners has runs where it is. The gate is closed meanwhile.
    pub(super) async fn settle(&self, preferred: Host) {
        let (host, owners) = {
            let seat = self.seat.lock();
            (
                seat.host.clone().filter(Host::is_there),
                seat.owners.clone(),
            )
        };
        if let Some(host) = host.filter(|host| !host.is(&preferred)) {
            for owner in &owners {
                if !host.release(owner).await {
                    self.seat.lock().stays_until = Some(Instant::now() + TRIED_AGAIN_AFTER);
                    return;
                }
            }
        }
        let mut seat = self.seat.lock();
        seat.owners.clear();
        seat.used_at = None;
        seat.stays_until = None;
        seat.host = Some(preferred);
    }

    /// Moves the party away from a machine that is to be given nothing more, unless one of its owners has runs there. The
    /// gate is closed meanwhile.
    pub(super) async fn vacate(&self) {
        let (host, owners) = {
            let seat = self.seat.lock();
            (seat.host.clone(), seat.owners.clone())
        };
        let Some(Host::Lent(lent)) = host.filter(Host::is_there) else {
            return;
        };
        if lent.is_open() {
            return;
        }
        for owner in &owners {
            if !lent.release(owner).await {
                return;
            }
        }
        self.seat.lock().host = None;
    }

    /// Takes an owner out. Whether it was the last one, so that the place is none any more.
    fn leave(&self, owner: &WorkerOwner) -> bool {
        let mut seat = self.seat.lock();
        seat.owners.remove(owner);
        seat.is_gone = seat.owners.is_empty();
        seat.is_gone
    }
}

/// The places of all.
#[derive(Default)]
pub(super) struct Places(Mutex<HashMap<Party, Arc<Place>>>);

impl Places {
    /// The place of a party, which is new if it has none.
    pub(super) fn of(&self, party: &Party) -> Arc<Place> {
        let mut places = self.0.lock();
        Arc::clone(places.entry(party.clone()).or_default())
    }

    /// The place of a party, if it has one.
    pub(super) fn get(&self, party: &Party) -> Option<Arc<Place>> {
        self.0.lock().get(party).cloned()
    }

    /// Takes an owner out that was evicted, unless it is being given a place again.
    pub(super) fn forget(&self, party: &Party, place: &Arc<Place>, owner: &WorkerOwner) {
        let Ok(_closed) = place.gate.try_write() else {
            return;
        };
        if place.leave(owner) {
            self.0.lock().remove(party);
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Place>> {
        self.0.lock().values().cloned().collect()
    }

    /// The number of parties on each machine.
    pub(super) fn counts(&self, own: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for place in self.all() {
            let name = match place.host() {
                Some(Host::Own(_)) => own.to_owned(),
                Some(Host::Lent(borrowed)) => borrowed.name().to_owned(),
                None => continue,
            };
            *counts.entry(name).or_default() += 1;
        }
        counts
    }
}
