//! An engine whose runs are spread over this machine and those that lend their workers.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use futures::future::join_all;
use headwater_model::package::PackageReference;
use parking_lot::RwLock;

use super::{
    Wire,
    borrowed::Borrowed,
    places::{Host, Party, Places},
    weight::Weight,
};
use crate::api::{
    Build, BuildRequest, Engine, EngineError, EngineStatus, Invocation, PackageModules, Rejection,
    RunSink, WorkerOwner, WorkerSpec,
};

/// Runs go to the machine that their owner belongs to, and an owner moves between its runs when machines come or go.
/// Components are built on this machine alone.
pub struct SpreadEngine {
    own: Arc<dyn Engine>,
    name: String,
    weight: Weight,
    /// `None` once it is shut down.
    lent: RwLock<Option<Vec<Arc<Borrowed>>>>,
    places: Places,
}

impl SpreadEngine {
    /// One that has no other machine yet.
    pub fn of(own: Arc<dyn Engine>, name: String, weight: Weight) -> Arc<Self> {
        Arc::new(Self {
            own,
            name,
            weight,
            lent: RwLock::new(Some(Vec::new())),
            places: Places::default(),
        })
    }

    /// Adds a machine, in place of one of that name. An engine that is shut down borrows from nobody.
    pub fn borrow_from(&self, name: &str, weight: Weight, wire: Wire) {
        if let Some(lent) = &mut *self.lent.write() {
            lent.retain(|borrowed| borrowed.is_there() && borrowed.name() != name);
            lent.push(Borrowed::begin(name.to_owned(), weight, wire));
        }
    }

    /// Whether that machine lends its workers at present.
    pub fn borrows_from(&self, name: &str) -> bool {
        let lent = self.lent();
        lent.iter().any(|borrowed| borrowed.name() == name)
    }

    /// Gives up places that were not used for long, or are on machines that are to be given nothing more, and have no run.
    pub async fn tidy(&self) {
        self.places.tidy().await;
    }

    /// The machines that lend their workers.
    fn lent(&self) -> Vec<Arc<Borrowed>> {
        let lent = self.lent.read();
        let lent = lent.iter().flatten().filter(|borrowed| borrowed.is_there());
        lent.cloned().collect()
    }

    /// The machine that a party belongs to.
    fn preferred(&self, party: &Party) -> Host {
        let mut best = self.weight.score(&self.name, party);
        let mut host = Host::Own(Arc::clone(&self.own));
        let lent = self.lent.read();
        let open = lent
            .iter()
            .flatten()
            .filter(|one| one.is_there() && one.is_open());
        for borrowed in open {
            let score = borrowed.weight().score(borrowed.name(), party);
            if score > best {
                best = score;
                host = Host::Lent(Arc::clone(borrowed));
            }
        }
        host
    }

    /// The machine on which an owner has its place.
    fn host_of(&self, owner: &WorkerOwner) -> Option<Host> {
        self.places.get(&Party::of(owner))?.host()
    }
}

#[async_trait]
impl Engine for SpreadEngine {
    async fn build(&self, request: BuildRequest) -> Result<Result<Build, Rejection>, EngineError> {
        self.own.build(request).await
    }

    fn forget_registry_answers(&self) {
        self.own.forget_registry_answers();
    }

    async fn package_modules(
        &self,
        package: &PackageReference,
        owner: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        self.own.package_modules(package, owner).await
    }

    async fn invoke(
        &self,
        worker: &WorkerSpec,
        invocation: Invocation,
        sink: RunSink,
    ) -> Result<(), EngineError> {
        let party = Party::of(&worker.owner);
        loop {
            let place = self.places.of(&party);
            let preferred = self.preferred(&party);
            {
                let _open = place.gate.read().await;
                match place.settled(&worker.owner, &preferred) {
                    Some(Host::Own(own)) => return own.invoke(worker, invocation, sink).await,
                    Some(Host::Lent(lent)) => match lent.invoke(worker, &invocation, &sink).await {
                        // It is about to stop, and has not begun.
                        Err(_) if !lent.is_open() => {}
                        invoked => return invoked,
                    },
                    None => {}
                }
            }
            let _closed = place.gate.write().await;
            place.settle(preferred).await;
        }
    }

    async fn forget_tmp(&self, owner: &WorkerOwner, tmp: &str) {
        match self.host_of(owner) {
            Some(Host::Own(own)) => own.forget_tmp(owner, tmp).await,
            Some(Host::Lent(borrowed)) => borrowed.forget_tmp(owner, tmp),
            None => {}
        }
    }

    async fn release(&self, owner: &WorkerOwner) -> bool {
        match self.host_of(owner) {
            Some(host) => host.release(owner).await,
            None => true,
        }
    }

    async fn evict(&self, owner: &WorkerOwner) {
        let party = Party::of(owner);
        let Some(place) = self.places.get(&party) else {
            return;
        };
        if let Some(host) = place.host() {
            host.evict(owner).await;
        }
        self.places.forget(&party, &place, owner);
    }

    fn status(&self) -> EngineStatus {
        let mut status = self.own.status();
        for borrowed in self.lent() {
            let numbers = borrowed.numbers();
            status.warm_workers += numbers.warm;
            status.source_workers += numbers.workers;
            status.runs += borrowed.runs();
        }
        status
    }

    fn spare(&self, machine: &str, is_spared: bool) {
        let lent = self.lent();
        let named = lent.iter().filter(|borrowed| borrowed.name() == machine);
        named.for_each(|borrowed| borrowed.set_spared(is_spared));
    }

    fn places(&self) -> BTreeMap<String, usize> {
        self.places.counts(&self.name)
    }

    async fn check_writing(&self) -> Result<(), EngineError> {
        self.own.check_writing().await
    }

    async fn shutdown(&self) {
        let lent = self.lent.write().take().unwrap_or_default();
        let ended = join_all(lent.iter().map(|borrowed| borrowed.end()));
        futures::future::join(ended, self.own.shutdown()).await;
    }
}
