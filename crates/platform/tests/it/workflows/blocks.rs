//! Blocks and handlers on the platform. The interpreter's own tests have every rule (`headwater-workflow`).

use headwater_platform::WorkflowRunStatus;
use serde_json::json;

use super::{Flow, indented, paths, returned, step};
use crate::{engine::returned_with, world::World};

#[tokio::test]
async fn a_branch_is_taken_by_what_an_earlier_step_returned() {
    let world = World::new().await;
    let route = format!(
        "- namespace: route\n  type: ifelse\n  branches:\n  - name: yes\n    if: '{{{{steps.one.$return_value.ok}}}}'\n    steps:\n{}  else:\n{}",
        indented(&step("a", &[]), 4),
        indented(&step("b", &[]), 2),
    );
    let flow = Flow::of(&[step("one", &[]), route, step("last", &[])])
        .id(&world)
        .await;
    for (ok, taken, path) in [(true, "a", "route.yes.a"), (false, "b", "route.else.b")] {
        let run = world.start_run(&flow, json!(1)).await;
        world
            .step("one")
            .await
            .ends(returned_with(json!({ "ok": ok })));
        world.step(taken).await.ends(returned_with(json!(taken)));
        let last = world.step("last").await;
        assert_eq!(
            last.event["steps"]["route"]["$return_value"],
            json!({ "$return_value": taken })
        );
        last.returns();
        let run = world.succeeded(&run).await;
        assert_eq!(paths(&run), ["one", "route", path, "last"]);
    }
}

#[tokio::test]
async fn a_loop_runs_its_steps_for_each_item_and_keeps_their_order() {
    let world = World::new().await;
    let each = format!(
        "- namespace: each\n  type: loop\n  over: '{{{{[5, 6, 7]}}}}'\n  concurrency: 2\n  steps:\n{}",
        indented(&step("item", &[]), 2),
    );
    let flow = Flow::of(&[each]).id(&world).await;
    let run = world.start_run(&flow, json!(1)).await;
    let mut began = [world.step("item").await, world.step("item").await];
    began.sort_by_key(|run| run.event["steps"]["each"]["index"].as_u64());
    let [first, second] = began;
    assert!(world.engine.nothing_started());
    assert_eq!(first.event["steps"]["each"]["item"], 5);
    assert_eq!(second.event["steps"]["each"]["item"], 6);
    assert_eq!(second.event["steps"]["each"]["index"], 1);
    second.ends(returned_with(json!("six")));
    let third = world.step("item").await;
    third.ends(returned_with(json!("seven")));
    first.ends(returned_with(json!("five")));
    let run = world.succeeded(&run).await;
    assert_eq!(returned(&run, "each"), json!(["five", "six", "seven"]));
}

#[tokio::test]
async fn handlers_of_steps_and_of_the_workflow_run_once() {
    let world = World::new().await;
    let handled = format!(
        "{}  on_error:\n{}",
        step("one", &[]),
        indented(&step("mend", &[]), 2)
    );
    let flow = Flow::with(
        &format!("on_error:\n{}", step("alarm", &[])),
        &[handled, step("two", &[])],
    );
    let flow = flow.id(&world).await;
    let run = world.start_run(&flow, json!({ "n": 1 })).await;
    world.step("one").await.throws("broken");
    world.step("mend").await.returns();
    let two = world.step("two").await;
    assert_eq!(two.event["steps"]["one"]["$error"]["message"], "broken");
    two.throws("worse");
    let alarm = world.step("alarm").await;
    let event = &alarm.event["steps"]["trigger"]["event"];
    assert_eq!(event["original_event"], json!({ "n": 1 }));
    assert_eq!(event["error"]["message"], "worse");
    alarm.returns();
    let run = world.run_that(&run, WorkflowRunStatus::Failed).await;
    assert_eq!(run.run.error.as_deref(), Some("TypeError: worse"));
}

#[tokio::test]
async fn a_call_waits_for_the_other_workflow() {
    let world = World::new().await;
    let called = Flow::of(&[step("inner", &[])]).id(&world).await;
    let call =
        format!("- namespace: other\n  type: call\n  workflow: {called}\n  event: {{ a: 1 }}\n");
    let flow = Flow::of(&[call, step("after", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!(1)).await;
    let inner = world.step("inner").await;
    assert_eq!(inner.event["steps"]["trigger"]["event"], json!({ "a": 1 }));
    inner.ends(returned_with(json!("result")));
    let after = world.step("after").await;
    assert_eq!(
        after.event["steps"]["other"]["$return_value"]["$return_value"],
        "result"
    );
    after.returns();
    world.succeeded(&run).await;
}
