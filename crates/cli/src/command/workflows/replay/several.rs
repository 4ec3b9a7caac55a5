//! Replays of all runs of a workflow with a status. Each run is asked for on its own: one that cannot be replayed
//! does not keep the others.

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum as _;
use inquire::Confirm;
use serde_json::{Value, json};

use super::super::runs;
use super::request::send;
use crate::arguments::{EndedStatus, ReplayRunArguments};
use crate::exit::{self, Exit};
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::usage_error::UsageError;
use crate::workflow;

pub(super) async fn run(session: &Session, arguments: &ReplayRunArguments) -> Result<Exit> {
    let found = find(session, arguments).await?;
    let count = match found.len() {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    if arguments.dry_run {
        session.print(&Value::from(found.clone()), |_| runs::listing(&found))?;
        output::tell(&format!("{count} would be replayed; nothing was started"));
        return Ok(Exit::Success);
    }
    output::tell(&format!("{count} to replay"));
    if found.is_empty() {
        session.print(&json!([]), |_| String::new())?;
        return Ok(Exit::Success);
    }
    if !arguments.several.yes {
        confirm(&count)?;
    }
    let mut replays = Vec::new();
    // Those that came first are the first to be done again.
    for found in found.iter().rev() {
        let id = text(found, "id");
        match send(session, id, arguments).await {
            Ok(answer) => replays.push(json!({"run": id, "replay": answer["id"]})),
            Err(error) => exit::print_error(&error.context(format!("{id} is not replayed"))),
        }
    }
    let failed = found.len() - replays.len();
    session.print(&Value::from(replays.clone()), |_| listing(&replays))?;
    Ok(match failed {
        0 => Exit::Success,
        _ => Exit::Failure,
    })
}

/// The runs that are meant, newest first.
async fn find(session: &Session, arguments: &ReplayRunArguments) -> Result<Vec<Value>> {
    let several = &arguments.several;
    let (Some(given), Some(status)) = (&several.workflow, several.status) else {
        let complaint = "--all needs --workflow and --status: the workflow, and which of its runs";
        return Err(UsageError(complaint.to_owned()).into());
    };
    let since_ms = several.since.as_deref().map(since).transpose()?;
    let id = workflow::find_id(&session.client, given).await?;
    let path = ["workflows", &id, "runs"];
    let filter = [("status", name(status))];
    let page = session.client.first(&path, usize::MAX, &filter).await?;
    let is_since = |run: &Value| {
        since_ms.is_none_or(|since_ms| run["ended_at_ms"].as_i64().is_some_and(|at| at >= since_ms))
    };
    Ok(page.data.into_iter().filter(is_since).collect())
}

fn confirm(count: &str) -> Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("nothing was started, as nobody can be asked; give --yes to replay {count}");
    }
    let question = format!("Replay {count}?");
    let asked = Confirm::new(&question);
    match asked.with_default(false).prompt().context("cannot ask")? {
        true => Ok(()),
        false => bail!("nothing was started"),
    }
}

/// Epoch milliseconds of a time ago, or of a moment.
fn since(text: &str) -> Result<i64, UsageError> {
    let moment = match headwater_model::duration::parse(text) {
        Some(ago) => i64::try_from(timestamp::now_ms().minus(ago).0).ok(),
        None => timestamp::to_millis(text),
    };
    moment.ok_or_else(|| {
        UsageError(format!(
            "{text} is no time for --since; write 90s, 30m or 1h, 2026-01-31T12:00:00Z, 2026-01-31 or epoch milliseconds"
        ))
    })
}

fn name(status: EndedStatus) -> String {
    let value = status.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

fn listing(replays: &[Value]) -> String {
    let rows = replays.iter();
    let rows = rows.map(|pair| {
        ["run", "replay"]
            .map(|end| text(pair, end).to_owned())
            .into()
    });
    table::part(&["run", "replay"], rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_ago_or_a_moment() {
        let before_ms = i64::try_from(timestamp::now_ms().0).unwrap();
        assert!(since("1h").unwrap() >= before_ms - 3_600_000);
        assert!(since("0s").unwrap() >= before_ms);
        assert_eq!(since("1970-01-02").unwrap(), 86_400_000);
        assert!(
            since("yesterday")
                .unwrap_err()
                .to_string()
                .contains("--since")
        );
    }
}
