//! Leases and the epochs of the nodes that hold them.

use headwater_model::{
    id::{InvocationId, RunnableId},
    time::EpochMs,
};

/// One life of a node, numbered in the order of all starts. Work leased by a dead epoch may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeEpoch(pub u64);

/// The right to run the code of one source or workflow and to write its results. It does not expire: it lasts until
/// its node gives it back, stops or restarts, or until another node takes over from a dead one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnableLease {
    /// The source or workflow.
    pub runnable: RunnableId,
    /// The holder.
    pub epoch: NodeEpoch,
    /// The fencing number, from 1: counts how often the runnable was leased; the later of two leases counts.
    pub fence: u64,
}

/// The right to run one invocation, until it expires or another node takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The invocation.
    pub invocation_id: InvocationId,
    /// The holder.
    pub epoch: NodeEpoch,
    /// The fencing number, from 1: counts how often the invocation was leased.
    pub attempt: u32,
}

/// The holder and end of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerm {
    /// The holder.
    pub epoch: NodeEpoch,
    /// Epoch milliseconds.
    pub expires_at_ms: EpochMs,
}
