//! `nodes`: lists the nodes on one database, and takes one out of work or back in.

use std::time::Duration;

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};

use crate::arguments::{NodesArguments, NodesCommand};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::waiting;

/// The time between two looks at whether a node has given its work up.
const LOOKED_EVERY: Duration = Duration::from_millis(500);

pub(super) async fn run(session: &Session, arguments: NodesArguments) -> Result<Exit> {
    match arguments.command.unwrap_or(NodesCommand::List) {
        NodesCommand::List => list(session).await?,
        NodesCommand::Drain { node } => drain(session, &node).await?,
        NodesCommand::Undrain { node } => {
            let node = set_draining(session, &node, false).await?;
            session.print(&node, |node| text(node, "id").to_owned())?;
            output::tell("may take work over again");
        }
    }
    Ok(Exit::Success)
}

async fn list(session: &Session) -> Result<()> {
    let nodes = session.client.get(&["nodes"]).await?;
    let rows = nodes.as_array().into_iter().flatten().map(|node| {
        vec![
            text(node, "id").to_owned(),
            part(node),
            node["owned"].to_string(),
            text(node, "address").to_owned(),
            text(node, "version").to_owned(),
            timestamp::listed_millis(&node["joined_at_ms"]),
            timestamp::listed_millis(&node["seen_at_ms"]),
        ]
    });
    let headers = ["id", "state", "owns", "address", "version", "since", "seen"];
    let listing = table::overview(&headers, &["version", "since"], rows.collect());
    session.print(&nodes, |_| listing)
}

/// The part of a node in a word.
fn part(node: &Value) -> String {
    let part = text(node, "part");
    let cannot_lead = part == "follows" && node["can_lead"] == false;
    match (node["draining"] == true, cannot_lead) {
        (false, false) => part.to_owned(),
        (true, _) => format!("{part}, drains"),
        (false, true) => format!("{part}, cannot lead"),
    }
}

async fn drain(session: &Session, id_or_address: &str) -> Result<()> {
    let node = set_draining(session, id_or_address, true).await?;
    let id = text(&node, "id");
    let node = waiting::told(
        "waiting for the node to have no work",
        given_up(session, id),
    )
    .await?;
    session.print(&node, |node| text(node, "id").to_owned())?;
    output::tell(&format!(
        "has no work any more; stop it, or take it back in with `headwater nodes undrain {id}`"
    ));
    Ok(())
}

/// The node, once it does not lead any more, another one does, and nothing has its place on it.
async fn given_up(session: &Session, id: &str) -> Result<Value> {
    loop {
        let nodes = session.client.get(&["nodes"]).await?;
        let nodes = nodes.as_array().context("the node sent no list of nodes")?;
        let leader = nodes.iter().find(|node| text(node, "part") == "leads");
        let node = nodes.iter().find(|node| text(node, "id") == id);
        match (leader, node) {
            (Some(leader), Some(node)) if text(leader, "id") != id && node["owned"] == 0 => {
                return Ok(node.clone());
            }
            (_, None) => anyhow::bail!("the node {id} has left the cluster"),
            _ => tokio::time::sleep(LOOKED_EVERY).await,
        }
    }
}

async fn set_draining(session: &Session, id_or_address: &str, draining: bool) -> Result<Value> {
    let nodes = session.client.get(&["nodes"]).await?;
    let mut nodes = nodes.as_array().into_iter().flatten();
    let address = id_or_address.trim_end_matches('/');
    let is_named = |node: &&Value| {
        let known = text(node, "address");
        text(node, "id") == id_or_address
            || known == address
            || known == format!("http://{address}")
    };
    let id = nodes
        .find(is_named)
        .map_or(id_or_address, |node| text(node, "id"));
    let body = json!({"draining": draining});
    session
        .client
        .send(Method::PATCH, &["nodes", id], &body)
        .await
}
