//! The calls of steps that a test has seen. It outlives the nodes of the test, as the services of the world do, so that
//! it knows a call that is made again.
//!
//! A step that was at work when its node was killed may be called again: that is the same call. A step whose end
//! had been stored may not, and counts twice then.
//!
//! Stand-ins take turns, one at a time and in the order of their paths, and only when nothing else is at work. So neither
//! their mocks nor the order of their ends depend on how long anything takes.

use std::collections::{BTreeMap, BTreeSet};

use headwater_model::time::EpochMs;
use headwater_platform::WorkflowRunView;
use headwater_workflow::{path::Path, run::PlaceStatus};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;

/// The number of a call.
pub(super) type CallId = usize;

/// A call of a step's code.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) path: Path,
    /// The props that it was given, as the file has them, evaluated.
    pub(super) props: Value,
    pub(super) began_ms: EpochMs,
    /// The things that it sent, if it has returned.
    pub(super) sends: Vec<Value>,
    /// Its number among the calls of its step, which says the entry of a list that is meant for it.
    number: Option<usize>,
    /// Whether its node was killed before the end of the call was stored.
    is_open: bool,
}

impl Call {
    pub(super) fn namespace(&self) -> &str {
        self.path.name().unwrap_or_default()
    }

    /// Its place in the order of the calls of its step.
    pub(super) fn number(&self) -> Option<usize> {
        self.number
    }
}

/// All calls of a test's run, in the order in which they began.
#[derive(Default)]
pub(super) struct Calls {
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    calls: Vec<Call>,
    /// Stand-ins that wait for their turn, by the place that is at work for them.
    waiting: BTreeMap<Path, (CallId, oneshot::Sender<usize>)>,
}

impl Seen {
    /// Numbers the calls of a step that have no number yet, in the order of their paths.
    fn number(&mut self, namespace: &str) {
        let mut unnumbered = Vec::new();
        let mut next = 0;
        for call in self
            .calls
            .iter_mut()
            .filter(|call| call.namespace() == namespace)
        {
            match call.number {
                Some(_) => next += 1,
                None => unnumbered.push(call),
            }
        }
        unnumbered.sort_by(|a, b| a.path.cmp(&b.path));
        for (number, call) in (next..).zip(unnumbered) {
            call.number = Some(number);
        }
    }
}

impl Calls {
    /// A call begins, or is made again.
    pub(super) fn begin(&self, path: &Path, now_ms: EpochMs) -> CallId {
        let calls = &mut self.seen.lock().calls;
        let last = calls
            .iter_mut()
            .enumerate()
            .rev()
            .find(|(_, call)| call.path == *path);
        if let Some((id, call)) = last.filter(|(_, call)| call.is_open) {
            call.is_open = false;
            return id;
        }
        calls.push(Call {
            path: path.clone(),
            props: Value::Null,
            began_ms: now_ms,
            sends: Vec::new(),
            number: None,
            is_open: false,
        });
        calls.len() - 1
    }

    pub(super) fn given(&self, id: CallId, props: Value) {
        if let Some(call) = self.seen.lock().calls.get_mut(id) {
            call.props = props;
        }
    }

    pub(super) fn sent(&self, id: CallId, sends: Vec<Value>) {
        if let Some(call) = self.seen.lock().calls.get_mut(id) {
            call.sends = sends;
        }
    }

    /// Waits for the turn of a stand-in: its number among the calls of its step. It never comes if a failure or a kill cuts
    /// the call off.
    pub(super) fn turn(&self, id: CallId) -> oneshot::Receiver<usize> {
        let (sender, turn) = oneshot::channel();
        let mut seen = self.seen.lock();
        if let Some(path) = seen.calls.get(id).map(|call| call.path.clone()) {
            seen.waiting.insert(path, (id, sender));
        }
        turn
    }

    /// The places whose stand-ins wait for their turns.
    pub(super) fn waiting(&self) -> BTreeSet<Path> {
        self.seen.lock().waiting.keys().cloned().collect()
    }

    /// Gives the first stand-in its turn if all that is at work are stand-ins which wait for theirs. By then all calls that
    /// compete for a list are there. One that waited before, and is not at work, was cut off by a failure beside it: it has
    /// no turn.
    pub(super) fn give_turn(&self, waited: &BTreeSet<Path>, at_work: &BTreeSet<Path>) {
        let mut seen = self.seen.lock();
        for path in waited.difference(at_work) {
            seen.waiting.remove(path);
        }
        if !at_work.iter().all(|path| seen.waiting.contains_key(path)) {
            return;
        }
        at_work
            .iter()
            .filter_map(Path::name)
            .for_each(|namespace| seen.number(namespace));
        let first = at_work.first().and_then(|path| seen.waiting.remove(path));
        if let Some((id, turn)) = first {
            let number = seen.calls.get(id).and_then(|call| call.number);
            let _ = turn.send(number.unwrap_or_default());
        }
    }

    /// The last call of a place, and its number among those of its step.
    pub(super) fn last_at(&self, path: &Path) -> Option<(Call, usize)> {
        let mut seen = self.seen.lock();
        seen.number(path.name()?);
        let call = seen.calls.iter().rev().find(|call| call.path == *path)?;
        Some((call.clone(), call.number?))
    }

    /// The run is at rest: later calls have higher numbers than those so far.
    pub(super) fn rest(&self) {
        let mut seen = self.seen.lock();
        let namespaces = seen.calls.iter().filter(|call| call.number.is_none());
        let namespaces: BTreeSet<String> =
            namespaces.map(|call| call.namespace().to_owned()).collect();
        namespaces
            .iter()
            .for_each(|namespace| seen.number(namespace));
    }

    /// All calls, in the order in which they began.
    pub(super) fn all(&self) -> Vec<Call> {
        self.rest();
        self.seen.lock().calls.clone()
    }

    /// The node was killed, and this is all that it has stored of the run.
    pub(super) fn go_on_from(&self, run: &WorkflowRunView) {
        let mut seen = self.seen.lock();
        seen.waiting.clear();
        let calls = &mut seen.calls;
        let mut counts: BTreeMap<Path, usize> = BTreeMap::new();
        for call in calls.iter() {
            *counts.entry(call.path.clone()).or_default() += 1;
        }
        for (path, count) in counts {
            let step = run.steps.iter().find(|step| step.path == path);
            let stored = step.map_or(0, |step| match step.status {
                // The tries that have begun: the last of them has not ended.
                PlaceStatus::Running => (step.attempts as usize).saturating_sub(1),
                PlaceStatus::Waiting
                | PlaceStatus::Succeeded
                | PlaceStatus::Failed
                | PlaceStatus::Skipped
                | PlaceStatus::Cancelled => count,
            });
            let last = calls.iter_mut().rev().find(|call| call.path == path);
            if let Some(call) = last.filter(|_| stored < count) {
                call.is_open = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.parse().unwrap()
    }

    fn paths(texts: &[&str]) -> BTreeSet<Path> {
        texts.iter().map(|text| path(text)).collect()
    }

    #[test]
    fn stand_ins_take_turns_by_path_once_nothing_else_is_at_work() {
        let calls = Calls::default();
        let places = ["each[1].reserve", "each[0].reserve"];
        let give_turn = |at_work: &[&str]| calls.give_turn(&calls.waiting(), &paths(at_work));
        let ids = places.map(|place| calls.begin(&path(place), EpochMs(0)));
        let mut second = calls.turn(ids[0]);
        give_turn(&["each[0].prepare", "each[1].reserve"]);
        assert!(second.try_recv().is_err(), "the first item is on its way");
        let mut first = calls.turn(ids[1]);
        give_turn(&places);
        assert_eq!(first.try_recv(), Ok(0));
        assert!(second.try_recv().is_err(), "one at a time");
        give_turn(&places);
        assert!(second.try_recv().is_err(), "the first one is at work");
        give_turn(&places[..1]);
        assert_eq!(second.try_recv(), Ok(1));
        let again = calls.begin(&path("each[1].reserve"), EpochMs(0));
        let mut again = calls.turn(again);
        give_turn(&places[..1]);
        assert_eq!(again.try_recv(), Ok(2));
    }

    #[test]
    fn a_stand_in_that_was_cut_off_has_no_turn() {
        let calls = Calls::default();
        let ids = ["left", "right"].map(|place| calls.begin(&path(place), EpochMs(0)));
        let mut left = calls.turn(ids[0]);
        let waited = calls.waiting();
        let mut right = calls.turn(ids[1]);
        calls.give_turn(&waited, &paths(&["alarm"]));
        assert_eq!(left.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        let came_later = right.try_recv();
        assert_eq!(came_later, Err(oneshot::error::TryRecvError::Empty));
    }

    #[test]
    fn calls_of_real_code_are_numbered_by_path_when_they_are_asked_for() {
        let calls = Calls::default();
        for place in ["each[10].ask", "each[2].ask", "other"] {
            calls.begin(&path(place), EpochMs(0));
        }
        let number = |place| calls.last_at(&path(place)).map(|(_, number)| number);
        assert_eq!(number("each[10].ask"), Some(1));
        calls.begin(&path("each[2].ask"), EpochMs(0));
        assert_eq!(number("each[2].ask"), Some(2));
        assert_eq!(number("each[10].ask"), Some(1), "a call keeps its number");
        assert_eq!(number("each[3].ask"), None);
    }
}
