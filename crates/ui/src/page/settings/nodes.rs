//! The nodes of a cluster on the page of the node, as `headwater nodes` has them.

use headwater_platform::{MemberPart, NodeStatus};
use maud::{Markup, html};

use crate::{
    part::{
        state::{Tone, state},
        text::{self, grouped},
        time,
    },
    visit::Visitor,
};

/// All nodes, by id.
pub(super) fn table(nodes: &[NodeStatus], visitor: &Visitor) -> Markup {
    html! {
        p.note {
            "One node has all work; the others pass requests on to it and stand ready to take over. "
            code { "headwater nodes drain NODE" } " takes one out of work before it is stopped."
        }
        table.list {
            thead {
                tr {
                    th scope="col" { "Node" } th scope="col" { "State" } th.number scope="col" { "Has in hand" }
                    th scope="col" { "Address" } th scope="col" { "Version" } th scope="col" { "Joined" } th scope="col" { "Seen" }
                }
            }
            tbody { @for node in nodes { (row(node, visitor)) } }
        }
    }
}

fn row(NodeStatus { member, owned }: &NodeStatus, visitor: &Visitor) -> Markup {
    html! {
        tr {
            th scope="row" { code { (text::line(member.name.as_str())) } }
            td data-label="State" { (part(member.part)) @if member.is_draining { " " (state(Tone::Warning, "drains")) } }
            td.number data-label="Has in hand" { (grouped(*owned as u64)) }
            td data-label="Address" { code { (text::visible(&member.address)) } }
            td data-label="Version" { (text::line(&member.version)) }
            td data-label="Joined" { (time::ago(member.joined_at_ms, visitor.now_ms)) }
            td data-label="Seen" { (time::ago(member.seen_at_ms, visitor.now_ms)) }
        }
    }
}

fn part(of: MemberPart) -> Markup {
    match of {
        MemberPart::Leads => state(Tone::Good, "leads"),
        MemberPart::Follows => state(Tone::Quiet, "follows"),
        MemberPart::Lost => state(Tone::Bad, "lost"),
    }
}
