//! `usage`: runs and the time of their code, day by day or by source, beside the quota of the day.

use anyhow::Result;
use serde_json::Value;

use crate::arguments::{UsageArguments, UsageBy};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

pub(super) async fn run(session: &Session, arguments: &UsageArguments) -> Result<Exit> {
    let client = &session.client;
    let mut query = client.scope().await?;
    query.push(("days", arguments.days.to_string()));
    let is_by_source = arguments.by == Some(UsageBy::Source);
    if is_by_source {
        query.push(("by", "source".to_owned()));
    }
    let usage = client.get_data(&["usage"], &query).await?;
    match is_by_source {
        true => session.print(&usage, by_source)?,
        false => session.print(&usage, by_day)?,
    }
    if !session.json {
        output::tell(&left(&usage));
    }
    Ok(Exit::Success)
}

fn by_day(usage: &Value) -> table::Listing {
    let days = items(usage, "days").iter().rev();
    let rows = days.map(|day| {
        let (runs, time) = (day["invocations"].to_string(), time(day));
        vec![text(day, "date").to_owned(), runs, time]
    });
    table::listing(&["day", "runs", "time"], rows.collect())
}

fn by_source(usage: &Value) -> table::Listing {
    let today = items(usage, "days").last();
    let today = today.map_or("", |day| text(day, "date"));
    let of_today = |source: &Value| {
        let days = items(source, "days").iter();
        let mut days = days.filter(|day| text(day, "date") == today);
        days.find_map(|day| day["invocations"].as_u64())
            .unwrap_or_default()
    };
    let sources = items(usage, "sources").iter().map(|source| {
        vec![
            text(source, "name").to_owned(),
            text(source, "id").to_owned(),
            of_today(source).to_string(),
            share(of_today(source), usage),
            source["invocations"].to_string(),
            time(source),
        ]
    });
    let others = &usage["others"];
    let others = (others["invocations"] != 0).then(|| {
        let (runs, time) = (others["invocations"].to_string(), time(others));
        let name = "(others)".to_owned();
        vec![
            name,
            String::new(),
            String::new(),
            String::new(),
            runs,
            time,
        ]
    });
    let headers = ["name", "id", "today", "of quota", "runs", "time"];
    table::listing(&headers, sources.chain(others).collect())
}

/// The part of the day's quota that these runs are.
fn share(runs: u64, usage: &Value) -> String {
    match usage["daily_invocations_quota"].as_u64() {
        Some(quota) if quota > 0 => format!("{:.1} %", runs as f64 * 100.0 / quota as f64),
        _ => String::new(),
    }
}

/// The rest of the day's quota.
fn left(usage: &Value) -> String {
    let today = items(usage, "days").last();
    let used = today.and_then(|day| day["invocations"].as_u64());
    match usage["daily_invocations_quota"].as_u64() {
        None => "there is no quota".to_owned(),
        Some(quota) => format!(
            "{} of {quota} runs are left today; the next day begins at midnight UTC",
            quota.saturating_sub(used.unwrap_or_default())
        ),
    }
}

fn time(usage: &Value) -> String {
    let seconds = usage["compute_ms"].as_u64().unwrap_or_default() as f64 / 1_000.0;
    format!("{seconds:.1} s")
}

fn items<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object[field].as_array().map_or(&[], Vec::as_slice)
}
