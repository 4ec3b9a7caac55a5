//! Blocks: the questions that they ask, the branches that they run, and their ends.

use headwater_model::time::EpochMs;

use super::{
    order::Question,
    place::{Chosen, PlaceStatus, WaitKind},
    walk::{Reach, Walk},
};
use crate::{
    definition::{Branch, Delay, DelayLength, End, Mode, Node, NodeKind, Parallel, Switch},
    path::Path,
};

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
                let conditions = ifelse
                    .branches
                    .iter()
                    .map(|branch| branch.condition.clone());
                let question = || Question::First(conditions.collect());
                self.branch((path, node), chosen, question, may_start)
            }
            NodeKind::Switch(switch) => {
                self.branch((path, node), chosen, || cases(switch), may_start)
            }
            NodeKind::Parallel(parallel) => match chosen {
                Some(Chosen::Branches(taken)) => {
                    self.branches(path, (node, parallel), &taken, may_start)
                }
                _ => self.ask_branches(path, (node, parallel), may_start),
            },
            NodeKind::Loop(each) => self.each(path, (node, each), chosen, may_start),
            NodeKind::Delay(delay) => self.delay(path, delay, may_start),
            NodeKind::Wait(wait) => {
                let until_ms = wait.timeout.map(|timeout| self.now_ms + timeout);
                self.wait(path, WaitKind::Wait, until_ms, may_start)
            }
            NodeKind::Call(call) => {
                let questions = [&call.workflow, &call.event];
                let questions = questions.map(|value| Question::Value(value.clone()));
                self.ask(path, questions.into(), may_start)
            }
            NodeKind::End(end) => self.exit(path, end, may_start),
            NodeKind::Step(_) => Reach::Open,
        }
    }

    fn delay(&mut self, path: &Path, delay: &Delay, may_start: bool) -> Reach {
        match &delay.length {
            DelayLength::For(span) => {
                let until_ms = self.now_ms + *span;
                self.wait(path, WaitKind::Delay, Some(until_ms), may_start)
            }
            DelayLength::ForValue(value) | DelayLength::Until(value) => {
                self.ask(path, vec![Question::Value(value.clone())], may_start)
            }
        }
    }

    fn wait(
        &mut self,
        path: &Path,
        kind: WaitKind,
        until_ms: Option<EpochMs>,
        may_start: bool,
    ) -> Reach {
        if !may_start {
            return self.held(path);
        }
        self.tree.set_wait(path, kind, until_ms, self.now_ms);
        self.tree.apply_early(path, self.now_ms);
        match self.tree.places[path].status {
            PlaceStatus::Succeeded => Reach::Done,
            PlaceStatus::Cancelled => Reach::Held,
            PlaceStatus::Waiting
            | PlaceStatus::Running
            | PlaceStatus::Failed
            | PlaceStatus::Skipped => Reach::Open,
        }
    }

    fn exit(&mut self, path: &Path, end: &End, may_start: bool) -> Reach {
        match &end.reason {
            Some(reason) => self.ask(path, vec![Question::Value(reason.clone())], may_start),
            None if may_start => {
                self.tree.exit_at(path, String::new(), self.now_ms);
                Reach::Held
            }
            None => self.held(path),
        }
    }

    /// The branch that is taken, if any is.
    fn branch(
        &mut self,
        (path, node): (&Path, &Node),
        chosen: Option<Chosen>,
        question: impl FnOnce() -> Question,
        may_start: bool,
    ) -> Reach {
        let Some(Chosen::Branch(taken)) = chosen else {
            return self.ask(path, vec![question()], may_start);
        };
        let reach = match node.kind.taken(taken) {
            Some((name, steps)) => self.sequence(&path.join(name), steps, may_start),
            None => Reach::Done,
        };
        self.end_with(path, node, reach, may_start)
    }

    /// The end of a block that ends as the last of its parts does.
    pub(super) fn end_with(
        &mut self,
        path: &Path,
        node: &Node,
        reach: Reach,
        may_start: bool,
    ) -> Reach {
        match reach {
            Reach::Done => {
                self.tree
                    .end_place(path, PlaceStatus::Succeeded, self.now_ms);
                Reach::Done
            }
            Reach::Failed(at) => {
                let failure = self.tree.places.get(&at).and_then(|at| at.failure.clone());
                // Blocks of other branches, in which nothing further began.
                self.tree.cancel_all(path, self.now_ms);
                if let Some(failure) = failure {
                    self.tree.fail(path, failure, self.now_ms);
                }
                self.failed(path, node, may_start)
            }
            Reach::Open | Reach::Held => reach,
        }
    }

    fn ask_branches(
        &mut self,
        path: &Path,
        (node, parallel): (&Node, &Parallel),
        may_start: bool,
    ) -> Reach {
        let branches = parallel.branches.iter();
        let conditions = branches.filter_map(|branch| branch.condition.clone());
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
        let branches = parallel.branches.iter().zip(taken);
        let branches = branches.filter(|(_, taken)| **taken);
        let branches: Vec<&Branch> = branches.map(|(branch, _)| branch).collect();
        let has_failed = |branch: &&Branch| {
            let base = path.join(&branch.name);
            self.tree.sequence_failure(&base, &branch.steps).is_some()
        };
        let is_fast = parallel.mode == Mode::FailFast;
        // Known before the walk: branches before the failed one begin nothing either.
        let mut is_stopped = is_fast && branches.iter().any(has_failed);
        let mut failed = None;
        let reaches = loop {
            if is_stopped {
                self.tree.cancel_waits(path, self.now_ms);
            }
            let was_stopped = is_stopped;
            let mut reaches = Vec::with_capacity(branches.len());
            for branch in &branches {
                let base = path.join(&branch.name);
                let reach = self.sequence(&base, &branch.steps, may_start && !is_stopped);
                if is_fast && matches!(reach, Reach::Failed(_)) {
                    is_stopped = true;
                    failed.get_or_insert_with(|| reach.clone());
                }
                reaches.push(reach);
            }
            if was_stopped == is_stopped {
                break reaches;
            }
        };
        let reach = match failed {
            _ if reaches.contains(&Reach::Open) => Reach::Open,
            Some(failed) => failed,
            None if reaches.contains(&Reach::Held) => Reach::Held,
            None => Reach::Done,
        };
        self.end_with(path, node, reach, may_start)
    }
}

/// The cases as one question: `equals` is a condition, too.
fn cases(switch: &Switch) -> Question {
    let cases = switch.cases.iter();
    let conditions = cases.map(|case| Some(case.condition(&switch.on)));
    Question::First(conditions.collect())
}
