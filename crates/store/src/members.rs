//! The nodes of a cluster: those that share one database, of which one leads. `docs/guide/cluster.md` has the rules.

use std::time::Duration;

use async_trait::async_trait;
use headwater_model::time::EpochMs;

use crate::{error::StoreError, nodes::NodeName};

/// The age of a member's last word at which it counts as lost.
pub const MEMBER_TIMEOUT: Duration = Duration::from_secs(8);

/// A node of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its id.
    pub name: NodeName,
    /// The URL at which the others reach it.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// The time at which it joined.
    pub joined_at_ms: EpochMs,
    /// The time of its last word.
    pub seen_at_ms: EpochMs,
    /// Whether it takes no work over, because it is to be stopped.
    pub is_draining: bool,
    /// Whether it could take work over, as far as it knows.
    pub can_lead: bool,
    /// Its part.
    pub part: MemberPart,
}

/// The part of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberPart {
    /// It has all work.
    Leads,
    /// It passes requests on to the one that leads, and stands ready to take over.
    Follows,
    /// Nothing was heard of it for [`MEMBER_TIMEOUT`].
    Lost,
}

/// The members of a cluster.
#[async_trait]
pub trait Members: Send + Sync + 'static {
    /// All members, by id. A lost one is among them for an hour.
    async fn members(&self) -> Result<Vec<Member>, StoreError>;

    /// Says that a member takes no work over, or does so again. `false`: there is none of that id.
    async fn set_draining(&self, name: &NodeName, is_draining: bool) -> Result<bool, StoreError>;
}
