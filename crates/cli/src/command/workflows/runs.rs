//! `workflows runs`: a workflow's runs, those that have ended or those that have not.

use anyhow::Result;
use clap::ValueEnum as _;
use serde_json::Value;

use super::{run_card, step};
use crate::arguments::{WorkflowRunStatus, WorkflowRunsArguments};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::workflow;

pub(super) async fn run(session: &Session, arguments: &WorkflowRunsArguments) -> Result<Exit> {
    let given = &arguments.workflow;
    let id = workflow::find_id(&session.client, given).await?;
    let path = ["workflows", &id, "runs"];
    let query: Vec<_> = arguments.status.map(parameter).into_iter().collect();
    let page = session.client.first(&path, arguments.limit, &query);
    let runs = page.await?.data;
    if runs.is_empty() && !session.json {
        output::tell(&match arguments.status {
            Some(_) => format!(
                "no such runs; `headwater workflows runs {given}` shows those that have ended"
            ),
            None => format!(
                "no runs have ended; `headwater workflows runs {given} --status open` shows those that have not, \
                 `headwater workflows run {given}` starts one"
            ),
        });
        return Ok(Exit::Success);
    }
    session.print(&Value::from(runs.clone()), |_| listing(&runs))?;
    if arguments.status.is_none() && !session.json {
        tell_open(session, &id, given).await?;
    }
    Ok(Exit::Success)
}

/// Says that there are runs that have not ended, which the list leaves out.
async fn tell_open(session: &Session, id: &str, given: &str) -> Result<()> {
    let path = ["workflows", id, "runs"];
    let (name, value) = parameter(WorkflowRunStatus::Open);
    let open = session.client.first(&path, 1, &[(name, value)]).await?;
    if !open.data.is_empty() {
        output::tell(&format!(
            "others have not ended; `headwater workflows runs {given} --status open` shows them"
        ));
    }
    Ok(())
}

fn parameter(status: WorkflowRunStatus) -> (&'static str, String) {
    if status == WorkflowRunStatus::Open {
        return ("open", "true".to_owned());
    }
    let value = status.to_possible_value();
    let name = value.map_or_else(String::new, |value| value.get_name().to_owned());
    ("status", name)
}

pub(super) fn listing(runs: &[Value]) -> table::Listing {
    let rows = runs.iter().map(|run| {
        vec![
            text(run, "id").to_owned(),
            timestamp::listed_millis(&run["queued_at_ms"]),
            run_card::cause(run),
            text(run, "status").to_owned(),
            step::took(run),
            step::beginning(text(run, "error")),
        ]
    });
    let headers = ["id", "queued", "trigger", "status", "took", "error"];
    table::listing(&headers, rows.collect())
}
