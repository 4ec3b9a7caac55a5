//! Leases and the epochs of the nodes that hold them.

use headwater_model::id::InvocationId;

/// A node's place in the order of starts: work leased by an earlier epoch of the same node may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeEpoch(pub u64);

/// The right to run one invocation, until `expires_at_ms` or another node takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which invocation.
    pub invocation_id: InvocationId,
    /// Who holds it.
    pub epoch: NodeEpoch,
    /// Fences: counts how often the invocation was leased, from 1.
    pub attempt: u32,
}

/// How long a lease lasts, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerm {
    /// For whom.
    pub epoch: NodeEpoch,
    /// Epoch milliseconds.
    pub expires_at_ms: u64,
}
