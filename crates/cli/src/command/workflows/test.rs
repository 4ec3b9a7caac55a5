//! `workflows test`: the tests in a workflow's folder, offline, on the engine and the platform that nodes have. With
//! `--crash` each test is run again for each of its commits, by a node that is killed after it.

mod calls;
mod case;
mod clock;
mod crash;
mod engine;
mod expectation;
mod found;
mod marks;
mod network;
mod node;
mod reading;
mod report;
mod staging;
mod trial;
mod workers;

use anyhow::{Context as _, Result};
use headwater_workflow::definition::Definition;
use serde_json::Value;

use self::case::Case;
use self::expectation::Difference;
use self::network::Network;
use self::report::Report;
use self::trial::{Stage, Trial};
use self::workers::Workers;
use crate::arguments::TestWorkflowArguments;
use crate::exit::Exit;
use crate::output;
use crate::waiting;
use crate::workflow::folder::Folder;
use crate::workflow::{code, findings};

pub(super) async fn run(arguments: &TestWorkflowArguments, as_json: bool) -> Result<Exit> {
    let folder = Folder::read(&arguments.dir)?;
    let found = code::findings(&folder, false).await;
    let errors: Vec<&Value> = found
        .iter()
        .filter(|finding| findings::is_error(finding))
        .collect();
    if !errors.is_empty() {
        for error in errors {
            output::tell(&findings::line(&folder.dir, error));
        }
        return Ok(Exit::Failure);
    }
    let cases = Case::all(&arguments.dir, arguments.only.as_deref())?;
    let definition = Definition::read(folder.definition(), &folder.paths())?;
    let place = tempfile::tempdir().context("cannot create a folder for the tests")?;
    let socket = place.path().join("network");
    let stage = Stage {
        network: Network::open(&socket)?,
        workers: Workers::start(place.path(), &socket).await?,
        folder,
        definition,
    };
    let mut reports = Vec::new();
    for (name, case) in &cases {
        let report = match case {
            Ok(case) => {
                let report = report_of(&stage, case, arguments.crash);
                waiting::shown(&format!("running {name}"), report).await
            }
            Err(error) => Report::of(name).failed_with(error),
        };
        if !as_json {
            output::data(&report.text())?;
        }
        reports.push(report);
    }
    stage.workers.shutdown().await;
    let failed = reports.iter().filter(|report| !report.is_passed()).count();
    match as_json {
        true => output::json(&reports.iter().map(Report::json).collect())?,
        false => output::tell(&report::summary(reports.len(), failed)),
    }
    Ok(match failed {
        0 => Exit::Success,
        _ => Exit::Failure,
    })
}

/// Runs a test, and as often again as it is killed.
async fn report_of(stage: &Stage, case: &Case, crashes: bool) -> Report {
    let mut report = Report::of(&case.name);
    let began_ms = case.began_ms();
    let whole = match stage.run(case, began_ms, None).await {
        Ok(whole) => whole,
        Err(error) => return report.failed_with(&error),
    };
    report.lasted = whole.span.end().since(*whole.span.start());
    report.left_out.clone_from(&whole.left_out);
    report.differences = case.expect.differences(&whole.found);
    report.differences.extend(unexpected(&whole));
    if !crashes || !report.is_passed() {
        return report;
    }
    let mut kills = 0;
    for commit in 1..=whole.commits {
        let killed = match stage.run(case, began_ms, Some(commit)).await {
            Ok(killed) => killed,
            Err(error) => return report.killed_after(commit).failed_with(&error),
        };
        let differences = crash::differences(&whole, &killed);
        if !differences.is_empty() {
            report.differences = differences;
            return report.killed_after(commit);
        }
        // Code may run side by side, and end with fewer commits than before.
        kills += u64::from(killed.was_killed);
    }
    report.kills = Some(kills);
    report
}

fn unexpected(trial: &Trial) -> Option<Difference> {
    let is_empty = trial.unexpected.is_empty();
    (!is_empty).then(|| Difference::new("http", Vec::<String>::new(), trial.unexpected.clone()))
}
