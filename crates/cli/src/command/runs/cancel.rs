//! `runs cancel`: a run that has not ended is ended.

use anyhow::Result;
use serde_json::json;

use crate::output;
use crate::session::Session;
use crate::source::text;

pub(super) async fn run(session: &Session, id: &str) -> Result<()> {
    let client = &session.client;
    client.post(&["runs", id, "cancel"], &json!({})).await?;
    session.print(&json!({"id": id}), |_| id.to_owned())?;
    // A workflow's run says its status, a source's its outcome; the record of one may have gone by now.
    let said = match client.get(&["runs", id]).await {
        Ok(run) => match text(&run, "status") {
            "" => text(&run, "outcome").to_owned(),
            status => status.to_owned(),
        },
        Err(_) => "cancelled".to_owned(),
    };
    output::tell(&match &*said {
        "cancelled" => "cancelled; requests that it has sent stay sent".to_owned(),
        "queued" | "running" | "waiting" => "cancelled; a step at work comes to its end".to_owned(),
        ended => format!("it has ended before, as {ended}"),
    });
    Ok(())
}
