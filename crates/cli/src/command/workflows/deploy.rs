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
use crate::workflow::folder::{self, Folder, STATE_FILE};
use crate::workflow::{code, findings};

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
    let found = code::findings_before_deployment(folder).await;
    let tell = || {
        for finding in &found {
            output::tell(&findings::line(&folder.dir, finding));
        }
    };
    match found.iter().filter(|one| findings::is_error(one)).count() {
        0 => {}
        errors => {
            tell();
            match errors {
                1 => bail!("nothing was deployed because of this error"),
                errors => bail!("nothing was deployed because of these {errors} errors"),
            }
        }
    }
    refuse_copy(folder)?;
    for path in &folder.left_out {
        output::tell(&format!("note: {path} is no text, and was not sent"));
    }
    let body = json!({"files": folder.files});
    // The findings come with the workflow, if it is deployed.
    let workflow = session.client.post_scoped(&["workflows"], body).await;
    let workflow = workflow.inspect_err(|_| tell())?;
    folder.keep_state(text(&workflow, "state_file"))?;
    Ok(workflow)
}

/// Refuses a folder beside which there is another one of the same workflow: one of them is a copy, and would replace
/// it.
fn refuse_copy(folder: &Folder) -> Result<()> {
    let id = |dir: &Path| folder::workflow_id(dir).ok();
    let whole = folder.dir.canonicalize();
    let (Ok(whole), Some(own)) = (whole, id(&folder.dir)) else {
        return Ok(());
    };
    let beside = whole.parent().and_then(|parent| parent.read_dir().ok());
    let beside = beside.into_iter().flatten().flatten();
    let mut others = beside.map(|entry| entry.path()).filter(|path| {
        let is_other = path.canonicalize().is_ok_and(|path| path != whole);
        is_other && folder::is_workflow(path)
    });
    if let Some(other) = others.find(|other| id(other).as_ref() == Some(&own)) {
        let name = other.file_name().unwrap_or_default().to_string_lossy();
        bail!(
            "{dir} and `{name}` beside it are both the workflow {own}, and one would replace the other; delete the \
             {STATE_FILE} of the copy, which then becomes a workflow of its own",
            dir = folder.dir.display()
        );
    }
    Ok(())
}

/// Prints the node's findings.
pub(super) fn tell_findings(folder: &Folder, workflow: &Value) {
    for finding in workflow["findings"].as_array().into_iter().flatten() {
        output::tell(&findings::line(&folder.dir, finding));
    }
}

/// Prints the next steps.
pub(super) fn tell_next(folder: &Folder, workflow: &Value) {
    if !folder.files.contains_key(STATE_FILE) {
        output::tell(&format!(
            "keep {} with the other files; the next deployment finds the workflow by it",
            folder.dir.join(STATE_FILE).display()
        ));
    }
    let id = text(workflow, "id");
    if workflow["active"] == false {
        output::tell(&format!(
            "it is not active, as its file says: no trigger starts a run; switch it on with `headwater workflows activate {id}`"
        ));
        output::tell(&format!(
            "start a run:  headwater workflows run {id} --wait"
        ));
        return;
    }
    // One line, to be copied.
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
        "curl{authorization} -H 'content-type: application/json' -d '{}' {url}",
        body(folder)
    ))
}

/// The example of the folder that `init` creates, where the code still asks for it; otherwise nothing is known.
fn body(folder: &Folder) -> &'static str {
    let asks =
        |text: &String| text.contains("event.body?.name") || text.contains("event.body.name");
    match folder.files.values().any(asks) {
        true => "{\"name\": \"Ada\"}",
        false => "{}",
    }
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
            "curl -H 'content-type: application/json' -d '{}' http://node/e/t"
        );
        let guarded = "- { type: http, auth: { bearer: '{{process.env.TOKEN}}' } }\n";
        let call = call(&format!("{schedule}{guarded}")).unwrap();
        assert!(call.contains("authorization: Bearer $TOKEN"), "{call}");
        let asking = "- { type: http }\nsteps:\n- { namespace: a, props: { to: '{{steps.trigger.event.body.name}}' } }\n";
        let asking = super::tests::call(&format!("{schedule}{asking}")).unwrap();
        assert!(asking.contains("-d '{\"name\": \"Ada\"}' "), "{asking}");
    }

    #[test]
    fn the_copy_of_a_folder_does_not_take_its_workflow() {
        let parent = tempfile::tempdir().unwrap();
        let write = |folder: &str, name: &str, text: &str| {
            let dir = parent.path().join(folder);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join(name), text).unwrap();
        };
        let read = |folder: &str| Folder::read(&parent.path().join(folder)).unwrap();
        for folder in ["hello", "copy", "other"] {
            write(folder, "workflow.yaml", "name: A");
        }
        write(
            "hello",
            STATE_FILE,
            "---\nschema: workflow.state/2022.04\nid: p_yKCwGWl\n",
        );
        write(
            "other",
            STATE_FILE,
            "---\nschema: workflow.state/2022.04\nid: p_MOCayaq\n",
        );
        for folder in ["hello", "copy", "other"] {
            refuse_copy(&read(folder)).unwrap();
        }
        write(
            "copy",
            STATE_FILE,
            "---\nschema: workflow.state/2022.04\nid: p_yKCwGWl\n",
        );
        let error = refuse_copy(&read("copy")).unwrap_err().to_string();
        assert!(
            error.contains("hello") && error.contains("p_yKCwGWl"),
            "{error}"
        );
        refuse_copy(&read("other")).unwrap();
    }
}
