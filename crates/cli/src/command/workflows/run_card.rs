//! A workflow's run in full: the card, its event, steps, waits, sends, log lines and failures.

use serde_json::Value;

use super::{logs, step};
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::workflow;

/// Whether a run is a workflow's, as against a source's.
pub(in crate::command) fn is_workflows(run: &Value) -> bool {
    run["workflow_id"].is_string()
}

/// The run as text.
pub(in crate::command) fn described(run: &Value) -> String {
    let failures = step::of(run).iter().filter_map(step::failure);
    let results = step::of(run).iter().filter_map(step::whole_result);
    let parts = [
        Some(card(run)),
        event(run),
        steps(run),
        lines("RESULTS", results.collect()),
        waiting(run),
        sends(run),
        emitted(run),
        lines("LOG", logs::lines(run)),
        lines("ERRORS", failures.collect()),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    parts.join("\n\n")
}

/// The trigger as files name its type.
fn trigger(run: &Value) -> &str {
    match text(run, "trigger") {
        "timer" => "schedule",
        trigger => trigger,
    }
}

/// The cause in a list.
pub(super) fn cause(run: &Value) -> String {
    workflow::cause(run, trigger(run))
}

/// The waits that can be answered.
pub(super) fn waits(run: &Value) -> &[Value] {
    items(run, "waits")
}

/// The URLs of a wait, by what they do.
pub(super) fn urls(wait: &Value) -> Vec<(&'static str, &str)> {
    let urls = ["resume", "cancel", "rerun"].into_iter();
    let urls = urls.map(|action| (action, text(wait, &format!("{action}_url"))));
    urls.filter(|(_, url)| !url.is_empty()).collect()
}

fn card(run: &Value) -> String {
    let mut rows: Vec<_> = [
        ("id", "id"),
        ("workflow", "workflow_id"),
        ("deployment", "deployment_id"),
        ("trigger", "trigger"),
        ("status", "status"),
        ("reason", "reason"),
        ("error", "error"),
        ("replay of", "replay_of"),
    ]
    .map(|(label, field)| (label.to_owned(), text(run, field).to_owned()))
    .into();
    for (_, value) in rows.iter_mut().filter(|(label, _)| label == "trigger") {
        *value = trigger(run).to_owned();
    }
    for label in ["queued", "started", "ended"] {
        let at_ms = &run[format!("{label}_at_ms")];
        if !at_ms.is_null() {
            rows.push((label.to_owned(), timestamp::from_millis(at_ms)));
        }
    }
    rows.push(("took".to_owned(), step::took(run)));
    rows.push(("trace".to_owned(), text(run, "trace_id").to_owned()));
    rows.retain(|(_, value)| !matches!(value.as_str(), "" | "-"));
    table::card(rows)
}

fn event(run: &Value) -> Option<String> {
    let event = run.get("event").filter(|event| !event.is_null())?;
    Some(format!("EVENT\n{event:#}"))
}

fn steps(run: &Value) -> Option<String> {
    let rows: Vec<_> = step::of(run).iter().map(step::row).collect();
    let headers = ["step", "status", "attempts", "took", "result"];
    (!rows.is_empty()).then(|| table::part(&headers, rows))
}

fn waiting(run: &Value) -> Option<String> {
    let rows = waits(run).iter().map(|wait| {
        let urls = urls(wait).into_iter().map(|(_, url)| url);
        vec![
            text(wait, "path").to_owned(),
            text(wait, "kind").to_owned(),
            timestamp::from_millis(&wait["expires_at_ms"]),
            urls.collect::<Vec<_>>().join("\n"),
        ]
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| table::part(&["wait", "kind", "until", "urls"], rows))
}

fn sends(run: &Value) -> Option<String> {
    let rows = items(run, "sends").iter().map(|send| {
        vec![
            text(send, "path").to_owned(),
            text(send, "way").to_owned(),
            text(send, "state").to_owned(),
            send["attempts"].to_string(),
            answer(&send["result"]),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let headers = ["send of", "way", "state", "attempts", "answer"];
    (!rows.is_empty()).then(|| table::part(&headers, rows))
}

/// The events that its steps emitted.
fn emitted(run: &Value) -> Option<String> {
    let rows = items(run, "emitted").iter().map(|event| {
        let data = match event["event"].get("raw_event") {
            Some(emitted) => emitted.to_string(),
            // A preview of a long one.
            None => text(&event["event"], "preview").to_owned(),
        };
        vec![
            text(event, "id").to_owned(),
            timestamp::from_millis(&event["indexed_at_ms"]),
            text(&event["metadata"], "name").to_owned(),
            step::beginning(&data),
        ]
    });
    let mut rows: Vec<_> = rows.collect();
    if run["has_more_emitted"] == true {
        rows.push(vec!["…".to_owned()]);
    }
    (!rows.is_empty()).then(|| table::part(&["emitted", "time", "channel", "event"], rows))
}

/// The error of a message's last attempt, or the answer to it. The request is with `--json`.
fn answer(result: &Value) -> String {
    let error = text(result, "error");
    let response = match &result["response"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        response @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            response.to_string()
        }
    };
    let parts = [error, response.as_str()];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn lines(title: &str, lines: Vec<String>) -> Option<String> {
    (!lines.is_empty()).then(|| format!("{title}\n{}", lines.join("\n")))
}

fn items<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object[field].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_that_failed_shows_why_whatever_it_asked_for() {
        let result = json!({
            "attempt": 1, "at_ms": 1, "request": {"text": "x".repeat(500)}, "error": "550 no such mailbox",
        });
        assert_eq!(answer(&result), "550 no such mailbox");
        let refused = json!({"request": {}, "response": {"status": 404}, "error": "status 404"});
        assert_eq!(answer(&refused), "status 404\n{\"status\":404}");
        assert_eq!(answer(&Value::Null), "");
    }

    #[test]
    fn what_was_emitted_is_listed_with_its_channel_and_data() {
        let of = |channel: &str, event: Value| {
            json!({
                "id": "17-1", "indexed_at_ms": 1, "event": event, "metadata": {"name": channel},
            })
        };
        let events = [
            of("", json!({"raw_event": {"n": 1}})),
            of(
                "news",
                json!({"truncated": true, "preview": "{\"raw_event\":\"long", "size_bytes": 9}),
            ),
        ];
        let shown = emitted(&json!({"emitted": events, "has_more_emitted": true})).unwrap();
        let lines: Vec<_> = shown.lines().collect();
        assert!(
            lines[1].contains("17-1") && lines[1].ends_with("{\"n\":1}"),
            "{shown}"
        );
        assert!(
            lines[2].contains("news") && lines[2].contains("long"),
            "{shown}"
        );
        assert!(lines[3].starts_with('…'), "{shown}");
        assert_eq!(emitted(&json!({"emitted": []})), None);
    }

    #[test]
    fn a_schedule_is_called_as_files_call_it() {
        for (trigger, shown) in [("timer", "schedule"), ("http", "http")] {
            assert_eq!(super::trigger(&json!({ "trigger": trigger })), shown);
        }
    }
}
