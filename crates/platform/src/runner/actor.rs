//! The task that runs one source: the order of its runs, and the consequences of their ends.
//!
//! Timer, event and manual runs are serial; HTTP runs go on at once up to the node's source
//! concurrency; hooks run whenever they are asked for, because only the lifecycle asks.

mod cancelling;
mod committing;
mod ending;
mod leaving;
mod renewal;
mod starting;

use std::{sync::Arc, time::Duration};

use headwater_model::id::SourceId;
use headwater_store::{Lease, RunnableLease};
use tokio::sync::{mpsc, oneshot};

use super::{
    command::{Closing, Command},
    commits::Commits,
    context::RunnerContext,
    flight::Flight,
    loaded::LoadedSource,
    part::RunPart,
    queue::Queue,
    renewal::Renewal,
    waiting::{WAITING_MAX, Waiting},
};
use crate::{
    actor::{Heartbeat, InFlight, LeasedUntil},
    changes::Change,
};

/// A runner without work leaves after this; its worker stays as long as the engine likes.
const IDLE_AFTER: Duration = Duration::from_secs(5);

pub(super) struct Actor {
    context: Arc<RunnerContext>,
    id: SourceId,
    commands: mpsc::UnboundedReceiver<Command>,
    /// The right to run the source, once the runner has it.
    lease: Option<RunnableLease>,
    leased_until: LeasedUntil,
    loaded: Option<Arc<LoadedSource>>,
    renewal: Renewal,
    queue: Queue,
    flight: Flight,
    commits: Commits,
    /// The worker's end, if its state is no longer true: nothing starts in it meanwhile.
    evicting: InFlight<()>,
    /// The effects of hooks that count only once the source is settled.
    deferred: Vec<RunPart>,
    paused: bool,
    pausing: Vec<oneshot::Sender<()>>,
    /// Whether the node is stopping: nothing starts any more.
    stopping: bool,
    /// Whether the props must be read again.
    stale: bool,
    closing: Option<(Closing, oneshot::Sender<()>)>,
}

impl Actor {
    pub(super) fn new(
        context: Arc<RunnerContext>,
        id: SourceId,
        commands: mpsc::UnboundedReceiver<Command>,
        waiting: Arc<Waiting>,
    ) -> Self {
        Self {
            queue: Queue::new(Arc::clone(&context), id.clone(), waiting),
            flight: Flight::new(Arc::clone(&context)),
            commits: Commits::new(Arc::clone(&context.core), id.clone()),
            stopping: context.core.stopping.is_cancelled(),
            leased_until: LeasedUntil::new(&context.core),
            context,
            id,
            commands,
            lease: None,
            loaded: None,
            renewal: Renewal::default(),
            evicting: InFlight::default(),
            deferred: Vec::new(),
            paused: false,
            pausing: Vec::new(),
            stale: false,
            closing: None,
        }
    }

    /// Runs until there has been nothing to do for a while, until closed, or until the node stops. Boxed, because a
    /// future has room for each place that its parameter is moved to.
    pub(super) async fn run(mut self: Box<Self>) {
        self.open().await;
        let mut heartbeat = Heartbeat::new(&self.context.core.env);
        let context = Arc::clone(&self.context);
        loop {
            self.advance().await;
            let stopped = self.stopping && self.is_quiet();
            if self.closing.is_some() || stopped {
                return self.leave().await;
            }
            let (idle, due) = (self.is_idle(), self.queue.due());
            let log_due = self.flight.log_due();
            tokio::select! {
                message = self.flight.next() => {
                    let ended = self.flight.on_message(message, &mut self.commits, context.core.env.now_ms());
                    ended.into_iter().for_each(|ended| self.end(ended));
                }
                claimed = self.queue.claimed() => {
                    self.queue.finish_claim(claimed, |lease| self.flight.renew(lease));
                }
                command = self.commands.recv() => match command {
                    Some(command) => self.drain_commands(command).await,
                    None => return,
                },
                () = heartbeat.beat() => self.prolong_leases().await,
                () = tokio::time::sleep(IDLE_AFTER), if idle => {
                    if self.leave_if_idle() { return; }
                }
                () = due => {}
                () = log_due => self.tell_logged(),
                () = self.evicting.ended() => {}
                () = context.core.stopping.cancelled(), if !self.stopping => self.stopping = true,
                batch = self.commits.next(), if !self.commits.is_idle() => {
                    if let Some(batch) = batch { self.committed(batch).await; }
                }
                renewed = self.renewal.next(), if !self.renewal.is_idle() => self.take_renewed(renewed).await,
            }
        }
    }

    /// Starts whatever may start now.
    async fn advance(&mut self) {
        self.queue.release_due();
        if self.paused || self.stopping {
            self.commits.hurry();
        }
        self.refresh().await;
        if let Some(loaded) = &self.loaded {
            self.commits
                .start(&loaded.source, self.context.core.env.now_ms());
        }
        if self.paused {
            if self.is_quiet() {
                for waiting in self.pausing.drain(..) {
                    let _ = waiting.send(());
                }
            }
            return;
        }
        if self.stopping {
            return;
        }
        // Nothing more starts with a version that is being loaded anew, or in a worker that is being ended.
        let is_ready = self.renewal.is_idle() && self.evicting.is_idle();
        let Some(loaded) = self.loaded.clone().filter(|_| is_ready) else {
            return;
        };
        self.know_quota(&loaded).await;
        self.start_waiting(&loaded);
        // A run that could not even be started has ended above: nothing else would commit it.
        self.commits
            .start(&loaded.source, self.context.core.env.now_ms());
        if self.queue.wants_more()
            && let Some(lease) = &self.lease
        {
            let overdue = self.overdue();
            self.queue.claim(lease, overdue);
        }
    }

    /// Nothing runs and everything is committed.
    fn is_quiet(&self) -> bool {
        let is_still = self.commits.is_idle() && self.renewal.is_idle();
        is_still && self.flight.is_empty() && !self.queue.is_claiming()
    }

    fn is_idle(&self) -> bool {
        self.is_quiet() && !self.queue.has_work() && !self.paused && self.deferred.is_empty()
    }

    /// Carries out a command, and later ones with it if it is work: a busy source handles them in one pass.
    async fn drain_commands(&mut self, first: Command) {
        let mut command = first;
        for _ in 0..WAITING_MAX {
            if !matches!(command, Command::Run(_)) {
                // Earlier work counts as begun.
                self.advance().await;
                return self.on_command(command).await;
            }
            self.on_command(command).await;
            match self.commands.try_recv() {
                Ok(next) => command = next,
                Err(_) => return,
            }
        }
        self.on_command(command).await;
    }

    async fn on_command(&mut self, command: Command) {
        match command {
            Command::Run(invocation) => self.queue.push(invocation),
            Command::Claim => self.queue.wake(),
            Command::Load(loaded) => {
                // The effects of the former version are committed under its own strategy.
                self.flush().await;
                self.renewal.forget_loading();
                self.loaded = Some(loaded);
            }
            Command::Reload(account) => self.stale |= self.is_stale_without(account.as_ref()),
            Command::Hook(call) => self.start_hook(call),
            Command::Pause(paused) => {
                self.paused = true;
                self.pausing.push(paused);
            }
            Command::Resume => self.paused = false,
            Command::Settle(settled, reply) => {
                let _ = reply.send(self.settle(settled).await);
            }
            Command::Cancel(id, found) => {
                let _ = found.send(self.cancel(&id).await);
            }
            Command::Logged(logged) => {
                let _ = logged.send(self.flight.logged());
            }
            Command::Close(closing, closed) => self.closing = Some((closing, closed)),
        }
    }

    /// Tells watchers that there is something new to be seen of runs under way.
    fn tell_logged(&mut self) {
        self.flight.log_told();
        if let Some(loaded) = &self.loaded {
            self.context.core.tell(Change::of_source(&loaded.source));
        }
    }

    /// The leases of all its invocations: waiting, running, or with results that wait for the store.
    fn leases(&self) -> Vec<Lease> {
        let running = self.flight.leases().chain(self.renewal.leases());
        let ended = running.chain(self.commits.leases());
        ended.chain(self.queue.leases()).collect()
    }

    /// The same once some of them may have run out.
    fn overdue(&self) -> Vec<Lease> {
        match self.leased_until.is_overdue(&self.context.core.env) {
            true => self.leases(),
            false => Vec::new(),
        }
    }

    async fn prolong_leases(&mut self) {
        let leases = self.leases();
        let prolonged = self.leased_until.prolong(&self.context.core, &leases);
        if let Err(error) = prolonged.await {
            tracing::warn!(source_id = %self.id, %error, "leases could not be prolonged");
        }
    }
}
