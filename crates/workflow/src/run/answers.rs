//! The answers to the questions of blocks: conditions, items, times and names.

use std::{sync::Arc, time::Duration};

use headwater_model::time::EpochMs;
use serde_json::{Value, value::RawValue};

use super::{
    failure::{Cause, Failure},
    kept::Kept,
    order::Work,
    place::{Chosen, PlaceStatus, WaitKind},
    tree::{Closing, RunTree},
};
use crate::{
    definition::{DelayLength, LoopSource, Node, NodeKind, Parallel},
    moment,
    path::Path,
};

/// Items or rounds of one loop at most.
const ITEMS_MAX: u32 = 100_000;
/// The longest delay.
const DELAY_MAX: Duration = Duration::from_hours(366 * 24);

impl RunTree {
    /// The questions of a place were answered, or an expression failed.
    pub fn answered(
        &mut self,
        path: &Path,
        answers: Result<Vec<Box<RawValue>>, Failure>,
        now_ms: EpochMs,
    ) {
        self.at_work.remove(path);
        let is_running = self
            .places
            .get(path)
            .is_some_and(|place| place.status == PlaceStatus::Running);
        let definition = Arc::clone(&self.definition);
        let Some(node) = definition.node(path).filter(|_| is_running) else {
            return;
        };
        let taken = answers
            .map_err(Box::new)
            .and_then(|answers| self.take_answers((path, node), answers, now_ms));
        if let Err(failure) = taken {
            self.fail(path, *failure, now_ms);
        }
    }

    fn take_answers(
        &mut self,
        (path, node): (&Path, &Node),
        answers: Vec<Box<RawValue>>,
        now_ms: EpochMs,
    ) -> Result<(), Box<Failure>> {
        let chosen = self.places.get(path).and_then(|place| place.chosen.clone());
        if chosen.is_none() && node.condition.is_some() {
            match read(&answers, 0)? {
                Value::Bool(true) => self.choose(path, Chosen::Admitted),
                _ => self.end_place(path, PlaceStatus::Skipped, now_ms),
            }
            return Ok(());
        }
        match &node.kind {
            NodeKind::IfElse(_) | NodeKind::Switch(_) => {
                let index = read(&answers, 0)?
                    .as_u64()
                    .and_then(|index| u32::try_from(index).ok());
                self.choose(path, Chosen::Branch(index));
            }
            NodeKind::Parallel(parallel) => {
                self.choose(path, Chosen::Branches(taken(parallel, &answers)));
            }
            NodeKind::Loop(each) => match (&each.source, chosen) {
                (LoopSource::Over(_), _) => self.choose_items(path, answers)?,
                (LoopSource::While(_), chosen) => self.choose_round(path, chosen, &answers)?,
            },
            NodeKind::Delay(delay) => {
                let until_ms = moment_of(&delay.length, &read(&answers, 0)?, now_ms)?;
                self.set_wait(path, WaitKind::Delay, Some(until_ms), now_ms);
            }
            NodeKind::Call(call) => self.call(path, call.waits, answers)?,
            NodeKind::End(_) => self.exit_at(path, shown(&read(&answers, 0)?), now_ms),
            NodeKind::Wait(_) | NodeKind::Step(_) => {}
        }
        Ok(())
    }

    /// Ends the run at a place, well.
    pub(super) fn exit_at(&mut self, path: &Path, reason: String, now_ms: EpochMs) {
        self.end_place(path, PlaceStatus::Succeeded, now_ms);
        let at = path.clone();
        self.close(Closing::Exit { at, reason });
    }

    /// Keeps the choice of a block.
    pub(super) fn choose(&mut self, path: &Path, chosen: Chosen) {
        if let Some(place) = self.places.get_mut(path) {
            place.chosen = Some(chosen);
            self.touched(path);
        }
    }

    /// Lets a place wait.
    pub(super) fn set_wait(
        &mut self,
        path: &Path,
        kind: WaitKind,
        until_ms: Option<EpochMs>,
        now_ms: EpochMs,
    ) {
        if let Some(place) = self.places.get_mut(path) {
            place.wait(kind, until_ms, now_ms);
            self.touched(path);
        }
    }

    fn choose_items(
        &mut self,
        path: &Path,
        answers: Vec<Box<RawValue>>,
    ) -> Result<(), Box<Failure>> {
        let Some(items) = answers.into_iter().next() else {
            return Err(missing());
        };
        let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(items.get()) else {
            let found = beginning(items.get());
            let text = format!("`over` is not an array, but {found}; give the loop an array");
            return Err(stated(Cause::Thrown, "TypeError", text));
        };
        let count = u32::try_from(list.len()).unwrap_or(u32::MAX);
        if count > ITEMS_MAX {
            let text =
                format!("`over` has {count} items; work on {ITEMS_MAX} of them at most in a loop");
            return Err(stated(Cause::TooMuchOutput, "LimitError", text));
        }
        self.choose(path, Chosen::Items(count));
        if let Some(place) = self.places.get_mut(path) {
            place.items = Some(Kept::Here(items.into()));
        }
        Ok(())
    }

    fn choose_round(
        &mut self,
        path: &Path,
        chosen: Option<Chosen>,
        answers: &[Box<RawValue>],
    ) -> Result<(), Box<Failure>> {
        let next = match chosen {
            Some(Chosen::Round(index)) => index + 1,
            _ => 0,
        };
        let holds = read(answers, 0)? == Value::Bool(true);
        if holds && next >= ITEMS_MAX {
            let text = format!(
                "`while` still holds after {ITEMS_MAX} rounds, which is the limit; let it end before"
            );
            return Err(stated(Cause::TooMuchOutput, "LimitError", text));
        }
        let chosen = match holds {
            true => Chosen::Round(next),
            false => Chosen::Rounds(next),
        };
        self.choose(path, chosen);
        Ok(())
    }

    fn call(
        &mut self,
        path: &Path,
        waits: bool,
        answers: Vec<Box<RawValue>>,
    ) -> Result<(), Box<Failure>> {
        let workflow = match read(&answers, 0)? {
            Value::String(workflow) if !workflow.is_empty() => workflow,
            other => {
                let text = format!(
                    "`workflow` names a workflow by id, name or folder; it is {}",
                    beginning(&other.to_string())
                );
                return Err(misconfigured(text));
            }
        };
        let event = answers.into_iter().nth(1).ok_or_else(missing)?;
        let event = Kept::Here(event.into());
        let work = Work::Call {
            workflow,
            event,
            waits,
        };
        let order = self.order(path, work);
        self.calls.extend(order);
        Ok(())
    }
}

fn read(answers: &[Box<RawValue>], index: usize) -> Result<Value, Box<Failure>> {
    let answer = answers.get(index).ok_or_else(missing)?;
    serde_json::from_str(answer.get()).map_err(|_| missing())
}

/// For each branch, whether its condition holds. Those without one were not asked about.
fn taken(parallel: &Parallel, answers: &[Box<RawValue>]) -> Vec<bool> {
    let mut holds = answers.iter().map(|answer| answer.get() == "true");
    let branches = parallel.branches.iter();
    let taken = branches.map(|branch| branch.condition.is_none() || holds.next() == Some(true));
    taken.collect()
}

/// A reason as people see it.
fn shown(reason: &Value) -> String {
    match reason {
        Value::Null => String::new(),
        Value::String(reason) => reason.clone(),
        other => other.to_string(),
    }
}

fn missing() -> Box<Failure> {
    let text = "the worker did not answer all expressions";
    stated(Cause::WorkerLost, "WorkerLostError", text)
}

fn misconfigured(text: impl Into<String>) -> Box<Failure> {
    stated(Cause::Configuration, "ConfigurationError", text)
}

fn stated(cause: Cause, name: &str, text: impl Into<String>) -> Box<Failure> {
    Box::new(Failure::stated(cause, name, text))
}

/// The beginning of a JSON text, for messages.
fn beginning(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    match short.len() < text.len() {
        true => format!("`{short}…`"),
        false => format!("`{short}`"),
    }
}

fn moment_of(
    length: &DelayLength,
    value: &Value,
    now_ms: EpochMs,
) -> Result<EpochMs, Box<Failure>> {
    let span = match length {
        DelayLength::For(span) => Some(*span),
        DelayLength::ForValue(_) => moment::span(value),
        DelayLength::Until(_) => moment::moment(value).map(|until_ms| until_ms.since(now_ms)),
    };
    let found = span
        .filter(|span| *span <= DELAY_MAX)
        .map(|span| now_ms + span);
    found.ok_or_else(|| {
        let expected = match length {
            DelayLength::Until(_) => {
                "`until` is a time within a year: a date text (ISO 8601) or epoch milliseconds"
            }
            DelayLength::For(_) | DelayLength::ForValue(_) => {
                "`for` is a time span of a year at most: `30s`, `5m`, `2h`, `7d` or milliseconds"
            }
        };
        let found = beginning(&value.to_string());
        misconfigured(format!("{expected}; it is {found}"))
    })
}
