//! Nodes: their lives, and the runnables that each of them owns.
//!
//! ```text
//!  start_node ──► epoch ──► heartbeat … heartbeat ──► stop_node
//!                   │ lease_runnable                     │ frees everything
//!                   ▼                                    ▼
//!              RunnableLease ──► claim, commit_runs, settle_source … (refused once the fence has moved on)
//! ```
//! A store may be restricted to a single process: then nodes are handles of that process, and the epochs of earlier
//! processes are dead from the start. The contract is the same.

use std::time::Duration;

use async_trait::async_trait;
use headwater_model::{id::RunnableId, time::EpochMs};

use crate::{
    error::StoreError,
    lease::{NodeEpoch, RunnableLease},
};

/// The age of its last heartbeat at which a node counts as dead.
pub const NODE_TIMEOUT: Duration = Duration::from_secs(6);

/// The name of a node, which stays the same across restarts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(String);

impl NodeName {
    /// A node of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as it is shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Living nodes and the runnables that they hold.
///
/// A node is alive from its start until it stops, restarts, or is found dead: another node wanted one of its
/// runnables when the last heartbeat was [`NODE_TIMEOUT`] old. An epoch that stopped or restarted writes nothing any
/// more; one that is only found dead may still commit runs that no other node has taken over
/// (`conformance::nodes::a_late_holder_that_nobody_has_replaced_still_commits`).
#[async_trait]
pub trait Nodes {
    /// Registers a start of the node and gives it an epoch larger than every earlier one.
    /// MUST end the former epoch of that name, and with it every lease that it held
    /// (`conformance::nodes::a_node_that_started_anew_lost_everything_of_its_former_epoch`).
    /// MUST NOT touch what other living nodes hold
    /// (`conformance::nodes::leases_of_a_living_node_survive_another_nodes_start`).
    async fn start_node(&self, name: &NodeName, now_ms: EpochMs) -> Result<NodeEpoch, StoreError>;

    /// Keeps a node alive. `LeaseLost` when it stopped, restarted or was found dead: it has to register anew then.
    /// MUST keep everything that it holds from being taken over
    /// (`conformance::nodes::a_heartbeat_keeps_a_node_alive`).
    async fn heartbeat(&self, epoch: NodeEpoch, now_ms: EpochMs) -> Result<(), StoreError>;

    /// Ends a node's life cleanly. Harmless when it has ended.
    /// MUST free everything that it holds at once, without counting the released invocations as starts
    /// (`conformance::nodes::a_clean_stop_frees_everything_at_once`).
    async fn stop_node(&self, epoch: NodeEpoch) -> Result<(), StoreError>;

    /// Leases a source or workflow to a node, once per life of the node: the same epoch gets the same lease again.
    /// Taking over from a dead holder voids the dead one's leases of invocations, too. `Held` when a living node holds
    /// it, `Gone` when it does not exist, `LeaseLost` when the epoch is dead.
    /// MUST NOT lease one to two nodes (`conformance::nodes::two_nodes_never_hold_one_runnable`).
    /// MUST fence the former holder off (`conformance::nodes::a_dead_nodes_runnable_is_taken_over`).
    async fn lease_runnable(
        &self,
        runnable: &RunnableId,
        epoch: NodeEpoch,
        now_ms: EpochMs,
    ) -> Result<RunnableLease, StoreError>;

    /// Gives a source or workflow back, with the invocations of it that the node still holds. Harmless when it was lost.
    /// MUST free it at once (`conformance::nodes::a_runnable_that_was_given_back_is_free`).
    async fn release_runnable(&self, lease: &RunnableLease) -> Result<(), StoreError>;
}
