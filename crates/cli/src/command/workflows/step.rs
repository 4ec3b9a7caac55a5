//! The display of a step of a run, as a line while the run goes on and as a row of its card.

use std::io::IsTerminal as _;

use serde_json::{Map, Value};

use super::super::outcome;
use crate::source::text;
use crate::timestamp;

/// Characters of a result that a line has room for.
const RESULT_CHARS: usize = 80;

pub(super) fn of(run: &Value) -> &[Value] {
    run["steps"].as_array().map_or(&[], Vec::as_slice)
}

/// Whether nothing more happens at the step.
pub(super) fn has_ended(step: &Value) -> bool {
    !matches!(text(step, "status"), "running" | "waiting")
}

/// A step that has ended, as a line.
pub(super) fn line(step: &Value) -> String {
    let at = timestamp::from_millis(&step["ended_at_ms"]);
    let line = format!(
        "{at}  {path}  {status}  {took}  {result}",
        path = text(step, "path"),
        status = status(step),
        took = took(step),
        result = result(step)
    );
    line.trim_end().to_owned()
}

/// The step as cells: path, status, tries, time and result.
pub(super) fn row(step: &Value) -> Vec<String> {
    vec![
        text(step, "path").to_owned(),
        status(step).to_owned(),
        step["attempts"].to_string(),
        took(step),
        result(step),
    ]
}

/// The whole of a step's result: what it returned, and its other exports.
pub(super) fn whole_result(step: &Value) -> Option<String> {
    let mut exports = step["exports"].as_object().cloned().unwrap_or_default();
    if !step["return_value"].is_null() {
        let returned = ("$return_value".to_owned(), step["return_value"].clone());
        exports = Map::from_iter([returned])
            .into_iter()
            .chain(exports)
            .collect();
    }
    let path = text(step, "path");
    let exports = exports.into_iter();
    let lines: Vec<_> = exports
        .map(|(name, value)| format!("{path}.{name}  {value}"))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The lines that a step has logged, each with the step.
pub(super) fn log_lines(step: &Value, has_colour: bool) -> impl Iterator<Item = (i64, String)> {
    let path = text(step, "path");
    let lines = step["logs"].as_array().into_iter().flatten();
    lines.map(move |line| {
        let at = line["ts"].as_i64().unwrap_or_default();
        (at, format!("{path}  {}", outcome::entry(line, has_colour)))
    })
}

/// The failure of a step, with its stack.
pub(super) fn failure(step: &Value) -> Option<String> {
    let error = step.get("error").filter(|error| !error.is_null())?;
    Some(format!(
        "{}: {}",
        text(step, "path"),
        outcome::thrown(error)
    ))
}

pub(super) fn took(timed: &Value) -> String {
    let began = timed["started_at_ms"].as_i64();
    let ended = timed["ended_at_ms"].as_i64();
    match (began, ended) {
        (Some(began), Some(ended)) => format!("{} ms", ended - began),
        _ => "-".to_owned(),
    }
}

fn status(step: &Value) -> &str {
    text(step, "status")
}

/// The line that the code gives about itself, or the beginning of its result.
fn result(step: &Value) -> String {
    let summary = text(&step["exports"], "$summary");
    let value = &step["return_value"];
    let result = match (summary, value) {
        ("", Value::Null) => String::new(),
        ("", value) => value.to_string(),
        (summary, _) => summary.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    beginning(&result)
}

/// The part of a text that a line of a terminal has room for; a program gets all of it.
pub(super) fn beginning(text: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    match text.char_indices().nth(RESULT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_shows_the_summary_or_else_the_result() {
        let mut step = json!({
            "path": "route.large.approve", "status": "succeeded", "started_at_ms": 1_767_225_600_000_i64,
            "ended_at_ms": 1_767_225_600_042_i64, "return_value": {"a": 1}, "exports": {"$summary": "two\nlines"},
        });
        let head = "2026-01-01T00:00:00.042Z  route.large.approve  succeeded  42 ms";
        assert_eq!(line(&step), format!("{head}  two lines"));
        step["exports"] = json!({});
        assert_eq!(line(&step), format!("{head}  {{\"a\":1}}"));
        step["return_value"] = json!(null);
        assert_eq!(line(&step), head);
    }

    #[test]
    fn the_whole_result_has_the_value_and_all_exports() {
        let mut step = json!({
            "path": "a", "return_value": {"n": "x".repeat(200)}, "exports": {"$summary": "done", "rows": [1]},
        });
        let value = format!("{{\"n\":\"{}\"}}", "x".repeat(200));
        assert_eq!(
            whole_result(&step).unwrap(),
            format!("a.$return_value  {value}\na.$summary  \"done\"\na.rows  [1]")
        );
        step["return_value"] = json!(null);
        step["exports"] = json!({});
        assert_eq!(whole_result(&step), None);
    }

    #[test]
    fn a_failure_names_its_step() {
        let step = json!({"path": "a", "error": {"name": "Error", "message": "no", "stack": "Error: no\n    at x"}});
        assert_eq!(failure(&step).unwrap(), "a: Error: no\n    at x");
        assert_eq!(failure(&json!({"path": "a", "error": null})), None);
        assert_eq!(failure(&json!({"path": "a"})), None);
    }
}
