//! The office of a node: whether it leads or follows, and the change from one to the other.
//!
//! ```text
//!            nobody leads, and this node may
//!  follows ─────────────────────────────────► leads
//!     ▲                                         │
//!     └─────────────────────────────────────────┘
//!        drained, or silent for so long that another one took over
//! ```

use std::{io::ErrorKind, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use headwater_engine::{Engine, remote::SpreadEngine};
use headwater_store::StoreError;
use headwater_store_postgres::{Joined, Leader, PostgresStore};
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{Instant, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use super::{
    super::{
        node, ready, receiving, running::Running, setup::Setup, stop_signals::StopSignals,
        store::NodeStore, systemd,
    },
    borrowing::{self, Borrower},
    connecting::Connecting,
    door::{Door, Followed, Part},
    lending::Lending,
    membership::Itself,
    secret::ClusterSecret,
};

/// The time between two looks at who leads.
const LOOKED_EVERY: Duration = Duration::from_millis(500);
/// The time for which a node that failed to take over leaves that to others: twice as long after each failure.
const WITHDRAWN_FOR: Duration = Duration::from_secs(4);
const WITHDRAWN_FOR_MAX: Duration = Duration::from_secs(64);
/// The time in which a machine answers.
const REACHED_WITHIN: Duration = Duration::from_secs(1);
/// The time for which a node that lives cannot be reached, after which this one takes no requests for it: longer than a
/// take-over.
const UNREACHED_FOR: Duration = Duration::from_secs(8);

/// The office of this node.
pub(super) struct Office<'a> {
    setup: &'a Setup<'a>,
    store: NodeStore,
    database: Arc<PostgresStore>,
    door: Door,
    secret: ClusterSecret,
    connecting: Connecting,
    lending: Arc<Lending>,
    itself: Arc<Itself>,
    seen: watch::Receiver<Joined>,
    /// Whether somebody was told that the node is ready.
    is_ready: bool,
    /// The moment at which the node that is followed was reached last.
    reached_at: Instant,
    /// The node that was told of last.
    told: Option<Leader>,
    /// The time for which it withdraws if it fails to take over.
    withdraws_for: Duration,
}

/// All that an office is made of.
pub(super) struct Parts {
    pub(super) store: NodeStore,
    pub(super) database: Arc<PostgresStore>,
    pub(super) door: Door,
    pub(super) secret: ClusterSecret,
    pub(super) connecting: Connecting,
    pub(super) lending: Arc<Lending>,
    pub(super) itself: Arc<Itself>,
}

/// The part of a node that is told to stop.
pub(super) enum Stopped {
    /// It leads, and this is the work to be ended.
    Leading(Running),
    Following,
}

/// The end of a term.
enum End {
    Signal,
    Replaced,
    Drained,
}

impl<'a> Office<'a> {
    pub(super) fn new(setup: &'a Setup<'a>, parts: Parts) -> Self {
        Self {
            setup,
            store: parts.store,
            database: parts.database,
            door: parts.door,
            secret: parts.secret,
            connecting: parts.connecting,
            lending: parts.lending,
            seen: parts.itself.seen(),
            itself: parts.itself,
            is_ready: false,
            reached_at: Instant::now(),
            told: None,
            withdraws_for: WITHDRAWN_FOR,
        }
    }

    /// Leads and follows until a signal.
    ///
    /// # Errors
    /// The first term could not begin.
    pub(super) async fn run(&mut self, signals: &mut StopSignals) -> Result<Stopped> {
        loop {
            match self.database.leader().await {
                Ok(Some(leader)) if leader.name != self.store.node => self.follow(leader).await?,
                Ok(_) if self.may_lead() => {
                    if let Some(stopped) = self.term(signals).await? {
                        return Ok(stopped);
                    }
                }
                Ok(_) => self.door.set(Part::Waits),
                // The node that led goes on as far as it can.
                Err(error) => {
                    tracing::warn!(error = error.in_full(), "cannot look who leads");
                    self.reached_at = Instant::now();
                }
            }
            tokio::select! {
                () = signals.first() => return Ok(Stopped::Following),
                () = tokio::time::sleep(LOOKED_EVERY) => {}
            }
        }
    }

    /// A node that drains leads only if nobody else could; one that failed tries again after a time.
    fn may_lead(&self) -> bool {
        let seen = *self.seen.borrow();
        let leaves_it = seen.is_draining && seen.has_successor;
        !leaves_it && !self.itself.is_withdrawn()
    }

    async fn follow(&mut self, leader: Leader) -> Result<()> {
        let address = leader
            .address
            .as_ref()
            .and_then(|address| address.parse().ok());
        let Some(address) = address else {
            self.tell(
                &leader,
                "has the database and is no member of a cluster; standing by until it has stopped",
            );
            systemd::ready();
            self.door.set(Part::Waits);
            return Ok(());
        };
        let followed = Followed {
            name: leader.name.clone(),
            address,
        };
        if self.door.followed().as_ref() != Some(&followed) {
            if !self.has_its_secret().await? {
                return Ok(());
            }
            self.reached_at = Instant::now();
            self.door.set(Part::Follows(followed.clone()));
        }
        self.tell(&leader, "leads; this node passes requests on to it");
        self.be_ready()?;
        self.reach(&leader, followed.address.authority()).await;
        Ok(())
    }

    /// Whether this node is known to have the secret of the cluster: `false` while the database cannot be asked.
    ///
    /// # Errors
    /// It has another one.
    async fn has_its_secret(&self) -> Result<bool> {
        let Some(keys) = self.store.cluster_keys() else {
            return Ok(true);
        };
        let Err(error) = keys.check_mark(&self.store.node).await else {
            return Ok(true);
        };
        match error.downcast_ref::<StoreError>() {
            Some(StoreError::Unavailable { .. }) => {
                tracing::warn!("cannot look whether the secret is the cluster's: {error:#}");
                Ok(false)
            }
            Some(_) | None => Err(error),
        }
    }

    /// Looks whether the node that leads can be reached, and is gone if nobody listens there.
    async fn reach(&mut self, leader: &Leader, authority: &str) {
        let reach = Reach::of(authority).await;
        if reach == Reach::Open {
            self.reached_at = Instant::now();
        }
        self.door
            .set_cut_off(self.reached_at.elapsed() > UNREACHED_FOR);
        if reach != Reach::Refused {
            return;
        }
        let notes = self.setup.notes;
        match self.database.give_up(leader.epoch).await {
            Ok(true) => notes.note(&format!("the node {} is gone", leader.name.as_str())),
            Ok(false) => {}
            Err(error) => tracing::warn!(
                error = error.in_full(),
                "cannot declare the node that led dead"
            ),
        }
    }

    /// Leads until the term ends. `Some`: by a signal.
    async fn term(&mut self, signals: &mut StopSignals) -> Result<Option<Stopped>> {
        self.door.set(Part::Waits);
        let running = match self.begin().await {
            Ok(Some(running)) => running,
            Ok(None) => return Ok(None),
            Err(error) if self.is_ready => {
                tracing::error!("cannot take over: {error:#}");
                self.itself.withdraw(self.withdraws_for).await;
                self.withdraws_for = WITHDRAWN_FOR_MAX.min(self.withdraws_for * 2);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let (running, engine) = running;
        let borrower = Borrower {
            engine,
            database: Arc::clone(&self.database),
            secret: self.secret.clone(),
            connecting: self.connecting.clone(),
            name: self.store.node.clone(),
        };
        let borrowing = AbortOnDropHandle::new(tokio::spawn(borrower.run()));
        self.door.set(Part::Leads(running.router(), running.over()));
        self.told = None;
        self.withdraws_for = WITHDRAWN_FOR;
        let name = self.store.node.as_str();
        self.setup.notes.note(&format!("this node ({name}) leads"));
        if let Err(error) = self.be_ready() {
            let notes = self.setup.notes;
            let grace = node::handover_grace(&self.setup.options);
            running.stop(notes, grace, std::future::pending()).await;
            return Err(error);
        }
        let end = tokio::select! {
            () = signals.first() => End::Signal,
            () = running.replaced() => End::Replaced,
            () = drained(&mut self.seen) => End::Drained,
        };
        // Workers are borrowed for the term alone.
        drop(borrowing);
        match end {
            End::Signal => Ok(Some(Stopped::Leading(running))),
            End::Replaced => {
                self.door.set(Part::Waits);
                self.setup.notes.note(
                    "this node was silent for too long, so that another one may have its work; it follows from now on",
                );
                running.abandon().await;
                Ok(None)
            }
            End::Drained => Ok(self.drain(running, signals).await),
        }
    }

    /// Gives the work up; a signal meanwhile ends the node, too.
    async fn drain(&self, running: Running, signals: &mut StopSignals) -> Option<Stopped> {
        self.door.set(Part::Waits);
        let notes = self.setup.notes;
        let grace = node::handover_grace(&self.setup.options);
        notes.note(&format!(
            "drained: runs have up to {} s to end, then another node takes over",
            grace.as_millis().div_ceil(1_000)
        ));
        let mut is_stopped = false;
        let hurry = async {
            signals.first().await;
            is_stopped = true;
        };
        running.stop(notes, grace, hurry).await.close().await;
        is_stopped.then_some(Stopped::Following)
    }

    async fn begin(&self) -> Result<Option<(Running, Arc<SpreadEngine>)>> {
        if !self.store.prepare().await? {
            return Ok(None);
        }
        if let Some(keys) = self.store.cluster_keys() {
            keys.leave_mark(&self.store.node).await?;
        }
        // A node that leads is known to the others before it is ready.
        self.itself.tell().await?;
        let mail = receiving::bind(&self.setup.options).await;
        let mail = mail.unwrap_or_else(|error| {
            tracing::error!("no mail is taken: {error:#}");
            None
        });
        // Its own term has an engine of its own, in the same folders.
        self.lending.end(Duration::ZERO).await;
        let name = self.store.node.as_str().to_owned();
        let mut spread = None;
        let spreading = |engine| -> Arc<dyn Engine> {
            let engine = SpreadEngine::of(engine, name, borrowing::own_weight().halved());
            spread.insert(engine).clone()
        };
        let started = Running::start(self.setup, self.store.clone(), mail, spreading).await;
        Ok(started.context("cannot lead")?.zip(spread))
    }

    fn be_ready(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.is_ready, true) {
            true => Ok(()),
            false => ready::tell(self.setup),
        }
    }

    fn tell(&mut self, leader: &Leader, text: &str) {
        if self.told.as_ref() != Some(leader) {
            self.told = Some(leader.clone());
            let name = leader.name.as_str();
            self.setup.notes.note(&format!("the node {name} {text}"));
        }
    }
}

/// The way to another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Open,
    /// Its machine says that nobody listens.
    Refused,
    Unknown,
}

impl Reach {
    async fn of(authority: &str) -> Self {
        match timeout(REACHED_WITHIN, TcpStream::connect(authority)).await {
            Ok(Ok(_)) => Self::Open,
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => Self::Refused,
            Ok(Err(_)) | Err(_) => Self::Unknown,
        }
    }
}

/// Waits until this node is to give up its work, and another one may take it over.
async fn drained(seen: &mut watch::Receiver<Joined>) {
    let is_drained = |seen: &Joined| seen.is_draining && seen.has_successor;
    if seen.wait_for(is_drained).await.is_err() {
        std::future::pending().await
    }
}
