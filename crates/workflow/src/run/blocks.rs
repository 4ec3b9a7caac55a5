//! Blocks: the questions that they ask, the branches and items that they run, and their ends.

use std::time::Duration;

use headwater_model::time::EpochMs;
use serde_json::{Value, value::RawValue};

use super::{
    failure::{Cause, Failure},
    kept::Kept,
    order::{Order, Question, Work},
    place::{Chosen, PlaceStatus, WaitKind},
    tree::{Closing, RunTree},
    walk::{Reach, Walk},
};
use crate::{
    definition::{Branch, DelayLength, Loop, LoopSource, Mode, Node, NodeKind, Parallel, Switch},
    moment,
    path::Path,
    template::Condition,
};

/// Items of one loop at most.
pub const ITEMS_MAX: usize = 100_000;
/// The longest delay.
const DELAY_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// The name of the branch that is taken when no other is.
const ELSE: &str = "else";
const DEFAULT: &str = "default";

impl Walk<'_> {
    /// A block that has begun and not ended.
    pub(super) fn block(&mut self, path: &Path, node: &Node, may_start: bool) -> Reach {
        let chosen = self.tree.places[path].chosen.clone();
        if chosen.is_none()
            && let Some(condition) = &node.condition
        {
            return self.ask(path, vec![Question::Holds(condition.clone())], may_start);
        }
        match &node.kind {
            NodeKind::IfElse(ifelse) => {
                let conditions = ifelse.branches.iter().map(|branch| &branch.condition);
                let conditions = conditions.cloned().collect();
                let taken = match chosen {
                    Some(Chosen::Branch(taken)) => taken,
                    _ => return self.ask(path, vec![Question::First(conditions)], may_start),
                };
                let branches = ifelse.branches.iter();
                let branches = branches.map(|branch| (branch.name.as_str(), &branch.steps[..]));
                let otherwise = ifelse.otherwise.as_deref().map(|steps| (ELSE, steps));
                let taken = taken_of(taken, branches, otherwise);
                self.branch(path, node, taken, may_start)
            }
            NodeKind::Switch(switch) => {
                let taken = match chosen {
                    Some(Chosen::Branch(taken)) => taken,
                    _ => return self.ask(path, vec![cases(switch)], may_start),
                };
                let branches = switch.cases.iter();
                let branches = branches.map(|case| (case.name.as_str(), &case.steps[..]));
                let otherwise = switch.default.as_deref().map(|steps| (DEFAULT, steps));
                let taken = taken_of(taken, branches, otherwise);
                self.branch(path, node, taken, may_start)
            }
            NodeKind::Parallel(parallel) => match chosen {
                Some(Chosen::Branches(taken)) => {
                    self.branches(path, (node, parallel), &taken, may_start)
                }
                _ => self.ask_branches(path, (node, parallel), may_start),
            },
            NodeKind::Loop(each) => match (&each.source, chosen) {
                (LoopSource::Over(_), Some(Chosen::Items(count))) => {
                    self.items(path, (node, each), count, may_start)
                }
                (LoopSource::Over(over), _) => {
                    self.ask(path, vec![Question::Value(over.clone())], may_start)
                }
                (LoopSource::While(condition), chosen) => {
                    self.rounds(path, (node, each), (condition, chosen), may_start)
                }
            },
            NodeKind::Delay(delay) => match &delay.length {
                DelayLength::For(span) => {
                    let until_ms = self.now_ms + *span;
                    self.wait(path, WaitKind::Delay, Some(until_ms), may_start)
                }
                DelayLength::ForValue(template) | DelayLength::Until(template) => {
                    self.ask(path, vec![Question::Value(template.clone())], may_start)
                }
            },
            NodeKind::Wait(wait) => {
                let until_ms = wait.timeout.map(|timeout| self.now_ms + timeout);
                self.wait(path, WaitKind::Wait, until_ms, may_start)
            }
            NodeKind::Call(call) => {
                let questions = [&call.workflow, &call.event].map(|value| Question::Value(value.clone()));
                self.ask(path, questions.into(), may_start)
            }
            NodeKind::End(end) => match &end.reason {
                Some(reason) => self.ask(path, vec![Question::Value(reason.clone())], may_start),
                None => self.exit(path, String::new()),
            },
            NodeKind::Step(_) => Reach::Open,
        }
    }

    fn wait(&mut self, path: &Path, kind: WaitKind, until_ms: Option<EpochMs>, may_start: bool) -> Reach {
        if !may_start {
            self.tree.end_place(path, PlaceStatus::Cancelled, self.now_ms);
            return Reach::Held;
        }
        if let Some(place) = self.tree.place_mut(path) {
            place.wait(kind, until_ms);
            self.tree.changed.insert(path.clone());
        }
        Reach::Open
    }

    fn exit(&mut self, path: &Path, reason: String) -> Reach {
        self.tree.exit_at(path, reason, self.now_ms);
        Reach::Held
    }

    /// The branch that was taken, if any was.
    fn branch(&mut self, path: &Path, node: &Node, taken: Option<(&str, &[Node])>, may_start: bool) -> Reach {
        let reach = match taken {
            Some((name, steps)) => self.sequence(&path.join(name), steps, may_start),
            None => Reach::Done,
        };
        self.end_with(path, node, reach, may_start)
    }

    /// The end of a block that ends as the last of its parts does.
    fn end_with(&mut self, path: &Path, node: &Node, reach: Reach, may_start: bool) -> Reach {
        match reach {
            Reach::Done => {
                self.tree.end_place(path, PlaceStatus::Succeeded, self.now_ms);
                Reach::Done
            }
            Reach::Failed(at) => {
                if let Some(failure) = self.tree.places.get(&at).and_then(|at| at.failure.clone()) {
                    self.tree.fail(path, failure, self.now_ms);
                }
                self.failed(path, node, may_start)
            }
            Reach::Open | Reach::Held => reach,
        }
    }

    fn ask_branches(&mut self, path: &Path, (node, parallel): (&Node, &Parallel), may_start: bool) -> Reach {
        let conditions = parallel.branches.iter().filter_map(|branch| branch.condition.clone());
        let questions: Vec<_> = conditions.map(Question::Holds).collect();
        if !questions.is_empty() {
            return self.ask(path, questions, may_start);
        }
        let all = vec![true; parallel.branches.len()];
        self.tree.choose(path, Chosen::Branches(all.clone()));
        self.branches(path, (node, parallel), &all, may_start)
    }

    /// All branches that were taken. Once one has failed under `fail_fast`, no further step of the others begins, and
    /// steps that run come to their end.
    fn branches(
        &mut self,
        path: &Path,
        (node, parallel): (&Node, &Parallel),
        taken: &[bool],
        may_start: bool,
    ) -> Reach {
        let branches: Vec<&Branch> = parallel.branches.iter().zip(taken).filter(|(_, taken)| **taken).map(|(branch, _)| branch).collect();
        let mut failed = None;
        loop {
            let may_go_on = may_start && failed.is_none();
            let reaches: Vec<Reach> = branches
                .iter()
                .map(|branch| self.sequence(&path.join(&branch.name), &branch.steps, may_go_on))
                .collect();
            let first_failed = reaches.iter().find(|reach| matches!(reach, Reach::Failed(_)));
            if let Some(first) = first_failed
                && parallel.mode == Mode::FailFast
                && failed.is_none()
            {
                failed = Some(first.clone());
                self.tree.cancel_waits(path, self.now_ms);
                continue;
            }
            let reach = match failed {
                Some(failed) if !reaches.contains(&Reach::Open) => failed,
                Some(_) => Reach::Open,
                None => joined(&reaches),
            };
            return self.end_with(path, node, reach, may_start);
        }
    }

    /// The items of a loop, as many at once as it says.
    fn items(&mut self, path: &Path, (node, each): (&Node, &Loop), count: u32, may_start: bool) -> Reach {
        let mut failed = None;
        loop {
            let window = self.window(path, each, count, may_start && failed.is_none());
            if each.mode == Mode::FailFast && failed.is_none() && window.failed.is_some() {
                failed = window.failed;
                self.tree.cancel_waits(path, self.now_ms);
                continue;
            }
            let reach = match failed {
                Some(at) if window.open == 0 => Reach::Failed(at),
                _ if window.open > 0 => Reach::Open,
                _ if window.is_held => Reach::Held,
                _ => Reach::Done,
            };
            if reach != Reach::Open {
                self.tree.ended_items.remove(path);
            }
            return self.end_with(path, node, reach, may_start);
        }
    }

    /// Walks the items from the first that has not ended to the last that may run.
    fn window(&mut self, path: &Path, each: &Loop, count: u32, may_start: bool) -> Window {
        let mut window = Window::default();
        let from = self.tree.ended_items.get(path).copied().unwrap_or(0);
        let mut all_ended = true;
        for index in from..count {
            let item = path.at(index);
            let has_room = window.open < each.concurrency.max(1);
            let reach = self.sequence(&item, &each.steps, may_start && has_room);
            match reach {
                Reach::Open => window.open += 1,
                Reach::Held => window.is_held = true,
                Reach::Failed(at) if each.mode == Mode::FailFast => {
                    window.failed.get_or_insert(at);
                    window.is_held = true;
                }
                Reach::Done | Reach::Failed(_) if all_ended => {
                    self.tree.ended_items.insert(path.clone(), index + 1);
                    continue;
                }
                Reach::Done | Reach::Failed(_) => continue,
            }
            all_ended = false;
            if window.is_held && !self.tree.has_begun_behind(path, index) {
                break;
            }
        }
        window
    }

    fn rounds(
        &mut self,
        path: &Path,
        (node, each): (&Node, &Loop),
        (condition, chosen): (&Condition, Option<Chosen>),
        may_start: bool,
    ) -> Reach {
        let ask = |walk: &mut Self| walk.ask(path, vec![Question::Holds(condition.clone())], may_start);
        match chosen {
            Some(Chosen::Rounds(_)) => self.end_with(path, node, Reach::Done, may_start),
            Some(Chosen::Round(index)) => {
                match (self.sequence(&path.at(index), &each.steps, may_start), each.mode) {
                    (Reach::Done, _) | (Reach::Failed(_), Mode::Settle) => ask(self),
                    (reach, _) => self.end_with(path, node, reach, may_start),
                }
            }
            _ => ask(self),
        }
    }
}

/// The state of the items of a loop that have not all ended.
#[derive(Default)]
struct Window {
    open: u32,
    is_held: bool,
    failed: Option<Path>,
}

fn taken_of<'a>(
    taken: Option<u32>,
    mut branches: impl Iterator<Item = (&'a str, &'a [Node])>,
    otherwise: Option<(&'a str, &'a [Node])>,
) -> Option<(&'a str, &'a [Node])> {
    match taken {
        Some(index) => branches.nth(index as usize),
        None => otherwise,
    }
}

/// The cases as one question: `equals` is a condition, too.
fn cases(switch: &Switch) -> Question {
    let conditions = switch.cases.iter().map(|case| Some(case.condition(&switch.on)));
    Question::First(conditions.collect())
}

/// The reach of branches that all have to end.
fn joined(reaches: &[Reach]) -> Reach {
    match reaches {
        _ if reaches.contains(&Reach::Open) => Reach::Open,
        _ if reaches.contains(&Reach::Held) => Reach::Held,
        _ => Reach::Done,
    }
}

impl RunTree {
    /// The questions of a place were answered, or an expression failed.
    pub fn answered(&mut self, path: &Path, answers: Result<Vec<Box<RawValue>>, Failure>, now_ms: EpochMs) {
        self.at_work.remove(path);
        let is_running = self.places.get(path).is_some_and(|place| place.status == PlaceStatus::Running);
        let definition = std::sync::Arc::clone(&self.definition);
        let Some(node) = definition.node(path).filter(|_| is_running) else {
            return;
        };
        self.changed.insert(path.clone());
        let taken = answers.and_then(|answers| self.take_answers((path, node), answers, now_ms));
        if let Err(failure) = taken {
            self.fail(path, failure, now_ms);
        }
    }

    fn take_answers(
        &mut self,
        (path, node): (&Path, &Node),
        answers: Vec<Box<RawValue>>,
        now_ms: EpochMs,
    ) -> Result<(), Failure> {
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
                let index = read(&answers, 0)?.as_u64().and_then(|index| u32::try_from(index).ok());
                self.choose(path, Chosen::Branch(index));
            }
            NodeKind::Parallel(parallel) => {
                let mut holds = answers.iter().map(|answer| answer.get() == "true");
                let taken = parallel.branches.iter().map(|branch| branch.condition.is_none() || holds.next() == Some(true));
                self.choose(path, Chosen::Branches(taken.collect()));
            }
            NodeKind::Loop(each) => match (&each.source, chosen) {
                (LoopSource::Over(_), _) => self.choose_items(path, answers)?,
                (LoopSource::While(_), chosen) => self.choose_round(path, chosen, &answers)?,
            },
            NodeKind::Delay(delay) => {
                let until_ms = moment_of(&delay.length, &read(&answers, 0)?, now_ms)?;
                self.set_wait(path, WaitKind::Delay, Some(until_ms));
            }
            NodeKind::Call(call) => self.call(path, call.waits, answers)?,
            NodeKind::End(_) => {
                let reason = match read(&answers, 0)? {
                    Value::Null => String::new(),
                    Value::String(reason) => reason,
                    other => other.to_string(),
                };
                self.exit_at(path, reason, now_ms);
            }
            NodeKind::Wait(_) | NodeKind::Step(_) => {}
        }
        Ok(())
    }

    fn exit_at(&mut self, path: &Path, reason: String, now_ms: EpochMs) {
        self.end_place(path, PlaceStatus::Succeeded, now_ms);
        let at = path.clone();
        self.close(Closing::Exit { at, reason });
    }

    fn choose(&mut self, path: &Path, chosen: Chosen) {
        if let Some(place) = self.places.get_mut(path) {
            place.chosen = Some(chosen);
            self.changed.insert(path.clone());
        }
    }

    fn set_wait(&mut self, path: &Path, kind: WaitKind, until_ms: Option<EpochMs>) {
        if let Some(place) = self.places.get_mut(path) {
            place.wait(kind, until_ms);
        }
    }

    fn choose_items(&mut self, path: &Path, answers: Vec<Box<RawValue>>) -> Result<(), Failure> {
        let Some(items) = answers.into_iter().next() else {
            return Err(missing());
        };
        let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(items.get()) else {
            let text = format!("`over` of the loop is not an array, but {}", beginning(items.get()));
            return Err(Failure::stated(Cause::Thrown, "TypeError", text));
        };
        if list.len() > ITEMS_MAX {
            let text = format!("`over` has {} items; a loop takes {ITEMS_MAX} at most: work on them in parts", list.len());
            return Err(Failure::stated(Cause::TooMuchOutput, "LimitError", text));
        }
        let count = u32::try_from(list.len()).unwrap_or(u32::MAX);
        self.choose(path, Chosen::Items(count));
        if let Some(place) = self.places.get_mut(path) {
            place.items = Some(Kept::Here(items.into()));
        }
        Ok(())
    }

    fn choose_round(&mut self, path: &Path, chosen: Option<Chosen>, answers: &[Box<RawValue>]) -> Result<(), Failure> {
        let next = match chosen {
            Some(Chosen::Round(index)) => index + 1,
            _ => 0,
        };
        if next as usize >= ITEMS_MAX {
            let text = format!("the loop has had {ITEMS_MAX} rounds, which is the limit: its `while` still holds");
            return Err(Failure::stated(Cause::TooMuchOutput, "LimitError", text));
        }
        match read(answers, 0)? {
            Value::Bool(true) => self.choose(path, Chosen::Round(next)),
            _ => self.choose(path, Chosen::Rounds(next)),
        }
        Ok(())
    }

    fn call(&mut self, path: &Path, waits: bool, answers: Vec<Box<RawValue>>) -> Result<(), Failure> {
        let workflow = match read(&answers, 0)? {
            Value::String(workflow) if !workflow.is_empty() => workflow,
            other => {
                let text = format!("`workflow` names a workflow by id, name or folder; it is {}", beginning(&other.to_string()));
                return Err(Failure::stated(Cause::Configuration, "ConfigurationError", text));
            }
        };
        let event = answers.into_iter().nth(1).ok_or_else(missing)?;
        let event = Kept::Here(event.into());
        let work = Work::Call { workflow, event, waits };
        let order = self.order(path, work);
        self.calls.extend(order);
        Ok(())
    }

    /// Whether an item behind that one has begun.
    fn has_begun_behind(&self, path: &Path, index: u32) -> bool {
        let from = path.at(index + 1);
        let mut behind = self.places.range(from..).map(|(found, _)| found);
        behind.next().is_some_and(|found| found.is_within(path) && found != path)
    }
}

fn read(answers: &[Box<RawValue>], index: usize) -> Result<Value, Failure> {
    let answer = answers.get(index).ok_or_else(missing)?;
    serde_json::from_str(answer.get()).map_err(|_| missing())
}

fn missing() -> Failure {
    Failure::stated(Cause::WorkerLost, "WorkerLostError", "the worker did not answer all expressions")
}

/// The beginning of a JSON text, for messages.
fn beginning(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    match short.len() < text.len() {
        true => format!("`{short}…`"),
        false => format!("`{short}`"),
    }
}

fn moment_of(length: &DelayLength, value: &Value, now_ms: EpochMs) -> Result<EpochMs, Failure> {
    let until_ms = match length {
        DelayLength::For(span) => Some(now_ms + *span),
        DelayLength::ForValue(_) => moment::span(value).map(|span| now_ms + span),
        DelayLength::Until(_) => moment::moment(value),
    };
    let found = until_ms.filter(|until_ms| until_ms.since(now_ms) <= DELAY_MAX);
    found.ok_or_else(|| {
        let expected = match length {
            DelayLength::Until(_) => "`until` is a time within a year: a date text (ISO 8601) or epoch milliseconds",
            DelayLength::For(_) | DelayLength::ForValue(_) => "`for` is a time span of a year at most: `30s`, `5m`, `2h`, `7d` or milliseconds",
        };
        let text = format!("{expected}; it is {}", beginning(&value.to_string()));
        Failure::stated(Cause::Configuration, "ConfigurationError", text)
    })
}
