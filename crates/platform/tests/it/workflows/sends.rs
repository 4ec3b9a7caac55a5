//! The numbers of the things that a run sends, of which receivers get `Idempotency-Key`.

use std::time::Duration;

use headwater_engine::{FlowOperation, SendKind, Sent, StepMessage};
use headwater_platform::WorkflowRunStatus;
use serde_json::{Value, json};

use super::{
    Flow,
    flow::{pauses, raw},
    step,
};
use crate::{
    engine::Run,
    world::{World, life, memory},
};

const LATER: Duration = Duration::from_secs(60);

/// `$.send.email` with that subject.
fn sends(run: &Run, subject: &str) {
    run.step(StepMessage::Sent(Sent {
        kind: SendKind::Email,
        value: raw(&json!({ "subject": subject })),
    }));
}

/// A killed node sends nothing of a step that had not ended, and the next one sends it under the number that it would have
/// had. What another execution of the step sends has numbers of its own.
#[test]
fn whatever_a_run_sends_has_one_number_through_kills_and_reruns() {
    let store = memory();
    let (flow, run) = life(async {
        let world = World::on(&store).await;
        let flow = Flow::of(&[step("one", &[])]).id(&world).await;
        let run = world.start_run(&flow, json!(1)).await;
        let killed = world.step("one").await;
        sends(&killed, "first");
        sends(&killed, "second");
        drop(killed);
        (flow, run)
    });
    life(async {
        let world = World::on(&store).await;
        let first = world.step("one").await;
        sends(&first, "first");
        sends(&first, "second");
        pauses(&first, FlowOperation::Rerun, 1_000, None);
        first.returns();
        world.run_that(&run, WorkflowRunStatus::Waiting).await;
        world.later(&flow, LATER).await;
        let killed = world.step("one").await;
        sends(&killed, "third");
        drop(killed);
    });
    let sent = life(async {
        let world = World::on_after(&store, LATER).await;
        world.later(&flow, Duration::ZERO).await;
        let again = world.step("one").await;
        assert_eq!(again.event["context"]["run"]["runs"], 2);
        sends(&again, "third");
        again.returns();
        world.succeeded(&run).await.sends
    });
    let mut sent: Vec<_> = sent
        .iter()
        .map(|send| {
            let value: Value = serde_json::from_str(send.value.get()).unwrap();
            (send.id.number, value["subject"].clone())
        })
        .collect();
    sent.sort_by_key(|(number, _)| *number);
    let expected = ["first", "second", "third"].map(|subject| json!(subject));
    assert_eq!(sent, (0..).zip(expected).collect::<Vec<_>>());
}
