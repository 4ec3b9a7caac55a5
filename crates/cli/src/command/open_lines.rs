//! Lines of runs under way, which are not events yet: asked for again and again, handed out once, and passed over when they
//! come as events. Prints none of them.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use headwater_model::channel::Channel;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::client::{Client, ClientError};
use crate::source::text;

const EVERY: Duration = Duration::from_secs(1);
/// Runs whose lines are remembered, beside those under way.
const RUNS: usize = 100;

/// The lines of the runs of one source.
pub(super) struct OpenLines<'a> {
    path: &'a [&'a str],
    seen: Mutex<Seen>,
}

impl<'a> OpenLines<'a> {
    /// Those that the node has at this address.
    pub(super) fn new(path: &'a [&'a str]) -> Self {
        Self {
            path,
            seen: Mutex::default(),
        }
    }

    /// Waits for new lines, as items of a log; at least one. Waits for ever if the node does not tell them.
    pub(super) async fn next(&self, client: &Client) -> Result<Vec<Value>> {
        loop {
            let new = match client.get(self.path).await {
                Ok(runs) => self.seen.lock().open(&runs),
                Err(error) if is_transient(&error) => Vec::new(),
                // One that is older, or whose source is gone, of which the events tell.
                Err(_) => std::future::pending().await,
            };
            if !new.is_empty() {
                return Ok(new);
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Whether an event is not one of the lines that were handed out.
    pub(super) fn is_new(&self, item: &Value) -> bool {
        self.seen.lock().is_new(item)
    }
}

fn is_transient(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<ClientError>()
        .is_some_and(ClientError::is_transient)
}

/// The lines that were handed out, by run.
#[derive(Default)]
struct Seen(BTreeMap<String, Lines>);

#[derive(Default)]
struct Lines {
    all: Vec<Line>,
    /// Number of them that have come as events.
    committed: usize,
    /// Whether the run was under way when the node was asked last.
    is_open: bool,
}

/// The parts of a line by which it is known again.
type Line = (Value, Value, Value);

fn line_of(line: &Value) -> Line {
    let part = |name: &str| line[name].clone();
    (part("ts"), part("level"), part("message"))
}

impl Seen {
    /// The new ones among the lines of all runs under way since their last commits.
    fn open(&mut self, runs: &Value) -> Vec<Value> {
        let runs: Vec<&Value> = runs.as_array().into_iter().flatten().collect();
        // A run that the node no longer tells of is not told late either: it is asked one time after the other.
        self.0.retain(|id, lines| {
            lines.is_open = runs.iter().any(|run| text(run, "run_id") == id);
            lines.is_open || lines.committed < lines.all.len()
        });
        let mut new = Vec::new();
        for run in runs {
            let lines: Vec<&Value> = run["lines"].as_array().into_iter().flatten().collect();
            let seen = self.0.entry(text(run, "run_id").to_owned()).or_default();
            seen.is_open = true;
            let known = seen.known(&lines);
            for line in &lines[known..] {
                seen.all.push(line_of(line));
                new.push(json!({ "metadata": {}, "indexed_at_ms": line["ts"], "event": line }));
            }
        }
        self.forget();
        new
    }

    /// Forgets the oldest runs that are not under way, if they are too many.
    fn forget(&mut self) {
        let ended = self.0.values().filter(|lines| !lines.is_open);
        let mut over = ended.count().saturating_sub(RUNS);
        self.0.retain(|_, lines| {
            let is_kept = lines.is_open || over == 0;
            over -= usize::from(!is_kept);
            is_kept
        });
    }

    fn is_new(&mut self, item: &Value) -> bool {
        let metadata = &item["metadata"];
        let run_id = text(metadata, "run_id");
        if run_id.is_empty() || text(metadata, "name") == Channel::ERRORS {
            return true;
        }
        // Also one that was not seen open: an answer that is on its way may still have the line.
        let lines = self.0.entry(run_id.to_owned()).or_default();
        let is_new = lines.is_new(line_of(&item["event"]));
        self.forget();
        is_new
    }
}

impl Lines {
    /// Whether a line that comes as an event was not handed out.
    fn is_new(&mut self, line: Line) -> bool {
        let rest = &self.all[self.committed..];
        match rest.iter().position(|known| *known == line) {
            // Those before it were of a try that was lost.
            Some(at) => {
                self.committed += at + 1;
                false
            }
            None => {
                self.all.insert(self.committed, line);
                self.committed += 1;
                true
            }
        }
    }

    /// The number of lines at the beginning of these that end what was handed out.
    fn known(&self, lines: &[&Value]) -> usize {
        let lines: Vec<Line> = lines.iter().map(|line| line_of(line)).collect();
        let counts = (0..=lines.len()).rev();
        let mut counts = counts.filter(|count| self.all.ends_with(&lines[..*count]));
        counts.next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> Value {
        json!({ "ts": 1, "level": "info", "message": message })
    }

    fn open(seen: &mut Seen, messages: &[&str]) -> Vec<String> {
        let lines: Vec<_> = messages.iter().map(|message| line(message)).collect();
        let runs = match lines.is_empty() {
            true => json!([]),
            false => json!([{ "run_id": "inv_1", "lines": lines }]),
        };
        let new = seen.open(&runs).into_iter();
        new.map(|item| text(&item["event"], "message").to_owned())
            .collect()
    }

    fn is_new(seen: &mut Seen, message: &str) -> bool {
        seen.is_new(&json!({ "metadata": { "run_id": "inv_1" }, "event": line(message) }))
    }

    #[test]
    fn lines_are_handed_out_once_whether_they_come_early_or_late() {
        let mut seen = Seen::default();
        assert_eq!(open(&mut seen, &["a"]), ["a"]);
        assert_eq!(open(&mut seen, &["a", "a"]), ["a"]);
        assert_eq!(open(&mut seen, &["a", "a"]), [""; 0]);
        // Committed with a line that was never seen open.
        assert!(!is_new(&mut seen, "a"));
        assert!(!is_new(&mut seen, "a"));
        assert!(is_new(&mut seen, "b"));
        // An answer that was on its way meanwhile.
        assert_eq!(open(&mut seen, &["a", "a", "b"]), [""; 0]);
        // The run goes on behind its response.
        assert_eq!(open(&mut seen, &["c"]), ["c"]);
        assert_eq!(open(&mut seen, &[]), [""; 0]);
        assert!(!is_new(&mut seen, "c"));
        assert_eq!(open(&mut seen, &[]), [""; 0]);
        assert!(seen.0.is_empty());
        assert!(is_new(&mut seen, "d"));
    }

    #[test]
    fn an_answer_from_before_the_commit_brings_no_line_again() {
        let mut seen = Seen::default();
        assert!(is_new(&mut seen, "a"));
        assert_eq!(open(&mut seen, &["a"]), [""; 0]);
        assert_eq!(open(&mut seen, &["b"]), ["b"]);
        assert!(!is_new(&mut seen, "b"));
        let error =
            json!({ "metadata": { "run_id": "inv_2", "name": "$errors" }, "event": line("a") });
        assert!(seen.is_new(&error));
        assert!(!seen.0.contains_key("inv_2"));
    }

    #[test]
    fn of_too_many_runs_the_oldest_that_has_ended_is_forgotten() {
        let mut seen = Seen::default();
        assert_eq!(open(&mut seen, &["a"]), ["a"]);
        for at in 0..=RUNS {
            let run = format!("inv_2{at:03}");
            let event = json!({ "metadata": { "run_id": run }, "event": line("b") });
            assert!(seen.is_new(&event));
        }
        assert_eq!(seen.0.len(), RUNS + 1);
        assert!(seen.0.contains_key("inv_1") && !seen.0.contains_key("inv_2000"));
        assert!(!is_new(&mut seen, "a"));
    }

    #[test]
    fn lines_of_a_try_that_was_lost_do_not_hide_those_of_the_next() {
        let mut seen = Seen::default();
        assert_eq!(open(&mut seen, &["first", "begins"]).len(), 2);
        assert_eq!(open(&mut seen, &["second"]), ["second"]);
        assert!(!is_new(&mut seen, "second"));
        assert!(is_new(&mut seen, "done"));
    }

    #[test]
    fn a_line_that_is_committed_before_it_was_seen_comes_before_those_that_are_open() {
        let mut seen = Seen::default();
        assert_eq!(open(&mut seen, &["c"]), ["c"]);
        assert!(is_new(&mut seen, "b"));
        assert_eq!(open(&mut seen, &["c", "d"]), ["d"]);
        assert!(!is_new(&mut seen, "c"));
        assert!(!is_new(&mut seen, "d"));
    }
}
