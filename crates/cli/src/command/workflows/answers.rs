//! `workflows resume` and `workflows cancel`: the answers to a run that waits, or goes on too long.

use anyhow::Result;
use serde_json::json;

use super::progress;
use crate::arguments::ResumeRunArguments;
use crate::at_file;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;

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
    output::tell("resumed");
    Ok(Exit::Success)
}

pub(super) async fn cancel(session: &Session, id: &str) -> Result<Exit> {
    let client = &session.client;
    let run = client.get(&["runs", id]).await?;
    let path = ["runs", id, "cancel"];
    client.post(&path, &json!({})).await?;
    session.print(&json!({"id": id}), |_| id.to_owned())?;
    output::tell(&match progress::has_ended(&run) {
        true => format!("it has ended before, as {}", text(&run, "status")),
        false => "cancelled; a step at work comes to its end".to_owned(),
    });
    Ok(Exit::Success)
}
