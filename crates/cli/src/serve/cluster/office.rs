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
use headwater_store_postgres::{Joined, Leader, PostgresStore};
use tokio::{net::TcpStream, sync::watch, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use super::{
    super::{
        ready, receiving, running::Running, setup::Setup, stop_signals::StopSignals,
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
/// The time in which a machine says that nobody listens.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);

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
                Err(error) => tracing::warn!(error = error.in_full(), "cannot look who leads"),
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
            if let Some(keys) = self.store.cluster_keys() {
                keys.check_mark(&self.store.node).await?;
            }
            self.door.set(Part::Follows(followed.clone()));
        }
        self.tell(&leader, "leads; this node passes requests on to it");
        self.be_ready()?;
        if is_refused(followed.address.authority()).await {
            match self.database.give_up(leader.epoch).await {
                Ok(true) => self
                    .setup
                    .notes
                    .note(&format!("the node {} is gone", leader.name.as_str())),
                Ok(false) => {}
                Err(error) => tracing::warn!(
                    error = error.in_full(),
                    "cannot declare the node that led dead"
                ),
            }
        }
        Ok(())
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
            running.stop(notes, std::future::pending()).await;
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
        notes.note(
            "drained: runs have the time of --shutdown-grace to end, then another node takes over",
        );
        let mut is_stopped = false;
        let hurry = async {
            signals.first().await;
            is_stopped = true;
        };
        running.stop(notes, hurry).await.close().await;
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

/// Whether a machine says that nobody listens at the address.
async fn is_refused(authority: &str) -> bool {
    let connected = timeout(REFUSED_WITHIN, TcpStream::connect(authority)).await;
    matches!(connected, Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused)
}

/// Waits until this node is to give up its work, and another one may take it over.
async fn drained(seen: &mut watch::Receiver<Joined>) {
    let is_drained = |seen: &Joined| seen.is_draining && seen.has_successor;
    if seen.wait_for(is_drained).await.is_err() {
        std::future::pending().await
    }
}
