//! The events that a run of a workflow shows as its own.

use headwater_engine::{SendKind, Sent, StepMessage};
use headwater_platform::WorkflowRunStatus;
use serde_json::{json, value::to_raw_value};

use super::{Flow, step};
use crate::{engine::Run, world::World};

/// Events that a run shows at most.
const SHOWN_MAX: usize = 500;

fn emits(run: &Run, count: usize) {
    for number in 0..count {
        run.step(StepMessage::Sent(Sent {
            kind: SendKind::Emit,
            value: to_raw_value(&json!({ "event": number })).unwrap(),
        }));
    }
}

/// The event on `$errors` is not one of them, and does not count as one that is left out.
#[tokio::test]
async fn a_failed_run_shows_the_events_of_its_steps_alone() {
    for (emitted, has_more) in [(0, false), (SHOWN_MAX, false), (SHOWN_MAX + 1, true)] {
        let world = World::new().await;
        let flow = Flow::of(&[step("one", &[]), step("two", &[])]);
        let flow = flow.id(&world).await;
        let run = world.start_run(&flow, json!({})).await;
        let one = world.step("one").await;
        emits(&one, emitted);
        one.returns();
        let two = world.step("two").await;
        let open = world.run_of(&run).await;
        two.throws("no");
        let failed = world.run_that(&run, WorkflowRunStatus::Failed).await;
        for seen in [open, failed] {
            assert_eq!(seen.emitted.len(), emitted.min(SHOWN_MAX));
            assert_eq!(seen.has_more_emitted, has_more, "{emitted}");
        }
    }
}
