//! The task that runs one source: which run starts when, and what its end means.
//!
//! Timer, event and manual runs are serial; HTTP runs go on at once up to the node's source
//! concurrency; hooks run whenever they are asked for, because only the lifecycle asks.

mod renewal;

use std::{sync::Arc, time::Duration};

use headwater_engine::{Entry, Invocation};
use headwater_model::{
    dedupe,
    id::{InvocationId, SourceId},
    origin::Origin,
    outcome::Outcome,
};
use headwater_store::{Lease, SettledSource, Source};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::{
    command::{Closing, Command},
    commits::{Batch, Commits},
    context::RunnerContext,
    flight::{Ended, Flight},
    hook::{HookCall, HookEnded},
    journal,
    loaded::{LoadedSource, configuration_error},
    queue::Queue,
    renewal::Renewal,
    run::{After, CustomResponse, Part, Reply, Task, Work},
    waiting::{WAITING_MAX, Waiting},
};
use crate::{actor::Heartbeat, chore::Chore, error::PlatformError};

/// A runner without work leaves after this; its worker stays as long as the engine likes.
const IDLE_AFTER: Duration = Duration::from_secs(5);

pub(super) struct Actor {
    context: Arc<RunnerContext>,
    id: SourceId,
    commands: mpsc::UnboundedReceiver<Command>,
    loaded: Option<Arc<LoadedSource>>,
    renewal: Renewal,
    queue: Queue,
    flight: Flight,
    commits: Commits,
    /// What hooks did that counts only once the source is settled.
    held: Vec<Part>,
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
            context,
            id,
            commands,
            loaded: None,
            renewal: Renewal::default(),
            held: Vec::new(),
            paused: false,
            pausing: Vec::new(),
            stale: false,
            closing: None,
        }
    }

    /// Runs until there has been nothing to do for a while, until closed, or until the node stops.
    pub(super) async fn run(mut self) {
        self.read_ledger(Commits::reset).await;
        let mut heartbeat = Heartbeat::new(&self.context.core.env);
        let context = Arc::clone(&self.context);
        loop {
            self.advance().await;
            let stopped = self.stopping && self.is_quiet();
            if self.closing.is_some() || stopped {
                return self.leave().await;
            }
            let (idle, due) = (self.is_idle(), self.queue.due());
            tokio::select! {
                said = self.flight.next() => {
                    let ended = self.flight.hear(said, &mut self.commits, context.core.env.now_ms());
                    ended.into_iter().for_each(|ended| self.end(ended));
                }
                claimed = self.queue.claimed() => {
                    self.queue.finish_claim(claimed, |lease| self.flight.renew(lease));
                }
                command = self.commands.recv() => match command {
                    Some(command) => self.take_in(command).await,
                    None => return,
                },
                () = heartbeat.beat() => self.prolong_leases().await,
                () = tokio::time::sleep(IDLE_AFTER), if idle => {
                    if self.leave_if_idle().await { return; }
                }
                () = due => {}
                () = context.core.stopping.cancelled(), if !self.stopping => self.stopping = true,
                batch = self.commits.next(), if !self.commits.is_idle() => self.committed(batch).await,
                renewed = self.renewal.next(), if !self.renewal.is_idle() => self.take_renewed(renewed).await,
            }
        }
    }

    /// Starts whatever may start now.
    async fn advance(&mut self) {
        self.queue.release_due();
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
        // With what is loaded nothing more starts that is being loaded anew.
        let Some(loaded) = self.loaded.clone().filter(|_| self.renewal.is_idle()) else {
            return;
        };
        self.know_quota(&loaded).await;
        self.start_waiting(&loaded);
        // A run that could not even be started has ended above: nothing else would commit it.
        self.commits
            .start(&loaded.source, self.context.core.env.now_ms());
        self.queue.claim();
    }

    /// Starts what may run now. What lost a worker before runs alone, so that no other run pays for it.
    fn start_waiting(&mut self, loaded: &LoadedSource) {
        if self.flight.has_suspect() {
            return;
        }
        if self.queue.suspect_waits() {
            if self.flight.is_empty()
                && let Some(work) = self.queue.take_suspect()
            {
                self.start(loaded, work);
            }
            return;
        }
        let user_id = &loaded.source.owner.user_id;
        while self.flight.serial() == 0
            && let Some(work) = self
                .queue
                .next_serial(|of, waiting| self.context.quotas.admit_run(user_id, of, waiting))
        {
            self.start(loaded, work);
        }
        while self.flight.http() < self.context.core.config.source_concurrency
            && let Some(work) = self.queue.next_concurrent()
        {
            self.start(loaded, work);
        }
    }

    /// Lets ticks and events ask for a place in the quota of the source's user.
    async fn know_quota(&mut self, loaded: &LoadedSource) {
        if self.queue.awaits_admission()
            && let Err(error) = self
                .context
                .quotas
                .read_taken(&loaded.source.owner.user_id)
                .await
        {
            tracing::warn!(source = %self.id, %error, "what is left of a quota is not known");
        }
    }

    /// Nothing runs and everything is committed.
    fn is_quiet(&self) -> bool {
        let is_still = self.commits.is_idle() && self.renewal.is_idle();
        is_still && self.flight.is_empty() && !self.queue.is_claiming()
    }

    fn is_idle(&self) -> bool {
        self.is_quiet() && !self.queue.has_work() && !self.paused && self.held.is_empty()
    }

    async fn read_ledger(&mut self, go_on: fn(&mut Commits, Option<dedupe::State>)) {
        match self.context.core.store.dedupe_state(&self.id).await {
            Ok(state) => go_on(&mut self.commits, state),
            Err(error) => {
                tracing::error!(source_id = %self.id, %error, "the dedupe state cannot be read");
                self.closing = Some((Closing::Restarted, oneshot::channel().0));
            }
        }
    }

    /// Obeys, together with what has come since if it is work: a busy source takes it in at one turn.
    async fn take_in(&mut self, first: Command) {
        let mut command = first;
        for _ in 0..WAITING_MAX {
            if !matches!(command, Command::Work(_)) {
                // What came before counts as begun.
                self.advance().await;
                return self.obey(command).await;
            }
            self.obey(command).await;
            match self.commands.try_recv() {
                Ok(next) => command = next,
                Err(_) => return,
            }
        }
        self.obey(command).await;
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Work(work) => self.queue.push(work),
            Command::Claim => self.queue.wake(),
            Command::Load(loaded) => {
                // What the former version did is committed under its own strategy.
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
                let _ = reply.send(self.settle(*settled).await);
            }
            Command::Close(closing, closed) => self.closing = Some((closing, closed)),
        }
    }

    fn start(&mut self, loaded: &LoadedSource, mut work: Work) {
        work.tries += 1;
        work.accounts.clone_from(&loaded.accounts);
        if let Some(reason) = &loaded.broken {
            let outcome = Outcome::Threw {
                error: configuration_error(reason),
            };
            let effects = Default::default();
            let usage = Default::default();
            let trace = work.origin.trace;
            return self.end(Ended {
                task: Task::Work(work),
                effects,
                outcome,
                usage,
                flushed: true,
                stored: false,
                began: true,
                trace,
            });
        }
        journal::begins(&self.id, &work);
        let event = work.event.clone();
        let props = loaded.props.clone();
        let worker = loaded.worker(&self.context.core.store, &self.commits);
        let span = journal::span(
            &self.context,
            &self.id,
            "run",
            (&work.invocation_id, &work.origin),
        );
        let owner = loaded.source.owner.clone();
        self.flight
            .start((Task::Work(work), span), owner, worker, |run| Invocation {
                run,
                entry: Entry::Run,
                event,
                props,
            });
    }

    fn start_hook(&mut self, call: HookCall) {
        let HookCall {
            hook,
            origin,
            hold,
            ended,
        } = call;
        let Some(loaded) = self.loaded.clone().filter(|loaded| loaded.has_hook(hook)) else {
            let _ = ended.send(HookEnded::not_there());
            return;
        };
        if let Some(reason) = &loaded.broken {
            let _ = ended.send(HookEnded::broken(reason));
            return;
        }
        self.context.quotas.count_hook(&loaded.source.owner.user_id);
        let worker = loaded.worker(&self.context.core.store, &self.commits);
        let invocation_id = self.context.core.env.id(InvocationId::new);
        journal::hook_begins(&self.id, &invocation_id, &origin, hook);
        let span = journal::span(
            &self.context,
            &self.id,
            hook.name(),
            (&invocation_id, &origin),
        );
        let task = Task::Hook {
            invocation_id,
            origin,
            hold,
            ended,
        };
        let owner = loaded.source.owner.clone();
        self.flight
            .start((task, span), owner, worker, |run| Invocation {
                run,
                entry: Entry::Hook { name: hook },
                event: RawValue::NULL.to_owned().into(),
                props: loaded.props.clone(),
            });
    }

    fn finish(&mut self, ended: Ended) {
        let Ended {
            trace,
            task,
            effects,
            outcome,
            usage,
            flushed,
            stored: _,
            began,
        } = ended;
        match task {
            Task::Hook {
                invocation_id,
                origin,
                hold,
                ended,
            } => {
                let origin = Origin { trace, ..origin };
                let told = HookEnded::of(outcome, &effects, hold, self.loaded.as_deref());
                let part = Part::of_hook(invocation_id, origin, self.context.core.env.now_ms());
                let part = Part {
                    effects,
                    outcome: Some(told.outcome.clone()),
                    usage,
                    ..part
                };
                // Told now: what is held back of a failed deployment is never committed.
                self.context.core.metrics.ran(None, &told.outcome);
                journal::ended(&self.id, &part, &told.outcome);
                match hold {
                    true => self.held.push(part),
                    false => self.commits.push(part),
                }
                let _ = ended.send(told);
            }
            Task::Work(work) if !began && work.is_owed() => {
                self.context.core.metrics.not_started();
                journal::put_off(&self.id, &work, &outcome);
                self.queue.put_off(work);
            }
            Task::Work(work) if !flushed && work.is_retried(&outcome) => {
                self.context.core.metrics.ran(Some(work.trigger), &outcome);
                journal::lost(&self.id, &work, &outcome);
                self.queue.push_front(work);
            }
            Task::Work(mut work) => {
                work.origin.trace = trace;
                let after = match std::mem::replace(&mut work.reply, Reply::None) {
                    Reply::None => After::Nothing,
                    Reply::Report(report) => After::Report(report),
                    Reply::Response(reply) => {
                        let _ = reply.send(CustomResponse::of(&outcome));
                        After::Nothing
                    }
                };
                self.commits.push(Part {
                    effects,
                    outcome: Some(work.given_up(outcome)),
                    usage,
                    ..Part::last(work, after)
                });
            }
        }
    }

    async fn committed(&mut self, batch: Batch) {
        if !self.commits.finish(batch) {
            // The store refused: what this node believes of the source no longer holds.
            // Not awaited: the engine may be waiting for a start that only this task drives.
            let (context, id) = (Arc::clone(&self.context), self.id.clone());
            self.context
                .core
                .tasks
                .spawn(async move { context.core.engine.evict(&id.into()).await });
            self.read_ledger(Commits::reset).await;
        }
        self.context.core.nudges.nudge(Chore::Dispatch);
        self.context.core.nudges.nudge(Chore::Release);
    }

    /// Commits everything that has ended.
    async fn flush(&mut self) {
        while !self.commits.is_idle() {
            let Some(loaded) = &self.loaded else { return };
            self.commits
                .start(&loaded.source, self.context.core.env.now_ms());
            let batch = self.commits.next().await;
            self.committed(batch).await;
        }
    }

    async fn settle(&mut self, mut settled: SettledSource) -> Result<Source, PlatformError> {
        self.flush().await;
        if !settled.active {
            self.queue.refuse(|| CustomResponse::NotRunning).await;
        }
        let loaded = self
            .loaded
            .clone()
            .ok_or_else(|| PlatformError::Internal("nothing is loaded".to_owned()))?;
        self.renewal.forget_loading();
        let held = std::mem::take(&mut self.held);
        let tallies;
        (settled.commits, tallies) = self
            .commits
            .enter_held(&loaded.source, held, settled.now_ms);
        let source = self.context.core.store.settle_source(settled).await?;
        for tally in &tallies {
            self.context.core.metrics.committed(tally);
        }
        self.loaded = Some(Arc::new(loaded.settled(source.clone())));
        self.read_ledger(Commits::resume).await;
        self.context.endpoints.forget(&self.id);
        Ok(source)
    }

    async fn prolong_leases(&mut self) {
        let running = self.flight.leases().chain(self.renewal.leases());
        let leases: Vec<Lease> = running.chain(self.queue.leases()).collect();
        if leases.is_empty() {
            return;
        }
        let until_ms = self.context.core.lease_term().expires_at_ms;
        if let Err(error) = self
            .context
            .core
            .store
            .extend_leases(&leases, until_ms)
            .await
        {
            tracing::warn!(source_id = %self.id, %error, "leases could not be prolonged");
        }
    }

    async fn leave_if_idle(&mut self) -> bool {
        self.count_silent_runs().await;
        let commands = &self.commands;
        self.context
            .residents
            .leave(&self.id, || commands.is_empty())
    }

    async fn count_silent_runs(&mut self) {
        if let Some(loaded) = self.loaded.clone() {
            self.commits
                .count(&loaded.source, self.context.core.env.now_ms())
                .await;
        }
    }

    /// Ends for good: work goes back to the store, runs in flight are abandoned.
    async fn leave(mut self) {
        self.context.endpoints.forget(&self.id);
        self.context.residents.remove(&self.id);
        let (closing, closed) = self.closing.take().unzip();
        for ended in self.renewal.abandon() {
            self.finish(ended);
        }
        if !matches!(closing, Some(Closing::Ended)) {
            self.flush().await;
        }
        let mut waiting: Vec<oneshot::Sender<()>> = closed.into_iter().collect();
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Work(work) => self.queue.push(work),
                Command::Close(_, closed) | Command::Pause(closed) => waiting.push(closed),
                // Whoever waits for an answer hears that there is none; the rest is the next runner's.
                Command::Hook(_) | Command::Settle(..) => {}
                Command::Claim | Command::Load(_) | Command::Reload(_) | Command::Resume => {}
            }
        }
        let response = || match closing {
            Some(Closing::Ended) => CustomResponse::NotRunning,
            Some(Closing::Restarted) | None => CustomResponse::Unavailable,
        };
        self.queue.refuse(response).await;
        let abandoned: Vec<Lease> = self.flight.leases().collect();
        for lease in &abandoned {
            self.context.release(lease).await;
        }
        self.count_silent_runs().await;
        for closed in waiting {
            let _ = closed.send(());
        }
    }
}
