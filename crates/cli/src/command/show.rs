//! The display of a source, for the commands that end with one.

use serde_json::Value;

use crate::output;
use crate::source::{self, text};
use crate::table;
use crate::timestamp;

/// The fields that a person needs right after a change: the source, and its triggers.
pub(super) fn brief(source: &Value) -> String {
    table::card(rows(source))
}

/// Prints the features of the component that do not work on the node.
pub(super) fn warnings(source: &Value) {
    let warnings = source.get("warnings").and_then(Value::as_array);
    for warning in warnings.into_iter().flatten().filter_map(Value::as_str) {
        output::tell(&format!("note: {warning}"));
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

/// The time of the newest event, and its summary; none where there is none.
pub(super) fn last_event(event: &Value) -> Option<String> {
    let at_ms = &event["indexed_at_ms"];
    let at = at_ms.is_u64().then(|| timestamp::listed_millis(at_ms))?;
    Some(match text(event, "summary") {
        "" => at,
        summary => format!("{at}, {summary}"),
    })
}

/// The newest run and event of a source and its next tick, as the API shows them on request.
pub(super) struct Health<'a>(&'a Value);

impl<'a> Health<'a> {
    pub(super) fn of(source: &'a Value) -> Self {
        Self(&source["health"])
    }

    /// The outcome of the newest run, and when it was.
    pub(super) fn last_run(&self) -> String {
        let run = &self.0["last_run"];
        match text(run, "outcome") {
            "" => "-".to_owned(),
            outcome => format!(
                "{outcome}, {}",
                timestamp::listed_millis(&run["started_at_ms"])
            ),
        }
    }

    pub(super) fn last_event_at(&self) -> String {
        timestamp::listed_millis(&self.0["last_event"]["indexed_at_ms"])
    }

    pub(super) fn next_tick(&self) -> String {
        timestamp::listed_millis(&self.0["next_tick_at_ms"])
    }

    /// The rows of a card.
    pub(super) fn rows(&self) -> Vec<(String, String)> {
        if self.0.is_null() {
            return Vec::new();
        }
        let mut rows = vec![("last run", self.last_run())];
        if self.0["failing_since_ms"].is_u64() {
            let since = timestamp::listed_millis(&self.0["failing_since_ms"]);
            rows.push(("failing since", since));
        }
        rows.extend(last_event(&self.0["last_event"]).map(|event| ("last event", event)));
        if self.0["next_tick_at_ms"].is_u64() {
            rows.push(("next tick", self.next_tick()));
        }
        let rows = rows.into_iter();
        rows.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
