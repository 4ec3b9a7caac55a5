//! The living nodes. One process owns the file, so that they are kept in its memory: a heartbeat writes nothing.

use std::collections::BTreeMap;

use headwater_model::time::EpochMs;
use headwater_store::{Conflict, NODE_TIMEOUT, NodeEpoch, NodeName};
use parking_lot::Mutex;

/// The epochs of this process's nodes. Those of earlier processes are dead.
#[derive(Default)]
pub(crate) struct Living(Mutex<Lives>);

#[derive(Default)]
struct Lives {
    /// Those that have not ended.
    nodes: BTreeMap<NodeEpoch, Node>,
    has_begun: bool,
}

struct Node {
    name: NodeName,
    heartbeat_ms: EpochMs,
    /// Set when another node wanted one of its runnables and its heartbeat was too old.
    is_dead: bool,
}

/// The leases of invocations that a dead epoch had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvocationLeases {
    /// Some may still have to be freed.
    MayRemain,
    /// All were freed when the epoch ended.
    Freed,
}

impl Node {
    fn is_alive(&self, now_ms: EpochMs) -> bool {
        !self.is_dead && now_ms.since(self.heartbeat_ms) < NODE_TIMEOUT
    }
}

impl Living {
    /// Begins an epoch, and ends the former one of that name.
    pub(crate) fn begin(&self, name: &NodeName, epoch: NodeEpoch, now_ms: EpochMs) {
        let mut lives = self.0.lock();
        lives.has_begun = true;
        lives.nodes.retain(|_, node| node.name != *name);
        let node = Node {
            name: name.clone(),
            heartbeat_ms: now_ms,
            is_dead: false,
        };
        lives.nodes.insert(epoch, node);
    }

    pub(crate) fn end(&self, epoch: NodeEpoch) {
        self.0.lock().nodes.remove(&epoch);
    }

    pub(crate) fn heartbeat(&self, epoch: NodeEpoch, now_ms: EpochMs) -> Result<(), Conflict> {
        let mut lives = self.0.lock();
        match lives.nodes.get_mut(&epoch).filter(|node| !node.is_dead) {
            Some(node) => {
                node.heartbeat_ms = node.heartbeat_ms.max(now_ms);
                Ok(())
            }
            None => Err(Conflict::LeaseLost),
        }
    }

    /// Whether the epoch writes nothing any more: it stopped or was followed by another.
    pub(crate) fn has_ended(&self, epoch: NodeEpoch) -> bool {
        let lives = self.0.lock();
        lives.has_begun && !lives.nodes.contains_key(&epoch)
    }

    /// Whether the epoch may lease further runnables.
    pub(crate) fn may_take(&self, epoch: NodeEpoch) -> bool {
        let lives = self.0.lock();
        lives.nodes.get(&epoch).is_some_and(|node| !node.is_dead)
    }

    /// Declares the epoch dead, which is final.
    ///
    /// # Errors
    /// `Held` while its node is alive.
    pub(crate) fn declare_dead(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
    ) -> Result<InvocationLeases, Conflict> {
        let mut lives = self.0.lock();
        match lives.nodes.get_mut(&epoch) {
            Some(node) if node.is_alive(now_ms) => Err(Conflict::Held { by: epoch }),
            Some(node) => {
                node.is_dead = true;
                Ok(InvocationLeases::MayRemain)
            }
            // The leases of a stopped or restarted node are already free.
            None => Ok(InvocationLeases::Freed),
        }
    }

    /// The living epochs except those of `name`, which restarts.
    pub(crate) fn others(&self, name: &NodeName, now_ms: EpochMs) -> Vec<NodeEpoch> {
        let lives = self.0.lock();
        let others = lives.nodes.iter();
        let others = others.filter(|(_, node)| node.name != *name && node.is_alive(now_ms));
        others.map(|(epoch, _)| *epoch).collect()
    }

    /// The living epochs except `epoch`, the caller's.
    pub(crate) fn besides(&self, epoch: NodeEpoch, now_ms: EpochMs) -> Vec<NodeEpoch> {
        let lives = self.0.lock();
        let others = lives.nodes.iter();
        let others = others.filter(|(other, node)| **other != epoch && node.is_alive(now_ms));
        others.map(|(epoch, _)| *epoch).collect()
    }
}

/// Epochs as a JSON array, for `json_each`.
pub(crate) fn as_json(epochs: &[NodeEpoch]) -> String {
    let epochs: Vec<String> = epochs.iter().map(|epoch| epoch.0.to_string()).collect();
    format!("[{}]", epochs.join(","))
}
