//! `workflows deploy`: sends a folder, keeps the ids that come back, and says how to start a run.

use std::path::Path;

use anyhow::{Result, bail};
use headwater_workflow::definition::{Definition, TriggerConfig};
use serde_json::{Value, json};

use super::show;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::workflow::findings;
use crate::workflow::folder::{Folder, STATE_FILE};

pub(super) async fn run(session: &Session, dir: &Path) -> Result<Exit> {
    let folder = Folder::read(dir)?;
    let workflow = send(session, &folder).await?;
    session.print(&workflow, show::brief)?;
    if !session.json {
        tell_findings(&folder, &workflow);
        tell_next(&folder, &workflow);
    }
    Ok(Exit::Success)
}

/// Deploys a folder, unless it is known to be refused, and keeps its ids.
pub(super) async fn send(session: &Session, folder: &Folder) -> Result<Value> {
    let found = findings::of_folder(folder, false);
    let errors: Vec<_> = found.iter().filter(|one| findings::is_error(one)).collect();
    for error in &errors {
        output::note(&findings::line(&folder.dir, error));
    }
    match errors.as_slice() {
        [] => {}
        [_] => bail!("nothing was deployed because of this error"),
        _ => bail!(
            "nothing was deployed because of these {} errors",
            errors.len()
        ),
    }
    for path in &folder.left_out {
        output::note(&format!("note: {path} is no text, and was not sent"));
    }
    let body = json!({"files": folder.files});
    let workflow = session.client.post_scoped(&["workflows"], body).await?;
    folder.keep_state(text(&workflow, "state_file"))?;
    Ok(workflow)
}

/// Prints the node's findings.
pub(super) fn tell_findings(folder: &Folder, workflow: &Value) {
    for finding in workflow["findings"].as_array().into_iter().flatten() {
        output::note(&findings::line(&folder.dir, finding));
    }
}

/// Prints the next steps.
pub(super) fn tell_next(folder: &Folder, workflow: &Value) {
    if !folder.files.contains_key(STATE_FILE) {
        output::note(&format!(
            "keep {} with the other files; the next deployment finds the workflow by it",
            folder.dir.join(STATE_FILE).display()
        ));
    }
    let id = text(workflow, "id");
    if workflow["active"] == false {
        output::note(&format!(
            "it is not active, as its file says: no trigger starts a run; switch it on with `headwater workflows activate {id}`"
        ));
        output::note(&format!(
            "start a run:  headwater workflows run {id} --wait"
        ));
        return;
    }
    output::note(&match curl(folder, workflow) {
        Some(call) => format!("start a run:  {call}"),
        None => format!("start a run:  headwater workflows run {id} --wait"),
    });
}

/// A call of the first HTTP trigger.
fn curl(folder: &Folder, workflow: &Value) -> Option<String> {
    let triggers = workflow["triggers"].as_array()?;
    let position = triggers
        .iter()
        .position(|trigger| text(trigger, "type") == "http")?;
    let url = text(&triggers[position], "endpoint_url");
    let definition = Definition::read(folder.definition(), &folder.paths()).ok()?;
    let authorization = match definition.triggers.get(position).map(|one| &one.config) {
        Some(TriggerConfig::Http(http)) if http.bearer.is_some() => {
            " -H \"authorization: Bearer $TOKEN\""
        }
        _ => "",
    };
    Some(format!(
        "curl{authorization} -H 'content-type: application/json' -d '{{\"name\": \"Ada\"}}' {url}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(triggers: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("name: A\ntriggers:\n{triggers}");
        std::fs::write(folder.path().join("workflow.yaml"), text).unwrap();
        let folder = Folder::read(folder.path()).unwrap();
        let workflow = json!({"id": "p_1", "triggers": [
            {"type": "schedule"}, {"type": "http", "endpoint_url": "http://node/e/t"},
        ]});
        curl(&folder, &workflow)
    }

    #[test]
    fn the_call_brings_a_token_if_the_trigger_asks_for_one() {
        let schedule = "- { type: schedule, interval_seconds: 60 }\n";
        assert_eq!(
            call(&format!("{schedule}- {{ type: http }}\n")).unwrap(),
            "curl -H 'content-type: application/json' -d '{\"name\": \"Ada\"}' http://node/e/t"
        );
        let guarded = "- { type: http, auth: { bearer: '{{process.env.TOKEN}}' } }\n";
        let call = call(&format!("{schedule}{guarded}")).unwrap();
        assert!(call.contains("authorization: Bearer $TOKEN"), "{call}");
    }
}
