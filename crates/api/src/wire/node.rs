//! The nodes that share a store.

use headwater_model::time::EpochMs;
use headwater_platform::{MemberPart, NodeStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A node.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Node {
    id: String,
    /// The URL at which the other nodes reach it; the public one of a node that is alone.
    address: String,
    /// The version of its program.
    version: String,
    part: Part,
    /// Whether it takes no work over, because it is to be stopped.
    draining: bool,
    /// Whether it could take work over. One that failed to, has no room in its data folder, or is older than the node that
    /// leads could not; its log says why.
    can_lead: bool,
    /// The sources, workflows and actions that it runs.
    owned: usize,
    #[schema(value_type = u64)]
    joined_at_ms: EpochMs,
    /// The time of its last word, by the database's clock.
    #[schema(value_type = u64)]
    seen_at_ms: EpochMs,
}

/// The part of a node: `leads` has all work, `follows` passes requests on to that one and stands ready to take over, `lost`
/// has not been heard of for 8 seconds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = NodePart)]
enum Part {
    Leads,
    Follows,
    Lost,
}

/// A change of a node.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PatchNode {
    /// Whether it is to take no work over, and to give up what it has.
    #[schema(required, nullable = false)]
    pub(crate) draining: Option<bool>,
}

impl From<NodeStatus> for Node {
    fn from(NodeStatus { member, owned }: NodeStatus) -> Self {
        Self {
            id: member.name.as_str().to_owned(),
            address: member.address,
            version: member.version,
            part: match member.part {
                MemberPart::Leads => Part::Leads,
                MemberPart::Follows => Part::Follows,
                MemberPart::Lost => Part::Lost,
            },
            draining: member.is_draining,
            can_lead: member.can_lead,
            owned,
            joined_at_ms: member.joined_at_ms,
            seen_at_ms: member.seen_at_ms,
        }
    }
}
