//! Leases and the epochs of the nodes that hold them.

use headwater_model::{
    id::{InvocationId, RunnableId},
    time::EpochMs,
};

/// One life of a node: its place in the order of all starts. Work leased by an epoch that is dead may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeEpoch(pub u64);

/// The right to run the code of one source or workflow and to write what comes of it. It has no end of its own: it
/// lasts until its node gives it back, stops or starts anew, or until another node takes over from a dead one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnableLease {
    /// The source or workflow.
    pub runnable: RunnableId,
    /// The holder.
    pub epoch: NodeEpoch,
    /// Counts how often the runnable was leased, from 1: of two leases the later one counts.
    pub fence: u64,
}

/// The right to run one invocation, until `expires_at_ms` or another node takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The invocation.
    pub invocation_id: InvocationId,
    /// The holder.
    pub epoch: NodeEpoch,
    /// Fences: counts how often the invocation was leased, from 1.
    pub attempt: u32,
}

/// How long a lease lasts, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerm {
    /// The holder.
    pub epoch: NodeEpoch,
    /// Epoch milliseconds.
    pub expires_at_ms: EpochMs,
}
