//! `runs replay`: a run is done again. One of a workflow begins anew; one of a source ends before this command does.

use anyhow::Result;
use serde_json::json;

use crate::arguments::ReplayOneRunArguments;
use crate::at_file;
use crate::command::replayed;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;

pub(super) async fn run(session: &Session, arguments: &ReplayOneRunArguments) -> Result<Exit> {
    let mut body = json!({"dry_run": arguments.dry_run});
    if arguments.same {
        body["deployment"] = "same".into();
    }
    if let Some(event) = &arguments.event {
        body["event"] = at_file::read_json(event, "--event", "the event")?;
    }
    let path = ["runs", &arguments.run, "replay"];
    let answer = session.client.post(&path, &body).await?;
    if replayed::is_sources(&answer) {
        return replayed::tell(session, &answer);
    }
    if arguments.dry_run {
        session.print(&answer, |plan| text(plan, "deployment_id").to_owned())?;
        output::tell("nothing was started");
        return Ok(Exit::Success);
    }
    let started = text(&answer, "id");
    session.print(&answer, |_| started.to_owned())?;
    output::tell(&format!(
        "`headwater runs describe {started}` shows the new run"
    ));
    Ok(Exit::Success)
}
