//! `list`: the sources, one line each.

use anyhow::Result;
use serde_json::Value;

use super::show;
use crate::arguments::ListSourcesArguments;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::{self, text};
use crate::table;
use crate::timestamp;

pub(super) async fn run(session: &Session, wanted: &ListSourcesArguments) -> Result<Exit> {
    let path = ["users", "me", "sources"];
    let mut parameters = session.client.scope().await?;
    let words = (!wanted.words.is_empty()).then(|| ("q", wanted.words.join(" ")));
    parameters.extend(words);
    let filters = [
        ("state", &wanted.state),
        ("trigger", &wanted.trigger),
        ("app", &wanted.app),
        ("component", &wanted.component),
    ];
    let given = filters
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.clone()?)));
    parameters.extend(given);
    parameters.push(("expand", "health".to_owned()));
    let sources = session.client.first(&path, usize::MAX, &parameters).await?;
    let sources = sources.data;
    let is_reduced = !wanted.words.is_empty() || filters.iter().any(|(_, value)| value.is_some());
    if sources.is_empty() && !session.json {
        output::tell(match is_reduced {
            true => "no source is like this; `headwater list` shows all",
            false => "no sources yet; deploy one with `headwater deploy FILE`",
        });
        return Ok(Exit::Success);
    }
    let rows = |_: &Value| {
        let rows = sources.iter().map(|source| row(source, &sources));
        table::overview(
            &HEADERS,
            &["created", "id", "trigger", "last event", "next tick"],
            rows.collect(),
        )
    };
    session.print(&Value::from(sources.clone()), rows)?;
    Ok(Exit::Success)
}

const HEADERS: [&str; 8] = [
    "id",
    "name",
    "active",
    "last run",
    "last event",
    "next tick",
    "trigger",
    "created",
];

fn row(source: &Value, all: &[Value]) -> Vec<String> {
    let mut triggers = source::timers(source);
    triggers.extend(source::endpoints(source));
    let health = show::Health::of(source);
    vec![
        text(source, "id").to_owned(),
        name(source, all),
        show::active(source).to_owned(),
        health.last_run(),
        health.last_event_at(),
        health.next_tick(),
        triggers.join(", "),
        timestamp::listed_seconds(&source["created_at"]),
    ]
}

/// The name; if others have it, behind the one that tells the source from them: narrow columns show the beginning.
fn name(source: &Value, all: &[Value]) -> String {
    let name = text(source, "name");
    let namesakes = all.iter().filter(|other| text(other, "name") == name);
    match namesakes.count() {
        0 | 1 => name.to_owned(),
        _ => format!("{} ({name})", source::called_among(source, all)),
    }
}
