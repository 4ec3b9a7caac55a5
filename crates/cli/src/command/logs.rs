//! `logs`: the logs of a source's code, as lines or JSON, once or as they come.

use anyhow::Result;
use serde_json::Value;

use super::stream::Stream;
use crate::arguments::LogsArguments;
use crate::exit::Exit;
use crate::follow::{Followed, Latest};
use crate::session::Session;
use crate::source::{self, text};
use crate::timestamp;

/// Lines that are shown unless the command line says how many.
const LINES: usize = 50;

pub(super) async fn run(session: &Session, arguments: &LogsArguments) -> Result<Exit> {
    let id = source::find_id(&session.client, &arguments.source).await?;
    let stream = Stream {
        followed: Followed {
            path: &["sources", &id, "logs"],
            filter: &[("expand", "event".to_owned())],
            feed: &["sources", &id, "sse"],
            channel: Some("$logs"),
        },
        latest: Latest::asked(arguments.limit, LINES, arguments.since.as_deref())?,
        follow: arguments.follow,
        show: line,
        nothing: format!(
            "nothing was logged; `headwater runs {}` shows whether it runs, and how its runs ended",
            arguments.source
        ),
    };
    stream.print(session).await
}

/// An entry as a line.
pub(super) fn line(summary: &Value) -> String {
    let log = &summary["event"];
    let time = match &log["ts"] {
        Value::String(ts) => ts.clone(),
        ts @ Value::Number(_) => timestamp::from_millis(ts),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            timestamp::from_millis(&summary["indexed_at_ms"])
        }
    };
    format!("{time}  {}", entry(log))
}

/// A log entry without its time, also for `run`, whose entries all are of now.
pub(super) fn entry(log: &Value) -> String {
    let message = &log["message"];
    let message = message
        .as_str()
        .map_or_else(|| message.to_string(), str::to_owned);
    format!("{:<5}  {message}", text(log, "level"))
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
    }
}
