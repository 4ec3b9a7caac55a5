//! Running sources: one runner per source with work, in memory only while it has some.
//!
//! A runner is a task that owns everything which must be in order for one source: which run may
//! start, the dedupe state, the order of commits.

mod actor;
mod cancelled;
mod command;
mod commits;
mod components;
mod context;
mod effects;
mod flight;
mod found;
mod hook;
mod invocation;
mod journal;
mod ledger;
mod loaded;
mod loading;
mod map_size;
mod part;
mod queue;
mod quiet_runs;
mod renewal;
mod report;
mod run;
mod run_report;
mod waiting;

use std::sync::Arc;

use headwater_model::{
    id::{AccountId, InvocationId, SourceId},
    time::EpochMs,
};
use headwater_store::{NewInvocation, SavedComponent, Source, Trigger};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

pub use self::run_report::RunReport;
use self::{
    actor::Actor,
    command::{Runner, RunnerHandle},
    waiting::Waiting,
};
pub(crate) use self::{
    command::{Closing, Command},
    context::RunnerContext,
    hook::Reached,
    invocation::{CustomResponse, QueuedInvocation, Reply},
    loaded::LoadedSource,
};
use crate::{accounts::UsedAccount, error::PlatformError, log_line::OpenLog, origin};

/// The runners of this node.
#[derive(Clone)]
pub(crate) struct Runners {
    context: Arc<RunnerContext>,
}

impl Runners {
    pub(crate) fn new(context: RunnerContext) -> Self {
        Self {
            context: Arc::new(context),
        }
    }

    /// The number of sources with a runner.
    pub(crate) fn len(&self) -> usize {
        self.context.residents.len()
    }

    /// Whether the source's runner can take more work into memory.
    pub(crate) fn has_room(&self, id: &SourceId) -> bool {
        let residents = &self.context.residents;
        let has_room = residents.find(id, |runner| runner.waiting.room().is_some());
        has_room.unwrap_or(true)
    }

    /// Lets every runner read its source again, because owners changed.
    pub(crate) fn reload_all(&self) {
        self.context.reload(None);
    }

    /// Lets the runners of sources with this account compute their props again.
    pub(crate) fn account_changed(&self, id: &AccountId) {
        self.context.reload(Some(id));
    }

    /// Checks the accounts of a call that met a 401. True: some have other credentials now, or are known to be refused.
    pub(crate) async fn recheck(&self, used: Vec<UsedAccount>) -> bool {
        self.context.recheck(used).await
    }

    /// Sends the source's runner a command, starting a runner if there is none.
    pub(crate) fn send(&self, id: &SourceId, command: Command) {
        self.find_or_start(id, |runner| runner.send(command));
    }

    /// Queues an invocation durably. If the source's runner has room, the invocation is leased to this node and
    /// sent to the runner; otherwise the runner claims it later. Continues if the caller goes away.
    ///
    /// # Errors
    /// `Conflict` when the source is gone or takes no triggers.
    pub(crate) async fn start(
        &self,
        id: &SourceId,
        trigger: Trigger,
        event: Box<RawValue>,
        reply: Reply,
    ) -> Result<(), PlatformError> {
        let core = &self.context.core;
        let invocation = NewInvocation {
            id: core.env.id(InvocationId::new),
            runnable: id.clone().into(),
            trigger,
            via: None,
            event: event.into(),
            hops: 0,
            now_ms: core.env.now_ms(),
            due_at_ms: EpochMs(0),
            state: None,
            origin: origin::origin(),
        };
        // Work that finds no room in memory waits in the store, but somebody waits for a manual run.
        let has_room = trigger.is_by_hand() || self.has_room(id);
        let is_taken = has_room && !core.stopping.is_cancelled();
        let (runners, id) = (self.clone(), id.clone());
        let queued = async move {
            let (core, leases) = (&runners.context.core, &runners.context.leases);
            let lease = match is_taken {
                true => Some((leases.of(&invocation.runnable).await?, core.lease_term())),
                false => None,
            };
            let lease = core.store.enqueue(invocation.clone(), lease).await?;
            let command = match lease {
                Some(_) => Command::Run(QueuedInvocation {
                    lease,
                    ..QueuedInvocation::new(invocation, reply)
                }),
                None => Command::Claim,
            };
            runners.send(&id, command);
            Ok(())
        };
        core.to_the_end(queued).await
    }

    /// The lines that runs under way have logged since their last commits.
    pub(crate) async fn logged(&self, source: &SourceId) -> Vec<OpenLog> {
        let residents = &self.context.residents;
        let runner = residents.find(source, |runner| RunnerHandle(runner.clone()));
        let Some(runner) = runner else {
            return Vec::new();
        };
        let logged = runner.ask(Command::Logged);
        logged.await.unwrap_or_default()
    }

    fn find_or_start<T>(&self, id: &SourceId, act: impl FnOnce(&Runner) -> T) -> T {
        let start = || {
            let (commands, receiver) = mpsc::unbounded_channel();
            let waiting = Arc::new(Waiting::default());
            let context = Arc::clone(&self.context);
            let actor = Actor::new(context, id.clone(), receiver, Arc::clone(&waiting));
            self.context.core.tasks.spawn(Box::new(actor).run());
            Runner { commands, waiting }
        };
        self.context.residents.with(id, start, act)
    }

    /// Makes a version ready to run.
    ///
    /// # Errors
    /// As [`crate::props::Props::finals`].
    pub(crate) async fn load(
        &self,
        source: Source,
        component: SavedComponent,
    ) -> Result<Arc<LoadedSource>, PlatformError> {
        let component = self.context.components.shared(component);
        self.context.load(source, component).await
    }

    /// The source's runner, running that version from now on.
    pub(crate) fn open(&self, id: &SourceId, loaded: Arc<LoadedSource>) -> RunnerHandle {
        let load = Command::Load(loaded);
        self.find_or_start(id, |runner| {
            runner.send(load);
            RunnerHandle(runner.clone())
        })
    }

    /// Ends the source's runner, if it has one. Queued invocations stay in the store.
    pub(crate) async fn close(&self, id: &SourceId, closing: Closing) {
        let runner = self.context.residents.find(id, Runner::clone);
        if let Some(runner) = runner {
            RunnerHandle(runner)
                .ask(|closed| Command::Close(closing, closed))
                .await;
        }
    }
}
