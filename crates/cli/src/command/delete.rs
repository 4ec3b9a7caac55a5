//! `delete`: deletes a source.

use anyhow::Result;
use serde_json::json;

use crate::arguments::DeleteArguments;
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source;

pub(super) async fn run(session: &Session, arguments: &DeleteArguments) -> Result<Exit> {
    let id = source::find_id(&session.client, &arguments.source).await?;
    confirm::deletion(
        &format!(
            "Delete source {} with its events, logs and runs?",
            arguments.source
        ),
        arguments.confirmed.yes,
    )?;
    let answer = session.client.delete(&["sources", &id]).await?;
    session.print(&json!({"id": id}), |_| id.clone())?;
    // A `deactivate` hook that threw does not keep the source.
    match answer.pointer("/error/message") {
        Some(message) => output::tell(&format!("deleted; its deactivate hook failed: {message}")),
        None => output::tell("deleted"),
    }
    Ok(Exit::Success)
}
