//! The ways to the actor of a workflow.

use std::sync::Arc;

use headwater_model::id::InvocationId;
use headwater_store::{Claimed, RunnableLease};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::actor::Resident;

/// A command to the actor of a workflow.
pub(crate) enum Command {
    /// There may be runs to claim.
    Claim,
    /// A run that was leased when it was queued, under this lease of its workflow.
    Run(RunnableLease, Box<Claimed>),
    /// An answer to a wait of this run is in the store. The sender is dropped once its effect is durable.
    Resolved(InvocationId, Option<oneshot::Sender<()>>),
    /// The workflow has a new deployment: runs that are held back are claimed anew.
    Reload,
    /// Answer when every run that may begin has begun.
    Settle(oneshot::Sender<()>),
    /// Drop everything and end; answer when gone.
    Close(oneshot::Sender<()>),
}

/// The lease of its workflow, while the actor takes runs that are leased as they are queued. It does unless it has no room, or
/// knows that the store may have runs before them.
pub(super) type Open = Arc<Mutex<Option<RunnableLease>>>;

/// The way to an actor.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) open: Open,
}

impl Resident for Handle {
    fn is_alive(&self) -> bool {
        !self.commands.is_closed()
    }
}

impl Handle {
    pub(super) fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}
