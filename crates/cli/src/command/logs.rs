//! `logs`: what a source's code wrote and how its runs failed, in one order, as lines or JSON, once or as they come.

use std::path::Path;

use anyhow::Result;
use headwater_model::channel::Channel;
use serde_json::Value;

use super::open_lines::OpenLines;
use super::outcome;
use super::stream::Stream;
use crate::arguments::LogsArguments;
use crate::bundle;
use crate::display;
use crate::exit::Exit;
use crate::follow::{Followed, Latest};
use crate::paint::{Meaning, painted};
use crate::session::Session;
use crate::source::{self, text};
use crate::timestamp;

/// Lines that are shown unless the command line says how many.
const LINES: usize = 50;

pub(super) async fn run(session: &Session, arguments: &LogsArguments) -> Result<Exit> {
    let id = source::find_id(&session.client, &arguments.source).await?;
    let whole = ("expand", "event".to_owned());
    let feed = &["sources", &id, "sse"];
    let logs = Followed {
        path: &["sources", &id, "logs"],
        filter: std::slice::from_ref(&whole),
        feed,
        channel: Some(Channel::LOGS),
    };
    let errors = Followed {
        path: &["sources", &id, "event_summaries"],
        filter: &[whole.clone(), ("event_name", Channel::ERRORS.to_owned())],
        feed,
        channel: Some(Channel::ERRORS),
    };
    let both = [logs, errors];
    // Programs read items of one shape unless they ask for both.
    let lists = match session.json && !arguments.errors {
        true => &both[..1],
        false => &both,
    };
    let file = match session.json {
        true => None,
        false => super::run::file_of(session, &id).await,
    };
    let path = ["sources", id.as_str(), "logs", "open"];
    let open = OpenLines::new(&path);
    let has_colour = display::current().has_colour;
    let stream = Stream {
        lists,
        latest: Latest::asked(arguments.limit, LINES, arguments.since.as_deref())?,
        follow: arguments.follow,
        show: &|item| match text(&item["metadata"], "name") {
            Channel::ERRORS => thrown_on(item, file.as_deref(), has_colour),
            _ => bundle::in_file(&line_on(item, has_colour), file.as_deref()),
        },
        // They are not events yet, and programs read events.
        open: (!session.json).then_some(&open),
        nothing: format!(
            "nothing was logged, and no run failed; `headwater runs {}` shows whether it runs",
            arguments.source
        ),
    };
    stream.print(session).await
}

/// The failure of a run, with a stack that names the file of the code, if it is known.
pub(super) fn thrown(summary: &Value, file: Option<&Path>) -> String {
    thrown_on(summary, file, false)
}

fn thrown_on(summary: &Value, file: Option<&Path>, has_colour: bool) -> String {
    let time = timestamp::from_millis(&summary["indexed_at_ms"]);
    let thrown = outcome::thrown(&summary["event"]["error"]);
    let level = painted("error", Some(Meaning::Bad), has_colour);
    format!("{time}  {level}  {}", bundle::in_file(&thrown, file))
}

/// An entry as a line.
pub(super) fn line(summary: &Value) -> String {
    line_on(summary, false)
}

fn line_on(summary: &Value, has_colour: bool) -> String {
    let log = &summary["event"];
    let time = match &log["ts"] {
        Value::String(ts) => ts.clone(),
        ts @ Value::Number(_) => timestamp::from_millis(ts),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            timestamp::from_millis(&summary["indexed_at_ms"])
        }
    };
    format!("{time}  {}", outcome::entry(log, has_colour))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_has_time_level_and_message() {
        let summary = json!({"indexed_at_ms": 0, "event": {
            "level": "warn", "message": "slow", "ts": 1_767_225_600_000_i64,
        }});
        assert_eq!(line(&summary), "2026-01-01T00:00:00.000Z  warn   slow");
        assert_eq!(
            line_on(&summary, true),
            "2026-01-01T00:00:00.000Z  \u{1b}[33mwarn \u{1b}[0m  slow"
        );
    }
}
