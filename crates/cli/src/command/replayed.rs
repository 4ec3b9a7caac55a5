//! The replay of a source's run, as the commands that ask for one show it.

use anyhow::Result;
use serde_json::Value;

use super::{outcome, run, trial};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

/// Whether the replay is of a source's run.
pub(crate) fn is_sources(replay: &Value) -> bool {
    replay["source_id"].is_string()
}

/// Shows the run, the trial, or the plan if nothing was started. A run that did not return is a failure of the command.
pub(crate) fn tell(session: &Session, replay: &Value) -> Result<Exit> {
    let (report, show): (_, fn(&Value) -> String) = match (&replay["run"], &replay["trial"]) {
        (Value::Null, Value::Null) => {
            session.print(replay, plan)?;
            output::tell("nothing was started");
            return Ok(Exit::Success);
        }
        (Value::Null, report) => (report, trial::show),
        (report, _) => (report, run::show),
    };
    outcome::print_logs(session, report, None);
    session.print(replay, |_| show(report))?;
    if !replay["trial"].is_null() {
        output::tell("a trial: its events went nowhere, and the key-value map is as it was");
    }
    Ok(outcome::report(&report["outcome"], None))
}

fn plan(replay: &Value) -> String {
    let deployment = match text(replay, "deployment_id") {
        "" => "not kept any more",
        id => id,
    };
    let event = &replay["event"];
    let event = match event.is_null() {
        true => "not known: give it with --event".to_owned(),
        false => event.to_string(),
    };
    table::card(vec![
        ("source".to_owned(), text(replay, "source_id").to_owned()),
        ("deployment".to_owned(), deployment.to_owned()),
        ("event".to_owned(), event),
    ])
}
