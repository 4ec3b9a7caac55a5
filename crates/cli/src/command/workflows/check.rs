//! `workflows check`: everything that a folder tells by itself, and the things that a node lacks for it, if one can be asked.

use anyhow::{Error, Result};
use serde_json::{Value, json};

use crate::arguments::{CheckWorkflowArguments, Global};
use crate::client::ClientError;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::workflow::folder::{DEFINITION_FILE, Folder};
use crate::workflow::{code, findings};

pub(super) async fn run(global: &Global, arguments: &CheckWorkflowArguments) -> Result<Exit> {
    let folder = Folder::read(&arguments.dir)?;
    let found = code::findings(&folder, arguments.pipedream).await;
    let is_refused = found.iter().any(findings::is_error);
    // A node would refuse it for the errors that are known already.
    let of_node = match arguments.offline || is_refused {
        true => None,
        false => of_node(global, &folder).await?,
    };
    let found = match of_node {
        Some(of_node) => merged(found, of_node),
        None => code::sorted(found, findings::required(&folder)),
    };
    match global.json {
        true => output::json(&Value::from(found))?,
        false => {
            for finding in &found {
                output::data(&findings::line(&folder.dir, finding))?;
            }
            if found.is_empty() {
                output::tell("no mistake was found");
            }
        }
    }
    Ok(match is_refused {
        false => Exit::Success,
        true => Exit::Failure,
    })
}

/// The findings of the node; `None`, with a note, if there is no node that can be asked.
async fn of_node(global: &Global, folder: &Folder) -> Result<Option<Vec<Value>>> {
    let session = Session::open(global)?;
    let body = json!({"files": folder.files});
    match session
        .client
        .post_scoped(&["workflows", "check"], body)
        .await
    {
        Ok(found) => Ok(found.as_array().cloned()),
        Err(error) if is_elsewhere(&error) => {
            output::tell(&format!(
                "note: no node was asked ({error}): accounts, actions and packages were not looked at"
            ));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether there is no node, or none that knows the caller.
fn is_elsewhere(error: &Error) -> bool {
    let known = error.downcast_ref::<ClientError>();
    known.is_some_and(|error| {
        matches!(error, ClientError::Unreachable(_)) || error.status() == Some(401)
    })
}

/// The findings of both, each once. Those of a node are about the definition.
fn merged(found: Vec<Value>, of_node: Vec<Value>) -> Vec<Value> {
    let place = |finding: &Value| (finding["line"].clone(), text(finding, "message").to_owned());
    let known: Vec<_> = found.iter().map(place).collect();
    let new = of_node.into_iter();
    let new = new.filter(|finding| !known.contains(&place(finding)));
    let new = new.map(|mut finding| {
        finding["file"] = DEFINITION_FILE.into();
        finding
    });
    let new = new.collect();
    code::sorted(found, new)
}
