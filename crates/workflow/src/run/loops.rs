//! Loops: items side by side, and rounds one after the other.

use super::{
    items::Items,
    order::Question,
    place::Chosen,
    walk::{Reach, Walk},
};
use crate::{
    definition::{Condition, Loop, LoopSource, Mode, Node},
    path::Path,
};

/// The outcome of a walk over the items that are under way.
#[derive(Default)]
struct Window {
    open: u32,
    is_held: bool,
    failed: Option<Path>,
}

impl Window {
    /// Counts an item, and says whether it has ended. Under `settle` a failed item has.
    fn take(&mut self, reach: Reach, mode: Mode) -> bool {
        match (reach, mode) {
            (Reach::Done, _) | (Reach::Failed(_), Mode::Settle) => return true,
            (Reach::Open, _) => self.open += 1,
            (Reach::Held, _) => self.is_held = true,
            (Reach::Failed(at), Mode::FailFast) => {
                self.failed.get_or_insert(at);
            }
        }
        false
    }
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
        let items = self.tree.items.remove(path);
        let mut items = items.unwrap_or_else(|| Items::of(path, count, &self.tree.places));
        // Known before the walk: items before the failed one begin nothing either.
        let mut is_stopped = self.has_failed_item(path, each, &items);
        let window = loop {
            if is_stopped {
                self.tree.cancel_waits(path, self.now_ms);
            }
            let was_stopped = is_stopped;
            let may_go_on = may_start && !is_stopped;
            let window = self.window(path, (each, count), &mut items, may_go_on);
            is_stopped = window.failed.is_some();
            if was_stopped == is_stopped {
                break window;
            }
        };
        let reach = match window.failed {
            _ if window.open > 0 => Reach::Open,
            Some(at) => Reach::Failed(at),
            None if window.is_held || items.next < count => Reach::Held,
            None => Reach::Done,
        };
        if matches!(reach, Reach::Open | Reach::Held) {
            self.tree.items.insert(path.clone(), items);
        }
        self.end_with(path, node, reach, may_start)
    }

    /// Whether an item has failed under `fail_fast`.
    fn has_failed_item(&self, path: &Path, each: &Loop, items: &Items) -> bool {
        let has_failed = |index: &u32| {
            let failure = self.tree.sequence_failure(&path.at(*index), &each.steps);
            failure.is_some()
        };
        each.mode == Mode::FailFast && items.open.iter().any(has_failed)
    }

    /// Walks the items that are under way, and begins others as long as there is room.
    fn window(
        &mut self,
        path: &Path,
        (each, count): (&Loop, u32),
        items: &mut Items,
        may_start: bool,
    ) -> Window {
        let mut window = Window::default();
        let mut walk = |index: u32, window: &mut Window| {
            let may_go_on = may_start && window.failed.is_none();
            let reach = self.sequence(&path.at(index), &each.steps, may_go_on);
            !window.take(reach, each.mode)
        };
        items.open.retain(|index| walk(*index, &mut window));
        let at_once = each.concurrency.max(1) as usize;
        while may_start
            && window.failed.is_none()
            && items.next < count
            && items.open.len() < at_once
        {
            let index = items.next;
            items.next += 1;
            if walk(index, &mut window) {
                items.open.insert(index);
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
