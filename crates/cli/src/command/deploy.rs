//! `deploy`: saves a component, gathers its props and creates a source from it.

use anyhow::Result;
use serde_json::json;

use super::{save, show};
use crate::arguments::DeployArguments;
use crate::exit::Exit;
use crate::output;
use crate::prop::{self, Given};
use crate::session::Session;
use crate::source::text;
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: DeployArguments) -> Result<Exit> {
    let client = &session.client;
    // Mistakes on the command line come out before anything is saved.
    let given = Given::read(&arguments.props)?;
    let component = save::save(client, &arguments.component).await?;
    if text(&component, "type") == "action" {
        return Err(UsageError(format!(
            "{reference} is an action, not a source; run it with `headwater run-action {reference}`",
            reference = arguments.component
        ))
        .into());
    }
    let props = prop::collect(client, &component, given, None).await?;
    let mut body = json!({
        "component_id": component["id"],
        "configured_props": props,
    });
    if let Some(name) = arguments.name {
        body["name"] = name.into();
    }
    if arguments.isolated {
        body["isolated"] = true.into();
    }
    let source = client.post_scoped(&["sources"], body).await?;
    session.print(&source, show::brief)?;
    show::warnings(&source);
    output::note(&format!(
        "see its events: headwater events {} -f",
        text(&source, "id")
    ));
    Ok(Exit::Success)
}
