//! The task that runs one workflow: it claims runs, drives them, and commits what they did.

mod admitting;
mod claiming;
mod overflow;
mod repeats;
mod running;
#[cfg(test)]
mod tests;
mod woken;

use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
    time::Duration,
};

use futures::{
    StreamExt as _,
    future::BoxFuture,
    stream::{FuturesOrdered, FuturesUnordered},
};
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_store::{
    Claimed, Lease, Owner, RunCommit, RunnableLease, StoreError, WaitResolution,
};
use headwater_workflow::path::Path;
use tokio::sync::{mpsc, oneshot};

use self::woken::woken_by;
use super::{
    blob_texts::BlobTexts,
    command::{Command, Open},
    context::WorkflowContext,
    endings::Awaited,
    flight::Flight,
    held::Held,
    live::{Committing, LiveRun},
    start::Start,
};
use crate::{
    actor::{Batches, Claims, Heartbeat, InFlight, LeasedUntil, insisted, store_returns},
    changes::Change,
    chore::Chore,
    error::PlatformError,
};

/// An actor without work leaves after this.
const IDLE_AFTER: Duration = Duration::from_secs(5);
/// Runs in memory at once. When that many are there, because most wait to begin, those that go on still find room:
/// what the others wait for may be the end of one of them.
const RUNS_MAX: usize = 256;

type Claim = Result<(RunnableLease, Vec<Claimed>), StoreError>;
type Loaded = (InvocationId, Result<Box<LiveRun>, PlatformError>);

/// The answers to the waits of a run.
struct Answers {
    run: InvocationId,
    read: Result<Vec<WaitResolution>, PlatformError>,
}

/// The results of a batch, in its order.
struct Committed {
    /// The chores that may have work because of them.
    woken: Vec<Chore>,
    runs: Vec<InvocationId>,
    results: Vec<Result<(), StoreError>>,
}

/// The large values in the result of an ended run.
type ResultTexts = (InvocationId, Result<BlobTexts, PlatformError>);

/// An input that is being put together for an execution.
type Prepared = (InvocationId, Path, Result<Start, PlatformError>);

pub(super) struct Actor {
    context: Arc<WorkflowContext>,
    id: WorkflowId,
    commands: mpsc::UnboundedReceiver<Command>,
    open: Open,
    lease: Option<RunnableLease>,
    runs: HashMap<InvocationId, Box<LiveRun>>,
    claims: Claims,
    claiming: InFlight<Claim>,
    /// Runs that came with their leases, and are not taken in yet.
    arrived: Vec<Claimed>,
    /// So many of them came before the claim under way.
    before_claim: usize,
    /// In the order of their claims, which is that of their beginning.
    loading: FuturesOrdered<BoxFuture<'static, Loaded>>,
    /// The leases of those.
    loading_leases: HashMap<InvocationId, Lease>,
    /// Runs that were answered while some were being loaded.
    late: HashSet<InvocationId>,
    /// Runs whose rest was written, as their next claim has shown, before this node was told; with their owners.
    rested: HashMap<InvocationId, Owner>,
    preparing: FuturesUnordered<BoxFuture<'static, Prepared>>,
    answers: FuturesUnordered<BoxFuture<'static, Answers>>,
    results: FuturesUnordered<BoxFuture<'static, ResultTexts>>,
    /// Those that wait until an answer has been committed with its run, by run. Dropping them tells them.
    applied: HashMap<InvocationId, Vec<oneshot::Sender<()>>>,
    flight: Flight,
    commits: Batches<RunCommit, Committed>,
    held: Held,
    leased_until: LeasedUntil,
    /// Whether the store may have more runs.
    more: bool,
    stopping: bool,
    closing: Option<oneshot::Sender<()>>,
}

impl Actor {
    pub(super) fn new(
        context: Arc<WorkflowContext>,
        id: WorkflowId,
        commands: mpsc::UnboundedReceiver<Command>,
        open: Open,
    ) -> Self {
        Self {
            flight: Flight::new(Arc::clone(&context)),
            stopping: context.core.stopping.is_cancelled(),
            leased_until: LeasedUntil::new(&context.core),
            context,
            id,
            commands,
            open,
            lease: None,
            runs: HashMap::new(),
            claims: Claims::default(),
            claiming: InFlight::default(),
            arrived: Vec::new(),
            before_claim: 0,
            loading: FuturesOrdered::new(),
            loading_leases: HashMap::new(),
            late: HashSet::new(),
            rested: HashMap::new(),
            preparing: FuturesUnordered::new(),
            answers: FuturesUnordered::new(),
            results: FuturesUnordered::new(),
            applied: HashMap::new(),
            commits: Batches::default(),
            held: Held::default(),
            more: true,
            closing: None,
        }
    }

    /// Runs until there has been nothing to do for a while, until closed, or until the node stops. Boxed, because a
    /// future has room for each place that its parameter is moved to.
    pub(super) async fn run(mut self: Box<Self>) {
        let context = Arc::clone(&self.context);
        let mut heartbeat = Heartbeat::new(&context.core.env);
        loop {
            self.start_commits();
            self.claim();
            self.take_in_arrived();
            self.tell_whether_open();
            self.settle();
            if self.closing.is_some() || (self.stopping && self.is_quiet()) {
                return self.leave().await;
            }
            let is_idle = self.is_idle();
            let until_next = self.until_next();
            tokio::select! {
                executed = self.flight.next() => self.executed(executed),
                prepared = self.preparing.next(), if !self.preparing.is_empty() => {
                    if let Some(prepared) = prepared { self.start_prepared(prepared); }
                }
                committed = self.commits.written(), if self.commits.is_writing() => self.committed(committed).await,
                loaded = self.loading.next(), if !self.loading.is_empty() => {
                    if let Some(loaded) = loaded { self.loaded(loaded).await; }
                }
                claimed = self.claiming.ended(), if !self.claiming.is_idle() => self.claimed(claimed),
                answers = self.answers.next(), if !self.answers.is_empty() => {
                    if let Some(answers) = answers { self.answered(answers); }
                }
                result = self.results.next(), if !self.results.is_empty() => {
                    if let Some(result) = result { self.result_read(result); }
                }
                command = self.commands.recv() => match command {
                    Some(command) => self.on_command(command),
                    None => return,
                },
                judged = self.held.judged(), if self.held.is_judging() => self.on_judged(judged).await,
                () = tokio::time::sleep(until_next.unwrap_or_default()), if until_next.is_some() => self.admit_held(),
                () = heartbeat.beat() => self.prolong_leases().await,
                () = tokio::time::sleep(IDLE_AFTER), if is_idle => {
                    if self.leave_if_idle() { return; }
                }
                () = context.core.stopping.cancelled(), if !self.stopping => self.stopping = true,
            }
        }
    }

    /// Nothing runs and everything is committed.
    fn is_quiet(&self) -> bool {
        let is_still =
            self.flight.is_empty() && self.preparing.is_empty() && self.results.is_empty();
        is_still && self.commits.is_idle() && self.loading.is_empty() && self.claiming.is_idle()
    }

    fn is_idle(&self) -> bool {
        let has_none = self.runs.is_empty() && self.arrived.is_empty();
        self.is_quiet() && has_none && !self.more && self.answers.is_empty()
    }

    fn leave_if_idle(&self) -> bool {
        let commands = &self.commands;
        let residents = &self.context.residents;
        residents.remove_if(&self.id, || commands.is_empty())
    }

    /// Gives back what has begun: another start of the node, or another node, goes on with it.
    async fn leave(mut self: Box<Self>) {
        self.context.residents.remove(&self.id);
        while let Ok(command) = self.commands.try_recv() {
            if let Command::Run(_, run) = command {
                self.arrived.push(*run);
            }
        }
        for lease in self.leases() {
            self.context.responders.forget(&lease.invocation_id);
            self.context.core.give_back(&lease, None).await;
        }
        if let Some(closed) = self.closing.take() {
            let _ = closed.send(());
        }
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Claim => self.more = true,
            Command::Run(lease, run) => {
                self.lease.get_or_insert(lease);
                self.arrived.push(*run);
            }
            Command::Resolved(run, applied) => {
                if let Some(applied) = applied {
                    self.applied.entry(run.clone()).or_default().push(applied);
                }
                match self.runs.contains_key(&run) {
                    true => self.read_answers(run),
                    false => {
                        self.more = true;
                        // It may have read its answers before this one came.
                        if !self.loading.is_empty() {
                            self.late.insert(run);
                        }
                    }
                }
            }
            Command::Reload => {
                for id in self.reload() {
                    self.give_back(&id);
                }
            }
            Command::Settle(waiting) => self.settle_for(waiting),
            Command::Close(closed) => self.closing = Some(closed),
        }
    }

    fn read_answers(&mut self, run: InvocationId) {
        let context = Arc::clone(&self.context);
        self.answers.push(Box::pin(async move {
            let read = insisted(&context.core.stopping, || async {
                let asked = std::slice::from_ref(&run);
                Ok(context.core.store.resolutions(asked).await?)
            });
            let read = read.await;
            Answers { run, read }
        }));
    }

    fn answered(&mut self, Answers { run: id, read }: Answers) {
        let now_ms = self.context.core.env.now_ms();
        match read {
            Ok(answers) => {
                let Some(run) = self.runs.get_mut(&id) else {
                    // It was given back meanwhile, and finds the answer when it is claimed.
                    self.more = true;
                    return;
                };
                run.resolve(answers, now_ms);
                if run.is_admitted {
                    self.held.runs.retain(|held| *held != id);
                }
                self.advance(&id);
            }
            // Work under way has its grace, and then the run is given back.
            Err(_) if self.context.core.stopping.is_cancelled() => {}
            Err(error) => {
                tracing::error!(%error, run_id = %id, "cannot read answers to waits; the run finds them when it is claimed again");
                self.hand_over(&id);
            }
        }
    }

    fn start_commits(&mut self) {
        let context = Arc::clone(&self.context);
        self.commits.start(|batch| async move {
            let runs = batch.iter().map(|commit| commit.run_id.clone()).collect();
            let woken = woken_by(&batch);
            let batch: Arc<[_]> = batch.into();
            loop {
                let results = context.core.store.commit_runs(Arc::clone(&batch)).await;
                let is_away = |result: &Result<(), StoreError>| {
                    matches!(result, Err(StoreError::Unavailable { .. }))
                };
                // Commits that were written are refused or change nothing when they are tried again.
                if !results.iter().any(is_away) || !store_returns(&context.core.stopping).await {
                    return Committed {
                        woken,
                        runs,
                        results,
                    };
                }
            }
        });
    }

    async fn committed(
        &mut self,
        Committed {
            woken,
            runs,
            results,
        }: Committed,
    ) {
        for (id, result) in runs.iter().zip(results) {
            if let Some(owner) = self.rested.remove(id) {
                // The run may be in memory anew, where this commit is none of its.
                self.tell(id, owner);
                continue;
            }
            let Some(run) = self.runs.get_mut(id) else {
                continue;
            };
            let written = run.committing.take();
            if self.held.beginning.remove(id) {
                // There may be events that found no room.
                self.context.core.nudges.nudge(Chore::Dispatch);
            }
            if let Err(error) = result {
                tracing::warn!(workflow_id = %self.id, run_id = %id, %error, "a run's commit was refused; whoever has the run goes on with it");
                match error {
                    StoreError::Conflict(_) => self.hand_over(id),
                    // It would be refused again and again: its lease runs out, which counts as a start.
                    StoreError::Unavailable { .. }
                    | StoreError::Corrupt(_)
                    | StoreError::Unsupported(_) => self.drop_run(id),
                }
                self.more = true;
                continue;
            }
            let owner = run.deployed.workflow.owner.clone();
            self.tell(id, owner);
            match written {
                Some(Committing::Ends) => self.ended(id).await,
                Some(Committing::Rests) => self.rests(id),
                // Things that happened while it was written are not durable yet.
                Some(Committing::GoesOn) | None => self.advance(id),
            }
        }
        for chore in woken {
            self.context.core.nudges.nudge(chore);
        }
    }

    /// Tells those who look at a run that it has changed.
    fn tell(&self, id: &InvocationId, owner: Owner) {
        self.context.core.tell(Change::Run {
            workflow_id: self.id.clone(),
            run_id: id.clone(),
            owner,
        });
    }

    /// A run has ended, and what its steps still say comes to nothing.
    async fn ended(&mut self, id: &InvocationId) {
        let Some(run) = self.runs.get_mut(id) else {
            return;
        };
        self.context.responders.settle(id, false);
        if let Awaited::Read(result) = mem::take(&mut run.awaited) {
            self.context.endings.tell(id, result);
        }
        if let Some(worker) = &run.worker {
            self.context.core.engine.forget_tmp(worker, run.tmp()).await;
        }
        self.drop_run(id);
        self.gave_place(id);
    }

    /// A run waits, and is not this node's any more: an answer that came meanwhile is in the store.
    fn rests(&mut self, id: &InvocationId) {
        self.context.responders.settle(id, true);
        self.more |= self.runs.get(id).is_some_and(|run| run.is_dirty);
        let applied = self.applied.remove(id);
        self.drop_run(id);
        if let Some(applied) = applied {
            // Those who wait for an answer wait until it is taken up.
            self.more = true;
            self.applied.insert(id.clone(), applied);
        }
    }

    /// Leaves a run to whoever claims it next, and gives back the lease that this node may have of it.
    fn hand_over(&mut self, id: &InvocationId) {
        let lease = self.runs.get(id).map(|run| run.claimed.lease.clone());
        self.drop_run(id);
        if let Some(lease) = lease {
            self.release(lease);
        }
    }

    fn drop_run(&mut self, id: &InvocationId) {
        self.flight.forget(id);
        self.held.beginning.remove(id);
        // There may be runs that found no room.
        self.more |= self.runs.len() >= RUNS_MAX;
        self.runs.remove(id);
        self.applied.remove(id);
    }

    /// The leases of all runs that this node has.
    fn leases(&self) -> Vec<Lease> {
        let runs = self.runs.values().map(|run| &run.claimed);
        let known = runs.chain(&self.arrived).map(|run| &run.lease);
        known.chain(self.loading_leases.values()).cloned().collect()
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
            tracing::warn!(workflow_id = %self.id, %error, "leases could not be prolonged");
        }
    }
}
