//! `workflows logs`: the lines that the steps of a run have logged.

use anyhow::Result;
use serde_json::{Value, json};

use super::step;
use crate::display;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::timestamp;

pub(super) async fn run(session: &Session, id: &str) -> Result<Exit> {
    let run = session.client.get(&["runs", id]).await?;
    if session.json {
        output::json(&Value::from(with_paths(&run)))?;
        return Ok(Exit::Success);
    }
    let lines = lines(&run);
    if lines.is_empty() {
        output::tell(&format!(
            "nothing was logged; `headwater runs describe {id}` shows the run"
        ));
    }
    for line in lines {
        output::data(&line)?;
    }
    Ok(Exit::Success)
}

/// The lines of all steps, oldest first.
pub(super) fn lines(run: &Value) -> Vec<String> {
    let has_colour = display::current().has_colour;
    let mut lines: Vec<_> = step::of(run)
        .iter()
        .flat_map(|step| step::log_lines(step, has_colour))
        .collect();
    lines.sort_by_key(|(at, _)| *at);
    let lines = lines.into_iter();
    let shown = lines.map(|(at, line)| format!("{}  {line}", timestamp::from_millis(&at.into())));
    shown.collect()
}

/// The same as the node has them, each with its step.
fn with_paths(run: &Value) -> Vec<Value> {
    let mut lines = Vec::new();
    for step in step::of(run) {
        for line in step["logs"].as_array().into_iter().flatten() {
            let mut line = line.clone();
            line["path"] = json!(text(step, "path"));
            lines.push(line);
        }
    }
    lines.sort_by_key(|line| line["ts"].as_i64());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_all_steps_are_in_the_order_of_time() {
        let log = |ts: i64, message: &str| json!({"level": "info", "message": message, "ts": ts});
        let run = json!({"steps": [
            {"path": "a", "logs": [log(0, "first"), log(2000, "third")]},
            {"path": "b", "logs": [log(1000, "second")]},
        ]});
        assert_eq!(
            lines(&run),
            [
                "1970-01-01T00:00:00.000Z  a  info   first",
                "1970-01-01T00:00:01.000Z  b  info   second",
                "1970-01-01T00:00:02.000Z  a  info   third",
            ]
        );
        let json = with_paths(&run);
        assert_eq!(
            json[1],
            json!({"level": "info", "message": "second", "ts": 1000, "path": "b"})
        );
    }
}
