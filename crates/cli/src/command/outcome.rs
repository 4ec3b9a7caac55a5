//! The end of a run, as `run` and `run-action` show it: logs and errors go to standard error, and a run
//! that did not return is a failure of the command.

use std::path::Path;

use serde_json::{Map, Value};

use crate::bundle;
use crate::display;
use crate::exit::{self, Exit};
use crate::output;
use crate::paint::{Meaning, painted};
use crate::session::Session;
use crate::source::text;

/// Prints the logs of the run, of code that was saved from a file, if it was; with `--json` they are
/// part of the data.
pub(super) fn print_logs(session: &Session, report: &Value, file: Option<&Path>) {
    if session.json {
        return;
    }
    for log in report["logs"].as_array().into_iter().flatten() {
        let entry = entry(log, display::has_colour(&std::io::stderr()));
        output::note(&bundle::in_file(&entry, file));
    }
}

/// A log entry without its time: all of a run are of now.
pub(super) fn entry(log: &Value, has_colour: bool) -> String {
    let message = &log["message"];
    let message = message
        .as_str()
        .map_or_else(|| message.to_string(), str::to_owned);
    let level = format!("{:<5}", text(log, "level"));
    let meaning = Meaning::of_level(&level);
    format!("{}  {message}", painted(&level, meaning, has_colour))
}

/// Prints the error, if there is one, of code that was saved from a file, if it was.
pub(super) fn report(outcome: &Value, file: Option<&Path>) -> Exit {
    if text(outcome, "status") == "returned" {
        return Exit::Success;
    }
    let failure = bundle::in_file(&failure(outcome), file);
    match display::current().is_json {
        true => output::json_note(&exit::json_of("component_failed", &failure, Map::new())),
        false => output::note(&format!("error: {failure}")),
    }
    Exit::Failure
}

/// The number of events that a run emitted, in words.
pub(super) fn emitted(report: &Value) -> String {
    match report["events"].as_u64() {
        Some(1) => "1 event".to_owned(),
        count => format!("{} events", count.unwrap_or_default()),
    }
}

fn failure(outcome: &Value) -> String {
    match text(outcome, "status") {
        "limit_exceeded" => match (text(outcome, "limit"), text(outcome, "message")) {
            ("wall", message) => format!("{message} (the operator's `serve --run-timeout`)"),
            ("memory", message) => format!("{message} (the operator's `serve --worker-heap-mib`)"),
            (_, message) => message.to_owned(),
        },
        "lost" => "the worker process was lost; run it again".to_owned(),
        "cancelled" => format!("the run was {}", text(outcome, "message")),
        _ => thrown(&outcome["error"]),
    }
}

/// An error that a component threw. A wrong configuration is not the code's fault: where it was noticed
/// helps nobody.
pub(super) fn thrown(error: &Value) -> String {
    let (name, message) = (text(error, "name"), text(error, "message"));
    match text(error, "stack") {
        _ if name == "ConfigurationError" => {
            format!("the component's configuration is wrong: {message}")
        }
        "" => format!("{name}: {message}"),
        // A stack starts with the name and the message.
        stack => stack.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_bad_outcome_says_what_happened() {
        let threw = json!({"status": "threw", "error": {"name": "E", "message": "m"}});
        assert_eq!(failure(&threw), "E: m");
        let limit = json!({"status": "limit_exceeded", "limit": "wall", "message": "the run took longer than 60 s"});
        let told = "the run took longer than 60 s (the operator's `serve --run-timeout`)";
        assert_eq!(failure(&limit), told);
        assert!(failure(&json!({"status": "lost"})).contains("lost"));
        let cancelled = json!({"status": "cancelled", "message": "cancelled by request"});
        assert_eq!(failure(&cancelled), "the run was cancelled by request");
    }

    #[test]
    fn a_wrong_configuration_is_told_without_a_stack() {
        let error = json!({
            "name": "ConfigurationError", "message": "pick a board",
            "stack": "ConfigurationError: pick a board\n    at run (component.mjs:7:11)",
        });
        assert_eq!(
            thrown(&error),
            "the component's configuration is wrong: pick a board"
        );
    }
}
