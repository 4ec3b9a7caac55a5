//! Following a run to its end: asks for it again and again, and prints each step once it has ended, and each wait
//! when it begins. Steps go to standard output, their logs and errors to standard error.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::{run_card, step};
use crate::client::ClientError;
use crate::display;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::timestamp;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A run, and the part of it that was printed.
pub(super) struct Progress<'a> {
    session: &'a Session,
    id: String,
    /// Begins each line, where several runs are followed.
    prefix: String,
    /// Steps that have ended, by their paths.
    ended: HashSet<String>,
    /// The numbers of lines that steps have logged so far, by their paths.
    logged: HashMap<String, usize>,
    /// Waits, by their URLs and ends: a step that waits again may have the same URL.
    waits: HashSet<(String, Option<i64>)>,
    connected: bool,
}

/// Whether a run has ended, by its status.
pub(super) fn has_ended(run: &Value) -> bool {
    matches!(text(run, "status"), "succeeded" | "failed" | "cancelled")
}

/// Follows a run and prints its end; with `--json` the run alone, once it has ended.
pub(super) async fn follow(session: &Session, id: &str) -> Result<Exit> {
    let run = Progress::new(session, id).until_ended().await?;
    match session.json {
        true => output::json(&run)?,
        false => output::data(&end(&run))?,
    }
    if text(&run, "status") == "succeeded" {
        return Ok(Exit::Success);
    }
    output::tell(&format!(
        "error: run {id} has {}; `headwater runs describe {id}` shows it",
        match text(&run, "status") {
            "cancelled" => "been cancelled",
            status => status,
        }
    ));
    Ok(Exit::Failure)
}

impl<'a> Progress<'a> {
    pub(super) fn new(session: &'a Session, id: &str) -> Self {
        Self {
            session,
            id: id.to_owned(),
            prefix: String::new(),
            ended: HashSet::new(),
            logged: HashMap::new(),
            waits: HashSet::new(),
            connected: true,
        }
    }

    /// The same as one of several runs, which each line names.
    pub(super) fn among_others(self) -> Self {
        let prefix = format!("{}  ", self.id);
        Self { prefix, ..self }
    }

    /// Prints until the run has ended, and returns it.
    pub(super) async fn until_ended(mut self) -> Result<Value> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.session.client.get(&["runs", &self.id]).await {
                Ok(run) => {
                    if !self.connected {
                        output::tell("connected again");
                        self.connected = true;
                    }
                    if self.show(&run)? {
                        pause = FIRST_PAUSE;
                    }
                    if has_ended(&run) {
                        return Ok(run);
                    }
                }
                Err(error) => self.survive(error)?,
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Prints the news, and tells whether there were any.
    fn show(&mut self, run: &Value) -> Result<bool> {
        let mut is_news = false;
        // A replay has the results that it uses again, with the times at which they came to be.
        let steps = step::of(run).iter();
        let own = steps.filter(|step| step["ended_at_ms"].is_null() || !is_before(step, run));
        for step in own {
            is_news |= self.show_logs(step);
            if !step::has_ended(step) || !self.ended.insert(text(step, "path").to_owned()) {
                continue;
            }
            is_news = true;
            if self.session.json {
                continue;
            }
            output::data(&format!("{}{}", self.prefix, step::line(step)))?;
            if let Some(failure) = step::failure(step) {
                output::tell(&format!("{}{failure}", self.prefix));
            }
        }
        for wait in run_card::waits(run) {
            let expires_at_ms = wait["expires_at_ms"].as_i64();
            let wait_id = (text(wait, "resume_url").to_owned(), expires_at_ms);
            if self.waits.insert(wait_id) {
                is_news = true;
                self.show_wait(run, wait);
            }
        }
        Ok(is_news)
    }

    /// Prints the lines that a step has logged since the last look, and tells whether there were any.
    fn show_logs(&mut self, step: &Value) -> bool {
        let has_colour = display::has_colour(&std::io::stderr());
        let lines: Vec<_> = step::log_lines(step, has_colour).collect();
        let logged = self.logged.entry(text(step, "path").to_owned());
        let logged = logged.or_default();
        // The node keeps so many lines of a step: the older ones make room.
        let new = lines.get(*logged..).unwrap_or(&lines);
        *logged = lines.len();
        if !self.session.json {
            for (at, line) in new {
                let at = timestamp::from_millis(&(*at).into());
                output::tell(&format!("{}{at}  {line}", self.prefix));
            }
        }
        !new.is_empty()
    }

    /// Prints a wait; one for the next try with the failure of the last.
    fn show_wait(&self, run: &Value, wait: &Value) {
        let path = text(wait, "path");
        if text(wait, "kind") == "retry" {
            let mut steps = step::of(run).iter();
            let waiting = steps.find(|step| text(step, "path") == path);
            if let Some(failure) = waiting.and_then(step::failure) {
                output::tell(&format!("{}{failure}", self.prefix));
            }
        }
        output::tell(&format!("{}{}", self.prefix, waiting(wait)));
    }

    /// A node that restarts or is busy does not end the following; anything else does.
    fn survive(&mut self, error: anyhow::Error) -> Result<()> {
        let refused = error.downcast_ref::<ClientError>();
        if !refused.is_some_and(ClientError::is_transient) {
            return Err(error);
        }
        if self.connected {
            output::tell(&format!("{error:#}; still trying"));
            self.connected = false;
        }
        Ok(())
    }
}

/// Whether a step had ended before its run was asked for.
fn is_before(step: &Value, run: &Value) -> bool {
    step["ended_at_ms"].as_i64() < run["queued_at_ms"].as_i64()
}

/// The end of a run, as a line.
pub(super) fn end(run: &Value) -> String {
    let at = timestamp::from_millis(&run["ended_at_ms"]);
    let line = format!(
        "{at}  {status}  {took}  {why}",
        status = text(run, "status"),
        took = step::took(run),
        why = step::beginning(why(run)),
    );
    line.trim_end().to_owned()
}

fn why(run: &Value) -> &str {
    match text(run, "error") {
        "" => text(run, "reason"),
        error => error,
    }
}

fn waiting(wait: &Value) -> String {
    let until = match wait["expires_at_ms"].is_null() {
        true => String::new(),
        false => format!(" until {}", timestamp::from_millis(&wait["expires_at_ms"])),
    };
    let urls = run_card::urls(wait);
    format!(
        "{} waits ({}){until}\n{}",
        text(wait, "path"),
        text(wait, "kind"),
        urls.iter()
            .map(|(name, url)| format!("  {name:<8}{url}"))
            .collect::<Vec<_>>()
            .join("\n")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_end_says_why() {
        let mut run = json!({
            "status": "succeeded", "started_at_ms": 1_767_225_600_000_i64, "ended_at_ms": 1_767_225_600_100_i64,
            "reason": "draft order",
        });
        let at = "2026-01-01T00:00:00.100Z";
        assert_eq!(end(&run), format!("{at}  succeeded  100 ms  draft order"));
        run["status"] = json!("failed");
        run["error"] = json!("no such channel");
        assert_eq!(end(&run), format!("{at}  failed  100 ms  no such channel"));
    }

    #[test]
    fn a_wait_has_its_urls() {
        let wait = json!({
            "path": "approve", "kind": "suspend", "resume_url": "http://node/w/t/resume",
            "cancel_url": "http://node/w/t/cancel", "expires_at_ms": 1_767_225_600_000_i64,
        });
        assert_eq!(
            waiting(&wait),
            "approve waits (suspend) until 2026-01-01T00:00:00.000Z\n\
             \x20 resume  http://node/w/t/resume\n\
             \x20 cancel  http://node/w/t/cancel"
        );
    }
}
