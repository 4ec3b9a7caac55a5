//! Mail to the owner of a workflow about its errors (docs/guide/workflow-errors.md, "Mail").

use std::{collections::HashMap, time::Duration};

use headwater_model::time::EpochMs;
use headwater_store::{NewSend, SendWay};
use headwater_workflow::{
    path::Path,
    run::{Failure, PlaceStatus},
};
use parking_lot::Mutex;
use serde_json::{json, value::to_raw_value};
use sha2::{Digest as _, Sha256};

use super::live::LiveRun;

/// The time in which the owner is told of an error of a workflow once.
const ONCE_IN: Duration = Duration::from_secs(24 * 60 * 60);
/// Errors that are remembered. Beyond, a mail may come twice.
const REMEMBERED_MAX: usize = 10_000;
/// Mails of a run that former versions sent, 0 and 1 by their occasion: one that they began goes on behind these.
const FORMER_MAILS: u32 = 2;
/// Characters of the error in the subject.
const SUBJECT_CHARACTERS: usize = 120;

/// The moment of a failure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Occasion {
    /// The run has failed.
    End,
    /// A step has failed for the first time and is tried again.
    FirstTry,
}

/// The errors that owners were told of, by workflow and error. A restart of the node forgets them.
#[derive(Default)]
pub(crate) struct ErrorMails {
    told: Mutex<HashMap<[u8; 32], EpochMs>>,
}

impl ErrorMails {
    /// The mail about a failure, unless the workflow wants none or its owner was told of that error within a day. The run
    /// counts it: each of its mails has a number of its own.
    pub(super) fn about(
        &self,
        run: &mut LiveRun,
        (at, failure): (&Path, &Failure),
        occasion: Occasion,
        now_ms: EpochMs,
    ) -> Option<NewSend> {
        let is_wanted = run.deployed.definition.settings.notifies_of_errors;
        if !is_wanted || run.head.is_test {
            return None;
        }
        let step = run.failed_step(at, failure);
        let error = failure.error.titled();
        let same = format!(
            "{} {} {error}",
            run.deployed.workflow.id,
            step.without_indices()
        );
        if !self.is_news(Sha256::digest(same).into(), now_ms) {
            return None;
        }
        let value = json!({
            "subject": subject(&run.deployed.workflow.name, &error),
            "text": text(run, &step, &error, occasion),
        });
        let value = to_raw_value(&value).ok()?;
        let number = FORMER_MAILS + run.head.error_mails;
        run.head.error_mails += 1;
        Some(NewSend {
            path: Path::root().to_string(),
            number,
            way: SendWay::Email,
            lane: None,
            value,
        })
    }

    fn is_news(&self, error: [u8; 32], now_ms: EpochMs) -> bool {
        let mut told = self.told.lock();
        let is_old = |then_ms: EpochMs| now_ms >= then_ms + ONCE_IN;
        if told.get(&error).is_some_and(|then_ms| !is_old(*then_ms)) {
            return false;
        }
        if told.len() >= REMEMBERED_MAX {
            told.retain(|_, then_ms| !is_old(*then_ms));
        }
        if told.len() < REMEMBERED_MAX {
            told.insert(error, now_ms);
        }
        true
    }
}

impl LiveRun {
    /// The step whose failure became that of a place around it.
    pub(super) fn failed_step(&self, at: &Path, failure: &Failure) -> Path {
        let failed = self.tree.places().iter().filter(|(path, place)| {
            let is_same = |of: &Failure| of.error.message == failure.error.message;
            place.status == PlaceStatus::Failed
                && path.is_within(at)
                && place.failure.as_ref().is_some_and(is_same)
        });
        let innermost = failed.max_by_key(|(path, _)| path.segments().len());
        innermost.map_or_else(|| at.clone(), |(path, _)| path.clone())
    }
}

fn subject(workflow: &str, error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(SUBJECT_CHARACTERS).collect();
    format!("{workflow}: {cut}")
}

fn text(run: &LiveRun, step: &Path, error: &str, occasion: Occasion) -> String {
    let workflow = &run.deployed.workflow;
    let consequence = match occasion {
        Occasion::End => "The run has failed.",
        Occasion::FirstTry => "The step is tried again.",
    };
    format!(
        "The step `{step}` of the workflow `{}` failed. {consequence}\n\n{error}\n\nTo see the run:\n\n    \
         headwater runs describe {}\n\nYou are told of the same error of a workflow once a day. With \
         `error_notification: false` in its settings, you are not told.\n",
        workflow.name,
        run.id(),
    )
}
