//! `runs`: a source's runs, also those that emitted nothing or failed, and one of them with its consequences; and the runs
//! of all sources and workflows. One of a workflow is shown, too.

mod all;
mod cancel;
mod cell;
mod replay;

use anyhow::Result;
use clap::ValueEnum;
use headwater_model::time::EpochMs;
use serde_json::Value;

use self::cell::{beginning, took};
use super::workflows::run_card;
use super::{dev, outcome, save};
use crate::arguments::{RunsArguments, RunsCommand, RunsFilter};
use crate::bundle;
use crate::client;
use crate::display;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::{self, text};
use crate::table;
use crate::timestamp;
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: RunsArguments) -> Result<Exit> {
    match (arguments.command, arguments.source) {
        (Some(RunsCommand::List(arguments)), _) => all::list(session, &arguments).await?,
        (Some(RunsCommand::Describe(arguments)), _) => describe(session, &arguments.run).await?,
        (Some(RunsCommand::Replay(arguments)), _) => return replay::run(session, &arguments).await,
        (Some(RunsCommand::Cancel(arguments)), _) => cancel::run(session, &arguments.run).await?,
        (None, source) => {
            let source = source.expect("the command line requires it without a subcommand");
            list(session, &source, &arguments.filter).await?;
        }
    }
    Ok(Exit::Success)
}

async fn list(session: &Session, source: &str, filter: &RunsFilter) -> Result<()> {
    let id = source::find_id(&session.client, source).await?;
    let query = query(filter, timestamp::now_ms())?;
    let path = ["sources", &id, "runs"];
    let page = session.client.first(&path, filter.limit, &query);
    let runs = page.await?.data;
    if runs.is_empty() && !session.json {
        output::tell(&match filter.is_any() {
            true => format!("no such runs; `headwater runs {source}` shows all that are kept"),
            false => format!(
                "no runs yet; `headwater describe {source}` shows when it runs, `headwater run {source}` runs it now"
            ),
        });
        return Ok(());
    }
    let headers = [
        "id", "started", "trigger", "outcome", "took", "emitted", "dropped", "error",
    ];
    let yielding = ["dropped", "emitted", "trigger", "took"];
    let rows = |_: &Value| table::overview(&headers, &yielding, runs.iter().map(row).collect());
    session.print(&Value::from(runs.clone()), rows)
}

async fn describe(session: &Session, id: &str) -> Result<()> {
    let run = session.client.get(&["runs", id]).await?;
    match run_card::is_workflows(&run) {
        true => session.print(&run, run_card::described),
        false => {
            let mut file = dev::file_of(text(&run, "source_id"));
            if file.is_none() && text(&run, "outcome") != "returned" {
                file = save::file_of_component(&session.client, text(&run, "component_id")).await;
            }
            session.print(&run, |run| {
                bundle::in_file(&described(run), file.as_deref())
            })
        }
    }
}

fn query(filter: &RunsFilter, now_ms: EpochMs) -> Result<Vec<(&'static str, String)>, UsageError> {
    let outcome = match filter.failed {
        true => Some("failed".to_owned()),
        false => filter.outcome.as_ref().map(name),
    };
    let since = timestamp::given_or_none("--since", filter.since.as_deref(), now_ms)?;
    let pairs = [
        ("outcome", outcome),
        ("trigger", filter.trigger.as_ref().map(name)),
        ("since", since),
    ];
    Ok(client::given(pairs))
}

fn name(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

fn row(run: &Value) -> Vec<String> {
    vec![
        text(run, "id").to_owned(),
        timestamp::listed_millis(&run["started_at_ms"]),
        text(run, "trigger").to_owned(),
        text(run, "outcome").to_owned(),
        took(run),
        run["emitted"].to_string(),
        run["dropped"].to_string(),
        beginning(text(run, "error")),
    ]
}

/// A run as a card, with its consequences below.
fn described(run: &Value) -> String {
    let parts = [
        Some(card(run)),
        events(run),
        lines("LOG", items(run, "logs").iter().map(log)),
        lines("ERRORS", items(run, "errors").iter().map(error)),
        (run["has_more"] == true)
            .then(|| "More events, log lines or errors are not shown.".to_owned()),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    parts.join("\n\n")
}

fn card(run: &Value) -> String {
    let mut rows: Vec<_> = ["id", "source_id", "component_id", "trigger", "outcome"]
        .map(|field| (field, text(run, field).to_owned()))
        .into();
    rows.push(("error", text(run, "error").to_owned()));
    rows.extend(["queued", "started", "ended"].map(|label| {
        let at_ms = &run[format!("{label}_at_ms")];
        (label, timestamp::from_millis(at_ms))
    }));
    rows.push(("took", took(run)));
    rows.push(("limit", limit(run)));
    rows.push(("starts", starts(run)));
    rows.push(("answered", answered(run)));
    rows.push(("emitted", run["emitted"].to_string()));
    rows.push(("dropped", dropped(run)));
    rows.push(("changed", changed(run)));
    rows.extend(["request_id", "trace_id"].map(|field| (field, text(run, field).to_owned())));
    rows.retain(|(_, value)| !value.is_empty());
    let rows = rows.into_iter();
    let label = |label: &str| match label {
        "request_id" => "request".to_owned(),
        label => label.trim_end_matches("_id").to_owned(),
    };
    table::card(rows.map(|(name, value)| (label(name), value)).collect())
}

/// The time that it might take.
fn limit(run: &Value) -> String {
    let limit_ms = run["time_limit_ms"].as_u64();
    limit_ms.map_or_else(String::new, |limit_ms| format!("{limit_ms} ms"))
}

/// The number of its starts, if it is out of the ordinary.
fn starts(run: &Value) -> String {
    match run["starts"].as_u64() {
        None | Some(1) => String::new(),
        Some(0) => "none: it was cancelled before".to_owned(),
        Some(starts) => {
            format!("{starts}: a worker or a node was lost, or credentials were renewed")
        }
    }
}

/// The answer that it sent with `$respond`.
fn answered(run: &Value) -> String {
    let sent = &run["response"];
    match sent["status"].as_u64() {
        Some(status) => format!("{status}, {} bytes", sent["bytes"]),
        None => String::new(),
    }
}

/// The keys of its map that it changed, and the names of the first.
fn changed(run: &Value) -> String {
    let names: Vec<_> = items(run, "changed_key_names")
        .iter()
        .filter_map(|name| Some(one_line(name.as_str()?)))
        .collect();
    let count = run["changed_keys"].as_u64().unwrap_or_default();
    let more = match count > names.len() as u64 {
        true => ", …",
        false => "",
    };
    match names.is_empty() {
        true => String::new(),
        false => format!("{count} of $.service.db: {}{more}", names.join(", ")),
    }
}

/// The number of events that dedupe left out, and the ids of the first.
fn dropped(run: &Value) -> String {
    let count = run["dropped"].to_string();
    let ids: Vec<_> = items(run, "dropped_ids")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    match ids.is_empty() {
        true => count,
        false => format!("{count}: {}", ids.join(", ")),
    }
}

fn events(run: &Value) -> Option<String> {
    let events = items(run, "events");
    let rows = events.iter().map(|event| {
        let channel = match text(event, "event_name") {
            "" => "-",
            name => name,
        };
        vec![
            text(event, "id").to_owned(),
            channel.to_owned(),
            one_line(text(event, "summary")),
            deliveries(event),
        ]
    });
    let headers = ["event", "channel", "summary", "deliveries"];
    (!events.is_empty()).then(|| table::part(&headers, rows.collect()))
}

fn deliveries(event: &Value) -> String {
    let deliveries = items(event, "deliveries").iter();
    let mut shown: Vec<_> = deliveries
        .map(|delivery| format!("{} {}", text(delivery, "id"), text(delivery, "state")))
        .collect();
    if event["has_more_deliveries"] == true {
        shown.push("…".to_owned());
    }
    shown.join("\n")
}

fn log(line: &Value) -> String {
    let time = timestamp::from_millis(&line["ts"]);
    let entry = outcome::entry(line, display::current().has_colour);
    format!("{time}  {entry}")
}

fn error(error: &Value) -> String {
    super::outcome::thrown(&error["error"])
}

fn lines(title: &str, lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| format!("{title}\n{}", lines.join("\n")))
}

fn items<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object[field].as_array().map_or(&[], Vec::as_slice)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
