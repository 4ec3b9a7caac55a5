//! `workflows check`: everything that a folder tells without a node.

use anyhow::Result;
use serde_json::Value;

use crate::arguments::CheckWorkflowArguments;
use crate::exit::Exit;
use crate::output;
use crate::workflow::folder::Folder;
use crate::workflow::{code, findings};

pub(super) async fn run(arguments: &CheckWorkflowArguments, as_json: bool) -> Result<Exit> {
    let folder = Folder::read(&arguments.dir)?;
    let found = code::findings(&folder, arguments.pipedream).await;
    let errors = found.iter().filter(|finding| findings::is_error(finding));
    let errors = errors.count();
    match as_json {
        true => output::json(&Value::from(found))?,
        false => {
            for finding in &found {
                output::data(&findings::line(&folder.dir, finding))?;
            }
            if found.is_empty() {
                output::note("nothing was found");
            }
        }
    }
    Ok(match errors {
        0 => Exit::Success,
        _ => Exit::Failure,
    })
}
