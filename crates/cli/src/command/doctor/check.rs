//! One line of the report: a thing that was looked at, and the result.

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    Failed,
    /// Does not apply here.
    Skipped,
}

#[derive(Debug)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) detail: String,
    /// The next step for the person; empty unless failed.
    pub(super) next: String,
}

impl Check {
    pub(super) fn ok(name: &str, detail: &str) -> Self {
        Self {
            name: name.to_owned(),
            verdict: Verdict::Ok,
            detail: detail.to_owned(),
            next: String::new(),
        }
    }

    pub(super) fn failed(name: &str, detail: &str, next: &str) -> Self {
        Self {
            verdict: Verdict::Failed,
            next: next.to_owned(),
            ..Self::ok(name, detail)
        }
    }

    pub(super) fn row(&self) -> Vec<String> {
        let detail = match self.next.as_str() {
            "" => self.detail.clone(),
            next => format!("{}; {next}", self.detail),
        };
        vec![self.name.clone(), self.verdict.text().to_owned(), detail]
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "check": self.name,
            "result": self.verdict.text(),
            "detail": self.detail,
            "next": self.next,
        })
    }
}

impl Verdict {
    fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}
