//! The display of a source, for the commands that end with one.

use serde_json::Value;

use crate::output;
use crate::source::{self, text};
use crate::table;

/// The fields that a person needs right after a change: the source, and its triggers.
pub(super) fn brief(source: &Value) -> String {
    table::card(rows(source))
}

/// Prints the features of the component that do not work on the node.
pub(super) fn warnings(source: &Value) {
    let warnings = source.get("warnings").and_then(Value::as_array);
    for warning in warnings.into_iter().flatten().filter_map(Value::as_str) {
        output::note(&format!("note: {warning}"));
    }
}

pub(super) fn rows(source: &Value) -> Vec<(String, String)> {
    let mut rows = vec![
        ("id".to_owned(), text(source, "id").to_owned()),
        ("name".to_owned(), text(source, "name").to_owned()),
        ("active".to_owned(), active(source).to_owned()),
    ];
    if source.get("isolated") == Some(&Value::Bool(true)) {
        rows.push(("worker".to_owned(), "its own (isolated)".to_owned()));
    }
    let endpoints = source::endpoints(source).into_iter();
    rows.extend(endpoints.map(|url| ("endpoint".to_owned(), url)));
    let timers = source::timers(source).into_iter();
    rows.extend(timers.map(|timer| ("timer".to_owned(), timer)));
    rows
}

pub(super) fn active(source: &Value) -> &'static str {
    match source.get("active").and_then(Value::as_bool) {
        Some(false) => "no",
        _ => "yes",
    }
}
