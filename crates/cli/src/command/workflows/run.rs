//! `workflows run`: starts a run, and follows it if asked.

use anyhow::Result;
use serde_json::json;

use super::progress;
use crate::arguments::RunWorkflowArguments;
use crate::at_file;
use crate::exit::Exit;
use crate::session::Session;
use crate::source::text;
use crate::workflow;

pub(super) async fn run(session: &Session, arguments: &RunWorkflowArguments) -> Result<Exit> {
    let body = match &arguments.event {
        Some(event) => json!({"event": at_file::read_json(event, "--event", "the event")?}),
        None => json!({}),
    };
    let id = workflow::find_id(&session.client, &arguments.workflow).await?;
    let path = ["workflows", &id, "run"];
    let started = session.client.post(&path, &body).await?;
    let run_id = text(&started, "id");
    // With `--json` and `--wait` the run itself is the data.
    if !(session.json && arguments.wait) {
        session.print(&started, |_| run_id.to_owned())?;
    }
    match arguments.wait {
        true => progress::follow(session, run_id).await,
        false => Ok(Exit::Success),
    }
}
