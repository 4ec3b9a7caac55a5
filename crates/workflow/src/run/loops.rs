//! Loops: items side by side, and rounds one after the other.

use super::{
    order::Question,
    place::Chosen,
    tree::RunTree,
    walk::{Reach, Walk},
};
use crate::{
    definition::{Condition, Loop, LoopSource, Mode, Node},
    path::Path,
};

/// The state of the items of a loop that have not all ended.
#[derive(Default)]
struct Window {
    open: u32,
    is_held: bool,
    failed: Option<Path>,
}

impl Walk<'_> {
    /// A loop that has begun and not ended.
    pub(super) fn each(
        &mut self,
        path: &Path,
        (node, each): (&Node, &Loop),
        chosen: Option<Chosen>,
        may_start: bool,
    ) -> Reach {
        match (&each.source, chosen) {
            (LoopSource::Over(_), Some(Chosen::Items(count))) => {
                self.items(path, (node, each), count, may_start)
            }
            (LoopSource::Over(over), _) => {
                self.ask(path, vec![Question::Value(over.clone())], may_start)
            }
            (LoopSource::While(condition), chosen) => {
                self.rounds(path, (node, each), (condition, chosen), may_start)
            }
        }
    }

    /// The items, as many at once as the loop says.
    fn items(
        &mut self,
        path: &Path,
        (node, each): (&Node, &Loop),
        count: u32,
        may_start: bool,
    ) -> Reach {
        let mut failed = None;
        let window = loop {
            let had_failed = failed.is_some();
            let window = self.window(path, each, count, may_start && !had_failed);
            if had_failed || window.failed.is_none() {
                break window;
            }
            failed = window.failed;
            self.tree.cancel_waits(path, self.now_ms);
        };
        let reach = match failed {
            _ if window.open > 0 => Reach::Open,
            Some(at) => Reach::Failed(at),
            None if window.is_held => Reach::Held,
            None => Reach::Done,
        };
        if reach != Reach::Open {
            self.tree.ended_items.remove(path);
        }
        self.end_with(path, node, reach, may_start)
    }

    /// Walks the items from the first that has not ended to the last that may run. Under `settle` a failed item is one
    /// that has ended.
    fn window(&mut self, path: &Path, each: &Loop, count: u32, may_start: bool) -> Window {
        let mut window = Window::default();
        let from = self.tree.ended_items.get(path).copied().unwrap_or(0);
        let mut all_ended = true;
        for index in from..count {
            let has_room = window.open < each.concurrency.max(1) && window.failed.is_none();
            let reach = self.sequence(&path.at(index), &each.steps, may_start && has_room);
            match reach {
                Reach::Open => window.open += 1,
                Reach::Held => window.is_held = true,
                Reach::Failed(at) if each.mode == Mode::FailFast => {
                    window.failed.get_or_insert(at);
                    window.is_held = true;
                }
                Reach::Done | Reach::Failed(_) => {
                    if all_ended {
                        self.tree.ended_items.insert(path.clone(), index + 1);
                    }
                    continue;
                }
            }
            all_ended = false;
            if window.is_held && !self.tree.has_begun_behind(path, index) {
                break;
            }
        }
        window
    }

    /// The rounds of `while`, which is asked before each.
    fn rounds(
        &mut self,
        path: &Path,
        (node, each): (&Node, &Loop),
        (condition, chosen): (&Condition, Option<Chosen>),
        may_start: bool,
    ) -> Reach {
        let question = vec![Question::Holds(condition.clone())];
        let index = match chosen {
            Some(Chosen::Rounds(_)) => return self.end_with(path, node, Reach::Done, may_start),
            Some(Chosen::Round(index)) => index,
            _ => return self.ask(path, question, may_start),
        };
        match (
            self.sequence(&path.at(index), &each.steps, may_start),
            each.mode,
        ) {
            (Reach::Done, _) | (Reach::Failed(_), Mode::Settle) => {
                self.ask(path, question, may_start)
            }
            (reach, _) => self.end_with(path, node, reach, may_start),
        }
    }
}

impl RunTree {
    /// Whether an item behind that one has begun.
    fn has_begun_behind(&self, path: &Path, index: u32) -> bool {
        let from = path.at(index + 1);
        let mut behind = self.places.range(from..).map(|(found, _)| found);
        behind.next().is_some_and(|found| found.is_within(path))
    }
}
