//! `workflows resume` and `workflows cancel`: the answers to a run that waits, or goes on too long.

use anyhow::Result;
use serde_json::json;

use crate::arguments::ResumeRunArguments;
use crate::at_file;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;

pub(super) async fn resume(session: &Session, arguments: &ResumeRunArguments) -> Result<Exit> {
    let mut body = json!({});
    if let Some(path) = &arguments.path {
        body["path"] = path.as_str().into();
    }
    if let Some(data) = &arguments.data {
        body["data"] = at_file::read_json(data, "--data", "the data")?;
    }
    let id = &arguments.run;
    let answer = session.client.post(&["runs", id, "resume"], &body).await?;
    session.print(&answer, |_| id.clone())?;
    output::note("resumed");
    Ok(Exit::Success)
}

pub(super) async fn cancel(session: &Session, id: &str) -> Result<Exit> {
    let path = ["runs", id, "cancel"];
    session.client.post(&path, &json!({})).await?;
    session.print(&json!({"id": id}), |_| id.to_owned())?;
    output::note("cancelled");
    Ok(Exit::Success)
}
