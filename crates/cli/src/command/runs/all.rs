//! `runs list`: the runs of all sources and workflows, or of one.

use anyhow::Result;
use serde_json::Value;

use super::super::events::emitter;
use super::cell::{beginning, took};
use crate::arguments::ListRunsArguments;
use crate::client;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::workflow;

pub(super) async fn list(session: &Session, arguments: &ListRunsArguments) -> Result<()> {
    let filter = filter(session, arguments).await?;
    let is_filtered = !filter.is_empty();
    let filter = [session.client.scope().await?, filter].concat();
    let path = ["runs"];
    let page = session.client.first(&path, arguments.limit, &filter);
    let runs = page.await?.data;
    if runs.is_empty() && !session.json {
        output::tell(match is_filtered {
            false => "no runs yet; `headwater list` shows the sources and when they run",
            true => "no such runs; `headwater runs list` shows all that are kept",
        });
        return Ok(());
    }
    let headers = [
        "id", "queued", "of", "trigger", "status", "took", "emitted", "error",
    ];
    let yielding = ["emitted", "took", "trigger"];
    let rows = |_: &Value| table::overview(&headers, &yielding, runs.iter().map(row).collect());
    session.print(&Value::from(runs.clone()), rows)
}

/// The filter as the node takes it.
async fn filter(
    session: &Session,
    arguments: &ListRunsArguments,
) -> Result<Vec<(&'static str, String)>> {
    let (field, id) = match &arguments.source {
        Some(given) => match emitter(session, given).await? {
            ("workflows", id) => ("workflow_id", Some(id)),
            (_, id) => ("source_id", Some(id)),
        },
        None => ("source_id", None),
    };
    let now_ms = timestamp::now_ms();
    let since = timestamp::given_or_none("--since", arguments.since.as_deref(), now_ms)?;
    let until = timestamp::given_or_none("--until", arguments.until.as_deref(), now_ms)?;
    let pairs = [
        ("status", arguments.status.clone()),
        (field, id),
        ("trigger", arguments.trigger.clone()),
        ("since", since),
        ("until", until),
        ("min_ms", arguments.min_ms.map(|ms| ms.to_string())),
        ("q", arguments.query.clone()),
        ("origin", arguments.origin.clone()),
    ];
    Ok(client::given(pairs))
}

fn row(run: &Value) -> Vec<String> {
    let outcome = match text(run, "outcome") {
        "" | "returned" | "cancelled" => text(run, "status").to_owned(),
        outcome => format!("{} ({outcome})", text(run, "status")),
    };
    let (took, emitted) = match run["ended_at_ms"].is_null() {
        true => (String::new(), String::new()),
        false => (took(run), run["emitted"].to_string()),
    };
    vec![
        text(run, "id").to_owned(),
        timestamp::listed_millis(&run["queued_at_ms"]),
        text(run, "name").to_owned(),
        workflow::cause(run, text(run, "trigger")),
        outcome,
        took,
        emitted,
        beginning(text(run, "error")),
    ]
}
