//! The walk over a run's definition that finds what is to be done next.

use std::sync::Arc;

use headwater_model::time::EpochMs;

use super::{
    order::{Order, Question, Work},
    place::PlaceStatus,
    tree::{Closing, RunEnd, RunTree, State},
};
use crate::{
    definition::{Node, NodeKind, OnError},
    path::{ON_ERROR, Path},
};

/// How far a sequence of nodes has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// To its end.
    Done,
    /// Something in it is at work, or waits.
    Open,
    /// Nothing in it is at work, and nothing further may start.
    Held,
    /// To this place, which failed without being handled.
    Failed(Path),
}

pub(super) struct Walk<'a> {
    pub(super) tree: &'a mut RunTree,
    pub(super) now_ms: EpochMs,
    pub(super) orders: Vec<Order>,
}

impl RunTree {
    /// Finds what is to be done, begins the places that may begin, and says how the run stands.
    pub fn advance(&mut self, now_ms: EpochMs) -> (Vec<Order>, State) {
        let mut walk = Walk {
            tree: self,
            now_ms,
            orders: Vec::new(),
        };
        let state = walk.run();
        let mut orders = walk.orders;
        orders.append(&mut self.calls);
        (orders, state)
    }
}

impl Walk<'_> {
    fn run(&mut self) -> State {
        if let Some(end) = &self.tree.root.end {
            return State::Ended(end.clone());
        }
        let definition = Arc::clone(&self.tree.definition);
        let root = Path::root();
        if self.tree.root.failed.is_none() {
            let reach = self.main(&root, &definition.steps);
            if let Some(Closing::Cancel { reason }) = self.tree.root.closing.clone() {
                return self.end(RunEnd::Cancelled { reason });
            }
            match (reach, self.tree.root.closing.clone()) {
                (Reach::Open, _) => return self.standing(),
                (_, Some(Closing::Exit { at, reason })) => {
                    self.end_around(&at);
                    let reason = Some(reason);
                    return self.end(RunEnd::Succeeded { reason });
                }
                (Reach::Failed(at), _) => {
                    let failure = self.tree.places.get(&at).and_then(|at| at.failure.clone());
                    self.tree.root.failed = failure.map(|failure| (at, failure));
                }
                (Reach::Done | Reach::Held, _) => {
                    return self.end(RunEnd::Succeeded { reason: None });
                }
            }
        }
        self.handler(&root.join(ON_ERROR), &definition.on_error)
    }

    /// The steps of the workflow. A run that a step ends starts nothing more, and waits for nothing.
    fn main(&mut self, root: &Path, steps: &[Node]) -> Reach {
        loop {
            let closing = self.tree.root.closing.clone();
            match &closing {
                Some(Closing::Cancel { .. }) => return Reach::Held,
                Some(Closing::Exit { .. }) => self.tree.cancel_waits(root, self.now_ms),
                None => {}
            }
            let reach = self.sequence(root, steps, closing.is_none());
            if self.tree.root.closing == closing {
                return reach;
            }
        }
    }

    /// The workflow's handler of failures. The run has failed, whatever the handler does.
    fn handler(&mut self, base: &Path, nodes: &[Node]) -> State {
        if let Some(Closing::Cancel { reason }) = self.tree.root.closing.clone() {
            return self.end(RunEnd::Cancelled { reason });
        }
        let may_start = self.tree.root.closing.is_none();
        let reach = self.sequence(base, nodes, may_start);
        match (reach, self.tree.root.failed.clone()) {
            (Reach::Open, _) => self.standing(),
            (_, Some((at, failure))) => self.end(RunEnd::Failed { at, failure }),
            (_, None) => self.end(RunEnd::Succeeded { reason: None }),
        }
    }

    fn standing(&self) -> State {
        let is_still = self.tree.at_work.is_empty() && self.orders.is_empty();
        match is_still && self.tree.calls.is_empty() {
            true => State::Waiting(self.tree.next_due()),
            false => State::Running,
        }
    }

    fn end(&mut self, end: RunEnd) -> State {
        self.tree.cancel_all(&Path::root(), self.now_ms);
        self.tree.at_work.clear();
        self.orders.clear();
        self.tree.calls.clear();
        self.tree.root.end = Some(end.clone());
        State::Ended(end)
    }

    /// The blocks around the place that ended the run did what they were to do.
    fn end_around(&mut self, at: &Path) {
        let around = self.tree.places.iter();
        let around = around.filter(|(path, place)| at.is_within(path) && !place.status.is_final());
        let around: Vec<Path> = around.map(|(path, _)| path.clone()).collect();
        for path in around {
            self.tree
                .end_place(&path, PlaceStatus::Succeeded, self.now_ms);
        }
    }

    /// Nodes one after the other.
    pub(super) fn sequence(&mut self, base: &Path, nodes: &[Node], may_start: bool) -> Reach {
        for node in nodes {
            let path = base.join(node.namespace.as_str());
            match self.node(&path, node, may_start) {
                Reach::Done => {}
                reach => return reach,
            }
        }
        Reach::Done
    }

    fn node(&mut self, path: &Path, node: &Node, may_start: bool) -> Reach {
        // A block `end` closes the run in the middle of a walk.
        let may_start = may_start && self.tree.root.closing.is_none();
        if !self.tree.places.contains_key(path) {
            if node.is_disabled {
                return Reach::Done;
            }
            if !may_start {
                return Reach::Held;
            }
            self.tree.begin(path, self.now_ms);
        }
        match self.tree.places[path].status {
            PlaceStatus::Succeeded | PlaceStatus::Skipped => Reach::Done,
            PlaceStatus::Cancelled => Reach::Held,
            PlaceStatus::Waiting => Reach::Open,
            PlaceStatus::Failed => self.failed(path, node, may_start),
            PlaceStatus::Running => match &node.kind {
                NodeKind::Step(_) => self.ask_for(path, Work::Step, may_start),
                _ => self.block(path, node, may_start),
            },
        }
    }

    /// A failed place: the consequence that its node names.
    pub(super) fn failed(&mut self, path: &Path, node: &Node, may_start: bool) -> Reach {
        match &node.on_error {
            OnError::Fail => Reach::Failed(path.clone()),
            OnError::Continue => Reach::Done,
            OnError::Steps(steps) => self.sequence(&path.join(ON_ERROR), steps, may_start),
        }
    }

    pub(super) fn ask(&mut self, path: &Path, questions: Vec<Question>, may_start: bool) -> Reach {
        self.ask_for(path, Work::Evaluate(questions), may_start)
    }

    /// Orders work, unless the place has some already. After a crash nothing that was stopped begins again.
    fn ask_for(&mut self, path: &Path, work: Work, may_start: bool) -> Reach {
        if !may_start && !self.tree.at_work.contains(path) {
            return self.held(path);
        }
        let order = self.tree.order(path, work);
        self.orders.extend(order);
        Reach::Open
    }

    /// A place that has begun and may not go on.
    pub(super) fn held(&mut self, path: &Path) -> Reach {
        self.tree
            .end_place(path, PlaceStatus::Cancelled, self.now_ms);
        Reach::Held
    }
}
