//! The ends of waits: answers to their URLs, called runs that ended, and time that passed.

use std::mem;

use headwater_model::time::EpochMs;

use super::{
    failure::{Cause, Failure},
    kept::Kept,
    place::{Place, PlaceStatus, Rerun, WaitKind},
    resolution::{Resolution, Resolved},
    tree::{Closing, RunTree},
};
use crate::{
    definition::{Node, NodeKind, OnTimeout},
    path::{ON_ERROR, Path},
};

impl RunTree {
    /// A resolution of a place's wait of that generation came in.
    pub fn resolve(
        &mut self,
        path: &Path,
        generation: u32,
        resolution: Resolution,
        now_ms: EpochMs,
    ) -> Resolved {
        let Some(place) = self.places.get_mut(path) else {
            return self.resolve_ahead(path, resolution);
        };
        if place.generation != generation || place.status.is_final() || place.early.is_some() {
            return Resolved::Before;
        }
        if place.status == PlaceStatus::Running {
            place.early = Some(resolution);
            self.touched(path);
            return Resolved::AtItsEnd;
        }
        self.apply(path, resolution, now_ms);
        Resolved::Now
    }

    /// The wait of a block that has not begun is answered: steps before it know its URLs.
    fn resolve_ahead(&mut self, path: &Path, resolution: Resolution) -> Resolved {
        let is_answered = self.root.early.iter().any(|(of, _)| of == path);
        if is_answered || !self.is_ahead(path) {
            return Resolved::Before;
        }
        if matches!(resolution, Resolution::Cancel) {
            self.close(cancelled_at(path));
            return Resolved::Now;
        }
        // Some may be of sequences that have ended before their wait began.
        let mut early = mem::take(&mut self.root.early);
        early.retain(|(of, _)| self.is_ahead(of));
        early.push((path.clone(), resolution));
        self.root.early = early;
        Resolved::AtItsEnd
    }

    /// Whether it is a wait that a sequence under way comes to. Nobody has the URLs of others.
    fn is_ahead(&self, path: &Path) -> bool {
        let (Some(base), Some((siblings, node))) = (path.parent(), self.definition.found(path))
        else {
            return false;
        };
        let is_over = match base.parent() {
            _ if base.name() == Some(ON_ERROR) => false,
            None => self.root.failed.is_some(),
            Some(owner) => {
                let owner = self.places.get(&owner);
                owner.is_none_or(|owner| owner.status.is_final())
            }
        };
        let has_begun = |node: &Node| {
            let path = base.join(node.namespace.as_str());
            self.places.contains_key(&path)
        };
        matches!(node.kind, NodeKind::Wait(_))
            && !is_over
            && siblings.iter().any(has_begun)
            && self.sequence_failure(&base, siblings).is_none()
    }

    /// Ends the waits that are over by then.
    pub fn wake(&mut self, now_ms: EpochMs) {
        let is_over = |path: &&Path| {
            let due_ms = self.places.get(*path).and_then(Place::due);
            due_ms.is_some_and(|due_ms| due_ms <= now_ms)
        };
        let over: Vec<Path> = self.waiting.iter().filter(is_over).cloned().collect();
        for path in over {
            self.time_out(&path, now_ms);
        }
    }

    /// Applies the resolution that came while a step ran, once it waits.
    pub(super) fn apply_early(&mut self, path: &Path, now_ms: EpochMs) {
        let Some(place) = self.places.get_mut(path) else {
            return;
        };
        if place.status == PlaceStatus::Waiting
            && let Some(resolution) = place.early.take()
        {
            self.apply(path, resolution, now_ms);
        }
    }

    fn apply(&mut self, path: &Path, resolution: Resolution, now_ms: EpochMs) {
        let Some(place) = self.places.get_mut(path) else {
            return;
        };
        let kind = place.wait.as_ref().map(|wait| wait.kind);
        place.generation += 1;
        match resolution {
            Resolution::Cancel => {
                place.end(PlaceStatus::Cancelled, now_ms);
                self.close(cancelled_at(path));
            }
            Resolution::Resume(request) => match kind {
                Some(WaitKind::Rerun) => run_again(place, request, now_ms),
                Some(WaitKind::Retry) => place.resume(now_ms),
                _ => {
                    if let Some(request) = request {
                        place.set_export("$resume_data", request);
                    }
                    place.end(PlaceStatus::Succeeded, now_ms);
                }
            },
            Resolution::Rerun(request) => match kind {
                Some(WaitKind::Retry) => place.resume(now_ms),
                _ => run_again(place, request, now_ms),
            },
            Resolution::Returned(value) => {
                place.set_export("$return_value", value);
                place.end(PlaceStatus::Succeeded, now_ms);
            }
            Resolution::Failed(text) => {
                let failure = Failure::stated(Cause::Called, "CalledRunFailed", text);
                self.fail(path, failure, now_ms);
            }
        }
        self.touched(path);
    }

    fn time_out(&mut self, path: &Path, now_ms: EpochMs) {
        let on_timeout = match self.definition.node(path).map(|node| &node.kind) {
            Some(NodeKind::Wait(wait)) => wait.on_timeout,
            _ => OnTimeout::Cancel,
        };
        let Some(place) = self.places.get_mut(path) else {
            return;
        };
        let Some(wait) = &place.wait else { return };
        match (wait.kind, on_timeout) {
            (WaitKind::Delay, _) | (WaitKind::Wait, OnTimeout::Continue) => {
                place.end(PlaceStatus::Succeeded, now_ms);
            }
            (WaitKind::Rerun, _) => {
                // The same wait goes on in the next execution: its URLs may have been handed out already.
                let generation = place.generation;
                run_again(place, None, now_ms);
                place.generation = generation;
            }
            (WaitKind::Retry, _) => place.resume(now_ms),
            (WaitKind::Wait, OnTimeout::Fail) => {
                let text = format!("nobody answered `{path}` in time; its `on_timeout` is `fail`");
                let failure = Failure::stated(Cause::WaitTimedOut, "WaitTimedOut", text);
                self.fail(path, failure, now_ms);
            }
            (WaitKind::Suspend | WaitKind::Wait | WaitKind::Call, _) => {
                place.end(PlaceStatus::Cancelled, now_ms);
                let reason = format!("{path}: nobody resumed it in time");
                self.close(Closing::Cancel { reason });
            }
        }
        self.touched(path);
    }
}

/// Lets a step run again, as `$.flow.rerun` asked for.
fn run_again(place: &mut Place, request: Option<Kept>, now_ms: EpochMs) {
    let rerun = place.rerun.get_or_insert(Rerun {
        runs: 1,
        context: None,
        callback_request: None,
    });
    rerun.runs += 1;
    rerun.callback_request = request;
    place.resume(now_ms);
}

fn cancelled_at(path: &Path) -> Closing {
    Closing::Cancel {
        reason: format!("{path}: cancelled through its URL"),
    }
}
