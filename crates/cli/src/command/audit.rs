//! `audit`: the records of who did what, when and to which thing; with `--json`, also from where.

use anyhow::Result;
use headwater_model::time::EpochMs;
use serde_json::Value;

use crate::arguments::AuditArguments;
use crate::client;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::usage_error::UsageError;

/// The widths that keep a row within 80 columns, beside a time and the longest name of an action.
const ACTOR_CHARS: usize = 12;
const TARGET_CHARS: usize = 16;

pub(super) async fn run(session: &Session, arguments: &AuditArguments) -> Result<Exit> {
    let mut query = query(arguments, timestamp::now_ms())?;
    query.extend(session.client.scope().await?);
    let page = session.client.first(&["audit"], arguments.limit, &query);
    let records = page.await?.data;
    if records.is_empty() && !session.json {
        output::tell(match query.is_empty() {
            true => {
                "no audit records; the node keeps none if it was started with --retained-audit-days=0"
            }
            false => "no such audit records; `headwater audit` shows the latest of all",
        });
        return Ok(Exit::Success);
    }
    let headers = ["time", "action", "actor", "target"];
    let rows = |_: &Value| table::listing(&headers, records.iter().map(row).collect());
    session.print(&Value::from(records.clone()), rows)?;
    Ok(Exit::Success)
}

fn query(
    arguments: &AuditArguments,
    now_ms: EpochMs,
) -> Result<Vec<(&'static str, String)>, UsageError> {
    let since = timestamp::given_or_none("--since", arguments.since.as_deref(), now_ms)?;
    let until = timestamp::given_or_none("--until", arguments.until.as_deref(), now_ms)?;
    let pairs = [
        ("actor", arguments.actor.clone()),
        ("action", arguments.action.clone()),
        ("target_id", arguments.target.clone()),
        ("since", since),
        ("until", until),
    ];
    Ok(client::given(pairs))
}

fn row(record: &Value) -> Vec<String> {
    let (actor, target) = (&record["actor"], &record["target"]);
    let called = |thing: &Value, field, otherwise| match text(thing, field) {
        "" => text(thing, otherwise).to_owned(),
        name => name.to_owned(),
    };
    let time = timestamp::from_millis(&record["at_ms"]);
    vec![
        // To the second: the milliseconds are in the JSON.
        time.chars().take(19).collect(),
        text(record, "action").to_owned(),
        cut(&called(actor, "username", "via"), ACTOR_CHARS),
        cut(&called(target, "name", "id"), TARGET_CHARS),
    ]
}

/// The beginning of a text, without what a terminal takes for a command.
fn cut(text: &str, chars_max: usize) -> String {
    let shown = text.chars().map(|c| if c.is_control() { '�' } else { c });
    match text.chars().count() > chars_max {
        true => shown.take(chars_max - 1).chain(['…']).collect(),
        false => shown.collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_has_80_columns_at_most() {
        let record = json!({
            "at_ms": 1_700_000_000_123_u64, "action": "workspace.remove_member",
            "actor": {"via": "key", "username": "x".repeat(64)},
            "target": {"id": "dc_1", "name": "y".repeat(256)},
        });
        let shown = table::part(&["time", "action", "actor", "target"], vec![row(&record)]);
        let widths: Vec<usize> = shown.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width <= 80), "{shown}");
        assert!(shown.contains("2023-11-14T22:13:20 "), "{shown}");
    }

    #[test]
    fn nobody_and_things_without_a_name_are_told_otherwise() {
        let record = json!({
            "at_ms": 0, "action": "session.refuse", "actor": {"via": "nobody", "username": null},
            "target": {"id": "a\u{1b}[1m", "name": null},
        });
        assert_eq!(row(&record)[2..], ["nobody", "a�[1m"]);
    }
}
