//! The calls of steps that a test has seen. It outlives the nodes of the test, as the services of the world do, so that
//! it knows a call that is made again.
//!
//! A step that was at work when its node was killed may be called again: that is the same call. A step whose end
//! had been stored may not, and counts twice then.

use std::collections::BTreeMap;

use headwater_model::time::EpochMs;
use headwater_platform::WorkflowRunView;
use headwater_workflow::{path::Path, run::PlaceStatus};
use parking_lot::Mutex;
use serde_json::Value;

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
    /// The mock that answers it, by its index.
    mock: Option<usize>,
    /// Whether its node was killed before the end of the call was stored.
    is_open: bool,
}

impl Call {
    pub(super) fn namespace(&self) -> &str {
        self.path.name().unwrap_or_default()
    }
}

/// All calls of a test's run, in the order in which they began.
#[derive(Default)]
pub(super) struct Calls {
    calls: Mutex<Vec<Call>>,
}

impl Calls {
    /// A call begins, or is made again.
    pub(super) fn begin(&self, path: &Path, now_ms: EpochMs) -> CallId {
        let mut calls = self.calls.lock();
        let last = calls.iter_mut().enumerate().rev();
        let last = last.map(|(id, call)| (id, call)).find(|(_, call)| call.path == *path);
        if let Some((id, call)) = last.filter(|(_, call)| call.is_open) {
            call.is_open = false;
            return id;
        }
        calls.push(Call {
            path: path.clone(),
            props: Value::Null,
            began_ms: now_ms,
            sends: Vec::new(),
            mock: None,
            is_open: false,
        });
        calls.len() - 1
    }

    pub(super) fn given(&self, id: CallId, props: Value) {
        if let Some(call) = self.calls.lock().get_mut(id) {
            call.props = props;
        }
    }

    pub(super) fn sent(&self, id: CallId, sends: Vec<Value>) {
        if let Some(call) = self.calls.lock().get_mut(id) {
            call.sends = sends;
        }
    }

    /// The index of the mock that answers a call, of so many. Those of items that run side by side are consumed in
    /// the order of the items; the last one is never used up.
    pub(super) fn mock_of(&self, id: CallId, mocks: usize) -> usize {
        let mut calls = self.calls.lock();
        let Some(namespace) = calls.get(id).map(|call| call.namespace().to_owned()) else {
            return 0;
        };
        let same = |call: &&mut Call| call.namespace() == namespace;
        let mut consumed = calls.iter_mut().filter(same).filter(|call| call.mock.is_some()).count();
        let mut waiting: Vec<&mut Call> = calls.iter_mut().filter(same).filter(|call| call.mock.is_none()).collect();
        waiting.sort_by(|a, b| a.path.cmp(&b.path));
        for call in waiting {
            call.mock = Some(consumed);
            consumed += 1;
        }
        let index = calls[id].mock.unwrap_or_default();
        index.min(mocks.saturating_sub(1))
    }

    /// The last call of a place.
    pub(super) fn last_at(&self, path: &Path) -> Option<(Call, usize)> {
        let calls = self.calls.lock();
        let call = calls.iter().rev().find(|call| call.path == *path)?;
        Some((call.clone(), call.mock.unwrap_or_default()))
    }

    pub(super) fn all(&self) -> Vec<Call> {
        self.calls.lock().clone()
    }

    /// Another node has started, and this is all that the former one has stored of the run.
    pub(super) fn go_on_from(&self, run: &WorkflowRunView) {
        let mut calls = self.calls.lock();
        let mut seen: BTreeMap<Path, usize> = BTreeMap::new();
        for call in calls.iter() {
            *seen.entry(call.path.clone()).or_default() += 1;
        }
        for (path, count) in seen {
            let step = run.steps.iter().find(|step| step.path == path);
            let stored = step.map_or(0, |step| match step.status {
                // The tries that have begun: the last of them has not ended.
                PlaceStatus::Running => (step.attempts as usize).saturating_sub(1),
                _ => count,
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

    #[test]
    fn mocks_are_consumed_in_the_order_of_items() {
        let calls = Calls::default();
        let second = calls.begin(&path("each[1].reserve"), EpochMs(0));
        let first = calls.begin(&path("each[0].reserve"), EpochMs(0));
        assert_eq!(calls.mock_of(second, 3), 1);
        assert_eq!(calls.mock_of(first, 3), 0);
        let again = calls.begin(&path("each[1].reserve"), EpochMs(0));
        assert_eq!(calls.mock_of(again, 3), 2);
        let last = calls.begin(&path("each[1].reserve"), EpochMs(0));
        assert_eq!(calls.mock_of(last, 3), 2, "the last one is never used up");
        assert_eq!(calls.mock_of(again, 3), 2, "a call keeps its mock");
    }
}
