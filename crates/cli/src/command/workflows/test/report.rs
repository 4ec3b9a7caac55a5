//! The outcome of a test, as lines and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::expectation::Difference;

/// The outcome of a test.
#[derive(Debug, Default)]
pub(super) struct Report {
    name: String,
    /// The time that passed on the clock of the test.
    pub(super) lasted: Duration,
    pub(super) differences: Vec<Difference>,
    /// Steps whose action did not run, because nothing mocks it.
    pub(super) left_out: Vec<String>,
    /// Nothing could be compared, for this reason.
    error: Option<String>,
    /// The commit after which the node of the failing trial was to be killed.
    killed_after: Option<u64>,
    /// Trials with a kill that passed.
    pub(super) kills: Option<u64>,
}

impl Report {
    pub(super) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn failed_with(mut self, error: &anyhow::Error) -> Self {
        self.error = Some(format!("{error:#}"));
        self
    }

    pub(super) fn killed_after(mut self, commit: u64) -> Self {
        self.killed_after = Some(commit);
        self
    }

    pub(super) fn is_passed(&self) -> bool {
        self.error.is_none() && self.differences.is_empty()
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{:<8}{}",
            if self.is_passed() { "ok" } else { "FAILED" },
            self.name
        );
        if let Some(commit) = self.killed_after {
            let _ = write!(text, ", killed after commit {commit}");
        }
        match self.kills {
            None => {}
            Some(1) => text.push_str(", and with 1 kill after its only commit"),
            Some(kills) => {
                let _ = write!(text, ", and with {kills} kills, each after another commit");
            }
        }
        if !self.left_out.is_empty() {
            let _ = write!(
                text,
                " (returned nothing, as no mock says more: {})",
                self.left_out.join(", ")
            );
        }
        if let Some(error) = &self.error {
            let _ = write!(text, "\n  {}", error.replace('\n', "\n  "));
        }
        let is_crash = self.killed_after.is_some();
        for difference in &self.differences {
            let (before, after) = if is_crash {
                ("without", "with it")
            } else {
                ("expected", "found")
            };
            let (expected, found) = (&difference.expected, &difference.found);
            let _ = write!(
                text,
                "\n  {}\n    {before:<9}{expected}\n    {after:<9}{found}",
                difference.what
            );
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "passed": self.is_passed(),
            "lasted_ms": u64::try_from(self.lasted.as_millis()).unwrap_or(u64::MAX),
            "kills": self.kills,
            "killed_after": self.killed_after,
            "not_mocked": self.left_out,
            "error": self.error,
            "differences": self.differences,
        })
    }
}

/// The line below all tests.
pub(super) fn summary(tests: usize, failed: usize) -> String {
    let tests = match tests {
        1 => "1 test".to_owned(),
        tests => format!("{tests} tests"),
    };
    match failed {
        0 => format!("{tests} passed"),
        failed => format!("{failed} of {tests} failed"),
    }
}
