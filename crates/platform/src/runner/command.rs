//! The commands of a runner, and the ways to one.

use std::sync::Arc;

use headwater_engine::Hook;
use headwater_model::id::{AccountId, InvocationId, SourceId};
use headwater_store::{SettledSource, Source};
use tokio::sync::{mpsc, oneshot};

use super::{
    found::Found,
    hook::{HookCall, HookEnded},
    invocation::QueuedInvocation,
    loaded::LoadedSource,
    waiting::Waiting,
};
use crate::{
    actor::{self, Resident},
    error::PlatformError,
    log_line::OpenLog,
    origin,
};

/// A command to a runner.
pub(crate) enum Command {
    /// Run this.
    Run(QueuedInvocation),
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
    /// Commit the effects of hooks together with the source's new spec.
    Settle(
        Box<SettledSource>,
        oneshot::Sender<Result<Source, PlatformError>>,
    ),
    /// Find this run, and end it if it is under way.
    Cancel(InvocationId, oneshot::Sender<Found>),
    /// Tell the lines that runs under way have logged so far.
    Logged(oneshot::Sender<Vec<OpenLog>>),
    /// Drop everything and end; answer when gone.
    Close(Closing, oneshot::Sender<()>),
}

/// The fate of the source whose runner is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// It runs no more: a waiting request asked an endpoint that is gone.
    Ended,
    /// Another runner, or another start of the node, goes on with it.
    Restarted,
}

/// The way to a runner.
#[derive(Clone)]
pub(crate) struct Runner {
    pub(super) commands: mpsc::UnboundedSender<Command>,
    /// Work that waits in its memory.
    pub(super) waiting: Arc<Waiting>,
}

/// The runners of this node.
pub(crate) type Residents = actor::Residents<SourceId, Runner>;

impl Resident for Runner {
    fn is_alive(&self) -> bool {
        !self.commands.is_closed()
    }
}

impl Runner {
    pub(super) fn send(&self, command: Command) {
        if let Command::Run(invocation) = &command {
            self.waiting.add(invocation);
        }
        let _ = self.commands.send(command);
    }
}

/// A handle on a runner for a change of the source's life. Used under the lifecycle lock.
pub(crate) struct RunnerHandle(pub(super) Runner);

impl RunnerHandle {
    pub(super) async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.0.send(command(reply));
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
        self.0.send(Command::Resume);
    }

    /// Commits the effects of the held hooks together with the new spec.
    pub(crate) async fn settle(&self, settled: SettledSource) -> Result<Source, PlatformError> {
        self.ask(|reply| Command::Settle(Box::new(settled), reply))
            .await
            .ok_or_else(stopping)?
    }
}

fn stopping() -> PlatformError {
    PlatformError::Unavailable("the node is stopping".to_owned())
}
