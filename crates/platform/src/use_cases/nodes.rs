//! The nodes that share the store, and taking one out of work. `docs/guide/cluster.md` has the rules.

use headwater_model::time::EpochMs;
use headwater_store::{Member, MemberPart, NodeName};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
};

/// A node, as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// The node.
    pub member: Member,
    /// The sources, workflows and actions that it runs.
    pub owned: usize,
}

impl Platform {
    /// The nodes of the cluster by id, or this one if it is alone.
    ///
    /// # Errors
    /// `AdminOnly`.
    pub async fn nodes(&self, caller: &Caller) -> Result<Vec<NodeStatus>, PlatformError> {
        caller.check_admin()?;
        let members = match &self.among.members {
            Some(members) => members.members().await?,
            None => vec![self.itself()],
        };
        let places = self.core.engine.places();
        let seen = |member: Member| NodeStatus {
            owned: match self.among.members {
                Some(_) => places.get(member.name.as_str()).copied().unwrap_or(0),
                None => self.leases.held(),
            },
            member,
        };
        Ok(members.into_iter().map(seen).collect())
    }

    /// Takes a node out of work, so that it can be stopped without anybody waiting, or back in.
    ///
    /// # Errors
    /// `AdminOnly`; `NotFound`; `Conflict` where no other node could take its work over.
    pub async fn drain_node(
        &self,
        caller: &Caller,
        id: &str,
        is_draining: bool,
    ) -> Result<NodeStatus, PlatformError> {
        caller.check_admin()?;
        let missing = || PlatformError::not_found("node", id);
        let nodes = self.nodes(caller).await?;
        let node = nodes.iter().find(|node| node.member.name.as_str() == id);
        let node = node.ok_or_else(missing)?;
        let stays = |other: &&NodeStatus| {
            let other = &other.member;
            let is_able = other.part != MemberPart::Lost && other.can_lead;
            other.name.as_str() != id && is_able && !other.is_draining
        };
        if is_draining && !nodes.iter().any(|other| stays(&other)) {
            return Err(PlatformError::Conflict(format!(
                "no other node could take over from {id}: start one on the same database, or stop this one as it is"
            )));
        }
        let name = NodeName::new(id);
        match &self.among.members {
            Some(members) if members.set_draining(&name, is_draining).await? => {}
            Some(_) => return Err(missing()),
            // A node that is alone never drains.
            None => return Ok(node.clone()),
        }
        self.core.engine.spare(id, is_draining);
        let action = match is_draining {
            true => AuditAction::NodeDrain,
            false => AuditAction::NodeUndrain,
        };
        self.record(caller, Act::new(action, "node", id)).await;
        let mut node = node.clone();
        node.member.is_draining = is_draining;
        Ok(node)
    }

    fn itself(&self) -> Member {
        Member {
            name: self.among.name.clone(),
            address: self.config().public_url.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            joined_at_ms: self.among.started_at_ms,
            seen_at_ms: self.now_ms(),
            is_draining: false,
            can_lead: true,
            part: MemberPart::Leads,
        }
    }

    fn now_ms(&self) -> EpochMs {
        self.core.env.now_ms()
    }
}
