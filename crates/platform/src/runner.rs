//! Running sources: one runner per source with work, in memory only while it has some.
//!
//! A runner is a task that owns everything which must be in order for one source: which run may
//! start, the dedupe state, the order of commits. It is found or started under the registry's
//! lock and leaves under the same lock, so that no work is handed to a runner that is gone.

mod actor;
mod commits;
mod flight;
mod hook;
mod journal;
mod ledger;
mod loaded;
mod map_size;
mod queue;
mod renewal;
mod report;
mod run;
mod waiting;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use headwater_engine::Hook;
use headwater_model::id::{AccountId, SourceId};
use headwater_store::{LeaseTerm, SettledSource, Source};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

pub(crate) use self::hook::{HookCall, HookEnded, Reached};
pub use self::report::{LogLine, RunReport};
pub(crate) use self::report::{iso_8601, platform_event};
pub(crate) use self::run::{Reply, Work};
use self::{actor::Actor, waiting::Waiting};
pub(crate) use self::{loaded::LoadedSource, run::CustomResponse};
use crate::{error::PlatformError, origin, platform::Platform};

/// How long a lease lasts; runners prolong theirs well before.
const LEASE_MS: u64 = 60_000;

/// What a runner is told.
pub(crate) enum Command {
    /// Run this.
    Work(Work),
    /// There may be queued invocations to claim.
    Claim,
    /// This is the source's version from now on.
    Load(Arc<LoadedSource>),
    /// Props must be read again before the next run: if they have this account, or in any case.
    Reload(Option<AccountId>),
    /// Call a hook.
    Hook(HookCall),
    /// Start no runs but hooks; answer when none is in flight and all is committed.
    Pause(oneshot::Sender<()>),
    /// Start runs again.
    Resume,
    /// Commit what hooks did together with the source's new spec.
    Settle(
        Box<SettledSource>,
        oneshot::Sender<Result<Source, PlatformError>>,
    ),
    /// Drop everything and end; answer when gone.
    Close(Closing, oneshot::Sender<()>),
}

/// What becomes of the source whose runner is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// It runs no more: who waits for a response asked an endpoint that is gone.
    Ended,
    /// Another runner, or another start of the node, goes on with it.
    Restarted,
}

/// The runners of this node.
#[derive(Default)]
pub(crate) struct Runners {
    by_source: Mutex<HashMap<SourceId, Runner>>,
    /// Events that dispatch has not reached: as long as there are many, those that it has passed on start no runs.
    undispatched: AtomicU64,
}

/// The way to a runner.
#[derive(Clone)]
struct Runner {
    commands: mpsc::UnboundedSender<Command>,
    /// Work that waits in its memory.
    waiting: Arc<Waiting>,
}

impl Runners {
    /// How many sources have a runner.
    pub(crate) fn len(&self) -> usize {
        self.by_source.lock().len()
    }

    /// Notes how far dispatch is behind.
    pub(crate) fn note_undispatched(&self, events: u64) {
        self.undispatched.store(events, Ordering::Relaxed);
    }

    /// Events that dispatch has not reached.
    pub(crate) fn undispatched(&self) -> u64 {
        self.undispatched.load(Ordering::Relaxed)
    }

    /// Whether the source's runner can take more work into memory.
    pub(crate) fn has_room(&self, id: &SourceId) -> bool {
        let by_source = self.by_source.lock();
        by_source
            .get(id)
            .is_none_or(|runner| runner.waiting.room().is_some())
    }

    /// Lets every runner read its source again, because owners changed.
    pub(crate) fn reload_all(&self) {
        self.reload(None);
    }

    /// Lets the runners of sources with this account make their props again.
    pub(crate) fn account_changed(&self, id: &AccountId) {
        self.reload(Some(id));
    }

    fn reload(&self, account: Option<&AccountId>) {
        for runner in self.by_source.lock().values() {
            let _ = runner.commands.send(Command::Reload(account.cloned()));
        }
    }

    /// Takes the runner out, whatever is still said to it.
    fn remove(&self, id: &SourceId) {
        self.by_source.lock().remove(id);
    }

    /// Takes the runner out unless a command has come in meanwhile.
    fn leave(&self, id: &SourceId, commands: &mpsc::UnboundedReceiver<Command>) -> bool {
        let mut by_source = self.by_source.lock();
        if commands.is_empty() {
            by_source.remove(id);
        }
        commands.is_empty()
    }
}

/// A way to tell a runner what a change of the source's life needs. Used under the lifecycle lock.
pub(crate) struct RunnerHandle {
    commands: mpsc::UnboundedSender<Command>,
}

impl RunnerHandle {
    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).ok()?;
        answer.await.ok()
    }

    /// Calls a hook, if the component has it.
    ///
    /// # Errors
    /// As [`HookEnded::verdict`].
    pub(crate) async fn hook(&self, hook: Hook, hold: bool) -> Result<(), PlatformError> {
        self.call_hook(hook, hold).await?.verdict(hook)
    }

    /// Calls a hook, if the component has it, and says how it ended.
    ///
    /// # Errors
    /// `Unavailable` when the node is stopping.
    pub(crate) async fn call_hook(
        &self,
        hook: Hook,
        hold: bool,
    ) -> Result<HookEnded, PlatformError> {
        let origin = origin::origin();
        let call = |ended| {
            Command::Hook(HookCall {
                hook,
                origin,
                hold,
                ended,
            })
        };
        self.ask(call).await.ok_or_else(stopping)
    }

    /// Starts no runs any more; returns when none is in flight.
    pub(crate) async fn pause(&self) {
        self.ask(Command::Pause).await;
    }

    /// Starts runs again.
    pub(crate) fn resume(&self) {
        let _ = self.commands.send(Command::Resume);
    }

    /// Commits what the held hooks did together with the new spec.
    pub(crate) async fn settle(&self, settled: SettledSource) -> Result<Source, PlatformError> {
        self.ask(|reply| Command::Settle(Box::new(settled), reply))
            .await
            .ok_or_else(stopping)?
    }
}

fn stopping() -> PlatformError {
    PlatformError::Unavailable("the node is stopping".to_owned())
}

impl Platform {
    /// Tells the source's runner, starting one if there is none.
    pub(crate) fn tell_runner(
        self: &Arc<Self>,
        id: &SourceId,
        command: Command,
    ) -> mpsc::UnboundedSender<Command> {
        let mut by_source = self.runners.by_source.lock();
        let runner = by_source.entry(id.clone()).or_insert_with(|| {
            let (sender, commands) = mpsc::unbounded_channel();
            let waiting = Arc::new(Waiting::default());
            let actor = Actor::new(Arc::clone(self), id.clone(), commands, Arc::clone(&waiting));
            self.tasks.spawn(actor.run());
            Runner {
                commands: sender,
                waiting,
            }
        });
        if let Command::Work(work) = &command {
            runner.waiting.add(work);
        }
        let _ = runner.commands.send(command);
        runner.commands.clone()
    }

    /// Hands work to the source's runner.
    pub(crate) fn run_work(self: &Arc<Self>, id: &SourceId, work: Work) {
        self.tell_runner(id, Command::Work(work));
    }

    /// The source's runner, running that version from now on.
    pub(crate) fn open_runner(
        self: &Arc<Self>,
        id: &SourceId,
        loaded: LoadedSource,
    ) -> RunnerHandle {
        RunnerHandle {
            commands: self.tell_runner(id, Command::Load(Arc::new(loaded))),
        }
    }

    /// Ends the source's runner, if it has one. Queued invocations stay in the store.
    pub(crate) async fn close_runner(&self, id: &SourceId, closing: Closing) {
        let runner = self.runners.by_source.lock().get(id).cloned();
        if let Some(Runner { commands, .. }) = runner {
            RunnerHandle { commands }
                .ask(|closed| Command::Close(closing, closed))
                .await;
        }
    }

    /// A lease from now, for this node.
    pub(crate) fn lease_term(&self) -> LeaseTerm {
        LeaseTerm {
            epoch: self.epoch,
            expires_at_ms: self.env.now_ms() + LEASE_MS,
        }
    }
}
