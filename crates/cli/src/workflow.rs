//! A workflow as commands name it: by its id, name, name slug or folder. Changes nothing.

pub(crate) mod code;
pub(crate) mod findings;
pub(crate) mod folder;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::client::Client;
use crate::source::{self, text};

/// The cause of a run in a list: its trigger, or the run that it repeats.
pub(crate) fn cause(run: &Value, trigger: &str) -> String {
    match text(run, "replay_of") {
        "" => trigger.to_owned(),
        replayed => format!("replay of {replayed}"),
    }
}

/// Finds the id of a workflow by id, deployed folder, exact name or name slug. An id, and that of a folder, is taken as it is,
/// without asking for the workflow.
pub(crate) async fn find_id(client: &Client, given: &str) -> Result<String> {
    if given.starts_with("p_") {
        return Ok(given.to_owned());
    }
    let dir = folder::named(given.into());
    let of_folder = folder::is_workflow(&dir).then(|| folder::workflow_id(&dir));
    if let Some(Ok(id)) = of_folder {
        return Ok(id);
    }
    let workflows = client.list_scoped(&["workflows"]).await?;
    match (source::named("workflows", workflows, given)?, of_folder) {
        (Some(workflow), _) => Ok(text(&workflow, "id").to_owned()),
        (None, Some(not_deployed)) => not_deployed,
        (None, None) => bail!(
            "no workflow is called {given}, and it is not the folder of one; `headwater workflows list` shows the workflows"
        ),
    }
}
