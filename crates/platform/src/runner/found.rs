//! The place of a run that is to be cancelled, as its runner tells it.

use tokio::sync::oneshot;

use super::invocation::QueuedInvocation;

/// The place of a run in the memory of its runner.
pub(crate) enum Found {
    /// It waited, and is the asker's now.
    Waiting(Box<QueuedInvocation>),
    /// It was under way, and has been ended; told once that is durable.
    UnderWay(oneshot::Receiver<()>),
    /// It has ended by itself.
    Ended,
    /// The runner does not have it.
    Nowhere,
}
