//! `events`: the events of a source or workflow as lines or JSON, once or as they come.

use anyhow::Result;
use serde_json::{Value, json};

use super::attempt;
use super::stream::Stream;
use crate::arguments::EventsArguments;
use crate::exit::Exit;
use crate::follow::{Followed, Latest};
use crate::session::Session;
use crate::source::{self, text};
use crate::table;
use crate::timestamp;
use crate::workflow::{self, folder};

/// Events that are shown unless the command line says how many.
const EVENTS: usize = 10;
/// The part of an event that a line shows: a little more than the listing's previews have.
const LINE_BYTES: usize = 2048;

pub(super) async fn run(session: &Session, arguments: &EventsArguments) -> Result<Exit> {
    let (kind, id) = emitter(session, &arguments.source).await?;
    if let (Some(event), Some(url)) = (&arguments.event, &arguments.send_to) {
        let body = json!({"emitter_id": id, "event_id": event, "url": url});
        let sent = session.client.post(&["events", "send"], &body).await?;
        session.print(&sent, attempt::answered)?;
        return Ok(attempt::exit(&sent));
    }
    if let Some(event) = &arguments.event {
        let event = session.client.get(&[kind, &id, "events", event]).await?;
        session.print(&event, whole)?;
        return Ok(Exit::Success);
    }
    let mut filter = Vec::new();
    if let Some(channel) = &arguments.channel {
        filter.push(("event_name", channel.clone()));
    }
    // A line has room for a preview; JSON is for programs, which need all of it.
    if session.json || arguments.full {
        filter.push(("expand", "event".to_owned()));
    }
    let list = Followed {
        path: &[kind, &id, "event_summaries"],
        filter: &filter,
        feed: &[kind, &id, "sse"],
        channel: arguments.channel.as_deref(),
    };
    let stream = Stream {
        lists: &[list],
        latest: Latest::asked(arguments.limit, EVENTS, arguments.since.as_deref())?,
        follow: arguments.follow,
        show: if arguments.full { &whole } else { &line },
        open: None,
        nothing: nothing(arguments, kind),
    };
    stream.print(session).await
}

/// The source or workflow, with the name of its kind in the API.
pub(super) async fn emitter(session: &Session, given: &str) -> Result<(&'static str, String)> {
    let client = &session.client;
    let is_source =
        given.starts_with("dc_") || source::find_by_name(client, given).await?.is_some();
    let is_folder = || folder::is_workflow(&folder::named(given.into()));
    match !is_source && (is_folder() || source::is_workflow(client, given).await) {
        true => Ok(("workflows", workflow::find_id(client, given).await?)),
        false => Ok(("sources", source::find_id(client, given).await?)),
    }
}

/// A source that fails, or runs and emits nothing, looks like one that does not run.
fn nothing(arguments: &EventsArguments, kind: &str) -> String {
    let shown = match &arguments.channel {
        Some(channel) => format!("no events on `{channel}`"),
        None => "no events".to_owned(),
    };
    let emitter = &arguments.source;
    let runs = match kind {
        "workflows" => "workflows runs",
        _ => "runs",
    };
    format!("{shown}; `headwater {runs} {emitter}` shows whether it runs, and how its runs ended")
}

/// An event as a card, with its data below.
fn whole(event: &Value) -> String {
    let metadata = &event["metadata"];
    let mut rows = vec![
        ("id", text(event, "id").to_owned()),
        ("emitted", timestamp::from_millis(&event["indexed_at_ms"])),
    ];
    for (label, object, field) in [
        ("channel", metadata, "name"),
        ("summary", metadata, "summary"),
        ("deduped by", metadata, "id"),
        ("run", metadata, "run_id"),
        ("request", event, "request_id"),
        ("trace", event, "trace_id"),
    ] {
        let value = match &object[field] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // A key that dedupe compares may be a number.
            key @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                key.to_string()
            }
        };
        if !value.is_empty() {
            rows.push((label, value));
        }
    }
    let rows = rows.into_iter();
    let card = table::card(rows.map(|(name, value)| (name.to_owned(), value)).collect());
    format!("{card}\n{:#}\n", event["event"])
}

/// An entry as a line.
pub(super) fn line(event: &Value) -> String {
    let metadata = &event["metadata"];
    let channel = match text(metadata, "name") {
        "" => "-",
        name => name,
    };
    let shown = match text(metadata, "summary") {
        "" => beginning(event["event"].to_string()),
        // A line per event, whatever the component put into its summary.
        summary => summary.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let time = timestamp::from_millis(&event["indexed_at_ms"]);
    format!("{time}  {channel}  {shown}")
}

/// The stream has every event whole, which may be more than a line has room for.
fn beginning(mut text: String) -> String {
    if text.len() > LINE_BYTES {
        text.truncate(text.floor_char_boundary(LINE_BYTES));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_the_summary_or_else_the_event() {
        let summarised = json!({
            "indexed_at_ms": 1_767_225_600_000_i64, "event": {"a": 1},
            "metadata": {"name": "new", "summary": "two\nlines"},
        });
        assert_eq!(
            line(&summarised),
            "2026-01-01T00:00:00.000Z  new  two lines"
        );
        let plain = json!({
            "indexed_at_ms": 1_767_225_600_000_i64, "event": {"a": 1}, "metadata": {"name": ""},
        });
        assert_eq!(line(&plain), "2026-01-01T00:00:00.000Z  -  {\"a\":1}");
    }
}
