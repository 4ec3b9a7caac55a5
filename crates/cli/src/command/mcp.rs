//! `mcp`: tools for an assistant that starts this program and talks to it over its standard streams.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use headwater_mcp::Settings;

use crate::arguments::McpArguments;
use crate::exit::Exit;
use crate::session::Session;

pub(crate) async fn run(session: Session, arguments: McpArguments) -> Result<Exit> {
    let workspace_id = session.client.workspace_id().await?.map(str::to_owned);
    let settings = Settings {
        workspace_id,
        actions: arguments.action,
    };
    headwater_mcp::stdio(Arc::new(session.client.into_node()), settings)
        .await
        .context("the assistant ended the connection before it had begun; start `headwater mcp` from its settings")?;
    Ok(Exit::Success)
}
