//! The twenty complaints that users of workflow engines have filed over the years, by number, and the invariant that
//! answers each. Each has its tests here, with the scripted engine: `c07_…` is about the seventh. The twentieth needs
//! the real binary, and is in the integration tests.

mod admission;
mod also;
mod crashes;
mod failures;
mod replays;
mod results;
mod waits;

use std::sync::Arc;

use headwater_engine::{SendKind, Sent, StepMessage};
use headwater_model::{
    id::{InvocationId, WorkflowId},
    outcome::Outcome,
    page::PageRequest,
};
use headwater_platform::{EventsQuery, WorkflowRunStatus, WorkflowRunView, default_channels};
use headwater_store::Store;
use parking_lot::Mutex;
use serde_json::{Value, json, value::to_raw_value};

use super::indented;
use crate::{
    engine::{Call, Run, returned_with},
    world::World,
};

/// Longer than any pause of these tests that ends by itself.
const LATER: std::time::Duration = std::time::Duration::from_hours(1);

/// A loop over the items of an expression.
fn each(name: &str, over: &str, more: &str, steps: &[String]) -> String {
    let steps = indented(&steps.concat(), 2);
    format!("- namespace: {name}\n  type: loop\n  over: '{{{{{over}}}}}'\n{more}  steps:\n{steps}")
}

/// A choice between two branches, `yes` and `else`.
fn either(name: &str, condition: &str, yes: &[String], no: &[String]) -> String {
    let (yes, no) = (indented(&yes.concat(), 4), indented(&no.concat(), 2));
    let branch = format!("  - name: yes\n    if: '{{{{{condition}}}}}'\n    steps:\n{yes}");
    format!("- namespace: {name}\n  type: ifelse\n  branches:\n{branch}  else:\n{no}")
}

/// Branches beside each other.
fn beside(name: &str, mode: &str, branches: &[(&str, &[String])]) -> String {
    let branches = branches.iter().map(|(name, steps)| {
        let steps = indented(&steps.concat(), 4);
        format!("  - name: {name}\n    steps:\n{steps}")
    });
    let branches: String = branches.collect();
    format!("- namespace: {name}\n  type: parallel\n  mode: {mode}\n  branches:\n{branches}")
}

/// A block without steps in it, with further lines of its entry.
fn block(name: &str, kind: &str, more: &[&str]) -> String {
    let more: String = more.iter().map(|line| format!("  {line}\n")).collect();
    format!("- namespace: {name}\n  type: {kind}\n{more}")
}

/// The path of the place that a step runs for.
fn path_of(run: &Run) -> String {
    let key = run.event["context"]["idempotency_key"].as_str().unwrap();
    let (_, path) = key.split_once('/').unwrap();
    path.to_owned()
}

/// The paths at which steps ran.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Notes where these steps run. Each execution returns a number of its own.
    fn on(&self, world: &World, names: &[&str]) {
        for name in names {
            let notes = self.clone();
            self.play(world, name, move |_| notes.numbered());
        }
    }

    /// Notes where a step runs, which does this.
    fn play(
        &self,
        world: &World,
        name: &str,
        act: impl Fn(&Run) -> Outcome + Send + Sync + 'static,
    ) {
        let notes = self.clone();
        world.engine.on(name, Call::Run, move |run| {
            notes.0.lock().push(path_of(run));
            act(run)
        });
    }

    fn numbered(&self) -> Outcome {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        returned_with(json!(NUMBER.fetch_add(1, Ordering::Relaxed)))
    }

    /// The paths since this was last asked.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

/// The next thing that comes of a run.
enum Next {
    Step(Box<Run>),
    Waits(Box<WorkflowRunView>),
    Ended(Box<WorkflowRunView>),
}

/// Waits until a run has a step for the test, waits, or has ended.
async fn next(world: &World, run: &InvocationId) -> Next {
    let standing = async {
        loop {
            let seen = Box::new(world.run_of(run).await);
            match seen.run.status {
                WorkflowRunStatus::Queued | WorkflowRunStatus::Running => {}
                WorkflowRunStatus::Waiting => return Next::Waits(seen),
                WorkflowRunStatus::Succeeded
                | WorkflowRunStatus::Failed
                | WorkflowRunStatus::Cancelled => return Next::Ended(seen),
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        step = world.engine.next() => Next::Step(Box::new(step)),
        standing = standing => standing,
    }
}

/// Ends each step with its path as its value, and lets time pass where the run waits, until it has ended. Returns the
/// paths of the steps that ran.
async fn played(
    world: &World,
    flow: &WorkflowId,
    run: &InvocationId,
) -> (Vec<String>, WorkflowRunView) {
    let mut paths = Vec::new();
    loop {
        match next(world, run).await {
            Next::Step(step) => {
                let path = path_of(&step);
                paths.push(path.clone());
                step.ends(returned_with(json!(path)));
            }
            Next::Waits(_) => world.later(flow, LATER).await,
            Next::Ended(ended) => return (paths, *ended),
        }
    }
}

/// A further start of the node, after so many others. Its clock begins after those of the others have ended.
async fn again(store: &Arc<dyn Store>, flow: &WorkflowId, starts: u32) -> World {
    let world = World::on_after(store, LATER * 4 * starts).await;
    world.later(flow, std::time::Duration::ZERO).await;
    world
}

/// Drops what runs, as a kill does.
async fn kill(world: &World) {
    while !world.engine.nothing_started() {
        drop(world.engine.next().await);
    }
}

/// `$.send.emit`.
fn emits(run: &Run, event: &Value) {
    run.step(StepMessage::Sent(Sent {
        kind: SendKind::Emit,
        value: to_raw_value(&json!({ "event": event })).unwrap(),
    }));
}

/// The events that a workflow emitted on a channel, oldest first.
async fn events(world: &World, flow: &WorkflowId, channel: Option<&str>) -> Vec<Value> {
    let query = EventsQuery {
        channels: default_channels(channel),
        page: PageRequest::first(100),
    };
    let page = world.platform.workflow_events(&world.caller, flow, &query);
    let mut events = crate::world::data(&page.await.unwrap().items);
    events.reverse();
    events
}
