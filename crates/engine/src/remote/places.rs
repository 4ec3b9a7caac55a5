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
/// The time that new runs of an owner wait for those that hold it on a machine which is to be given nothing more.
const RUNS_END_WITHIN: Duration = Duration::from_secs(10);
/// The time between two looks whether they have ended.
const LOOKED_EVERY: Duration = Duration::from_millis(50);
/// The time without a run after which a place is given up.
const UNUSED_FOR: Duration = Duration::from_secs(900);

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

    /// Whether it takes new places.
    fn is_open(&self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Lent(borrowed) => borrowed.is_open(),
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
        // Files of a run of a workflow are in the `/tmp` of its deployment.
        let is_bound = matches!(owner, WorkerOwner::Step { .. }) && host.is_open();
        let is_tried = seat.stays_until.is_some_and(|until| now < until);
        if !host.is(preferred) && !is_bound && !is_tried {
            return None;
        }
        seat.used_at = Some(now);
        seat.owners.insert(owner.clone());
        Some(host)
    }

    /// Moves the party to the machine, unless one of its owners has runs where it is. From one that is to be given nothing
    /// more, it moves as soon as they have ended. The gate is closed meanwhile.
    pub(super) async fn settle(&self, preferred: Host) {
        // Another run has moved it while this one waited for the gate, and has entered its owner.
        if self.host().is_some_and(|host| host.is(&preferred)) {
            return;
        }
        let give_up_at = Instant::now() + RUNS_END_WITHIN;
        while !self.is_free_for(&preferred).await {
            let waits = self.host().is_some_and(|host| !host.is_open());
            if !waits || Instant::now() >= give_up_at {
                self.seat.lock().stays_until = Some(Instant::now() + TRIED_AGAIN_AFTER);
                return;
            }
            tokio::time::sleep(LOOKED_EVERY).await;
        }
        let mut seat = self.seat.lock();
        if seat.is_gone {
            return;
        }
        seat.owners.clear();
        seat.used_at = Some(Instant::now());
        seat.stays_until = None;
        seat.host = Some(preferred);
    }

    async fn is_free_for(&self, preferred: &Host) -> bool {
        match self.host() {
            Some(host) if !host.is(preferred) => self.leaves(&host).await,
            Some(_) | None => true,
        }
    }

    /// Takes every owner away from the machine, unless one has runs there.
    async fn leaves(&self, host: &Host) -> bool {
        let owners = self.seat.lock().owners.clone();
        for owner in &owners {
            if !host.release(owner).await {
                return false;
            }
        }
        true
    }

    /// Gives the place up if it was not used for long, or is on a machine that is to be given nothing more, and has no runs. The
    /// gate is closed meanwhile. Whether it is none any more.
    pub(super) async fn vacate(&self) -> bool {
        let Some(host) = self.host() else {
            return false;
        };
        let used_at = self.seat.lock().used_at;
        let is_unused = used_at.is_some_and(|at| at.elapsed() > UNUSED_FOR);
        if host.is_open() && !is_unused || !self.leaves(&host).await {
            return false;
        }
        let mut seat = self.seat.lock();
        seat.host = None;
        seat.is_gone = true;
        true
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
            self.remove(party, place);
        }
    }

    /// Gives up the places that are not wanted any more. One that is being given, or begins a run, is wanted.
    pub(super) async fn tidy(&self) {
        for (party, place) in self.all() {
            if let Ok(_closed) = place.gate.try_write()
                && place.vacate().await
            {
                self.remove(&party, &place);
            }
        }
    }

    fn remove(&self, party: &Party, place: &Arc<Place>) {
        let mut places = self.0.lock();
        if places
            .get(party)
            .is_some_and(|current| Arc::ptr_eq(current, place))
        {
            places.remove(party);
        }
    }

    fn all(&self) -> Vec<(Party, Arc<Place>)> {
        let places = self.0.lock();
        let places = places
            .iter()
            .map(|(party, place)| (party.clone(), Arc::clone(place)));
        places.collect()
    }

    /// The number of parties on each machine.
    pub(super) fn counts(&self, own: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for (_, place) in self.all() {
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
