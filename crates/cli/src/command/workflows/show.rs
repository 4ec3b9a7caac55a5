//! The display of a workflow: the card after a change, the full one, and the list.

use serde_json::Value;

use super::super::show::{self, active};
use crate::source::{self, text};
use crate::table;
use crate::timestamp;

/// The workflow and its triggers.
pub(in crate::command) fn brief(workflow: &Value) -> String {
    table::card(rows(workflow))
}

/// The same with everything that a person seldom needs.
pub(super) fn full(workflow: &Value) -> String {
    let mut rows = rows(workflow);
    for (label, field) in [
        ("slug", "name_slug"),
        ("deployment", "deployment_id"),
        ("owner", "owner_id"),
    ] {
        rows.push((label.to_owned(), text(workflow, field).to_owned()));
    }
    rows.extend(health(workflow));
    for event in ["created", "updated"] {
        let seconds = &workflow[format!("{event}_at")];
        rows.push((event.to_owned(), timestamp::from_seconds(seconds)));
    }
    table::card(rows)
}

/// A row for each workflow. URLs have no room: they are on the workflow's card.
pub(super) fn listing(workflows: &[Value]) -> table::Listing {
    let rows = workflows.iter().map(|workflow| {
        let triggers = workflow["triggers"].as_array().into_iter().flatten();
        let triggers = triggers.map(|trigger| match text(trigger, "type") {
            "schedule" => origin(trigger),
            kind => kind.to_owned(),
        });
        let health = &workflow["health"];
        vec![
            text(workflow, "id").to_owned(),
            text(workflow, "name").to_owned(),
            active(workflow).to_owned(),
            last_run(health),
            open_runs(health),
            timestamp::listed_millis(&health["last_event"]["indexed_at_ms"]),
            timestamp::listed_millis(&health["next_tick_at_ms"]),
            triggers.collect::<Vec<_>>().join(", "),
            timestamp::listed_seconds(&workflow["updated_at"]),
        ]
    });
    let headers = [
        "id",
        "name",
        "active",
        "last run",
        "open",
        "last event",
        "next tick",
        "triggers",
        "updated",
    ];
    let yielding = [
        "updated",
        "id",
        "triggers",
        "open",
        "last event",
        "next tick",
    ];
    table::overview(&headers, &yielding, rows.collect())
}

/// The newest run, those that have not ended, and the next tick, as the API shows them on request.
fn health(workflow: &Value) -> Vec<(String, String)> {
    let health = &workflow["health"];
    let mut rows = vec![("last run", last_run(health))];
    rows.extend(show::last_event(&health["last_event"]).map(|event| ("last event", event)));
    for (label, field) in [
        ("failing since", "failing_since_ms"),
        ("next tick", "next_tick_at_ms"),
    ] {
        if health[field].is_u64() {
            rows.push((label, timestamp::listed_millis(&health[field])));
        }
    }
    rows.push(("open runs", open_runs(health)));
    let rows = rows.into_iter();
    rows.map(|(label, value)| (label.to_owned(), value))
        .collect()
}

/// The status of the newest run that has ended, and when it was.
fn last_run(health: &Value) -> String {
    let run = &health["last_run"];
    let status = match text(run, "outcome") {
        "" => return "-".to_owned(),
        "returned" => "succeeded",
        "cancelled" => "cancelled",
        _ => "failed",
    };
    format!(
        "{status}, {}",
        timestamp::listed_millis(&run["started_at_ms"])
    )
}

fn open_runs(health: &Value) -> String {
    health["open_runs"]
        .as_u64()
        .map_or("-".to_owned(), |count| count.to_string())
}

fn rows(workflow: &Value) -> Vec<(String, String)> {
    let mut rows = vec![
        ("id".to_owned(), text(workflow, "id").to_owned()),
        ("name".to_owned(), text(workflow, "name").to_owned()),
        ("active".to_owned(), active(workflow).to_owned()),
    ];
    rows.extend(triggers(workflow));
    rows
}

/// The kind of each trigger, and where its events come from.
fn triggers(workflow: &Value) -> impl Iterator<Item = (String, String)> {
    let triggers = workflow["triggers"].as_array().into_iter().flatten();
    triggers.map(|trigger| (text(trigger, "type").to_owned(), origin(trigger)))
}

fn origin(trigger: &Value) -> String {
    let named = ["endpoint_url", "mailbox", "source_id", "emitter_id"];
    let named = named.map(|field| text(trigger, field));
    if let Some(origin) = named.into_iter().find(|origin| !origin.is_empty()) {
        return origin.to_owned();
    }
    let schedule = &trigger["schedule"];
    let Some(times) = source::timer(schedule) else {
        return text(trigger, "id").to_owned();
    };
    match text(schedule, "timezone") {
        "" => times,
        timezone => format!("{times} ({timezone})"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_trigger_tells_where_its_events_come_from() {
        let workflow = json!({"id": "p_1", "name": "Orders", "active": true, "triggers": [
            {"id": "hi_1", "type": "http", "endpoint_url": "http://node/e/t"},
            {"id": "ti_1", "type": "schedule", "schedule": {"cron": "0 3 * * *", "timezone": "Europe/Berlin"}},
            {"id": "ti_2", "type": "schedule", "schedule": {"interval_seconds": 900}},
            {"id": "ei_1", "type": "email", "mailbox": "orders-x1"},
            {"id": "dc_1", "type": "source", "source_id": "dc_1"},
            {"id": "dc_2", "type": "events", "emitter_id": "dc_*"},
        ]});
        assert_eq!(
            brief(&workflow),
            "ID         p_1\n\
             NAME       Orders\n\
             ACTIVE     yes\n\
             HTTP       http://node/e/t\n\
             SCHEDULE   cron 0 3 * * * (Europe/Berlin)\n\
             SCHEDULE   every 15 min\n\
             EMAIL      orders-x1\n\
             SOURCE     dc_1\n\
             EVENTS     dc_*"
        );
    }

    #[test]
    fn a_list_has_the_kinds_of_triggers_and_no_urls() {
        let run = json!({"outcome": "threw", "started_at_ms": 1_767_225_600_000_i64});
        let event = json!({"indexed_at_ms": 1_767_225_600_000_i64, "summary": "one order"});
        let health =
            json!({"last_run": run, "open_runs": 2, "last_event": event, "next_tick_at_ms": null});
        let workflow = json!({"id": "p_1", "name": "Orders", "active": false, "health": health, "triggers": [
            {"id": "hi_1", "type": "http", "endpoint_url": "http://node/e/t"},
            {"id": "ti_2", "type": "schedule", "schedule": {"interval_seconds": 900}},
        ]});
        assert_eq!(
            listing(&[workflow]).unwrap(),
            "ID    NAME     ACTIVE   LAST RUN                           OPEN   LAST EVENT                 NEXT TICK   TRIGGERS             UPDATED\n\
             p_1   Orders   no       failed, 2026-01-01T00:00:00.000Z   2      2026-01-01T00:00:00.000Z   -           http, every 15 min   -"
        );
    }
}
