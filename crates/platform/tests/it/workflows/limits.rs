//! Concurrency and throttle: runs wait, and none is lost.

use std::time::Duration;

use headwater_platform::WorkflowRunStatus;
use serde_json::json;

use super::{Flow, step};
use crate::world::{World, life, memory};

const ONE_PER_CUSTOMER: &str =
    "settings:\n  concurrency: { limit: 1, key: '{{steps.trigger.event.customer}}' }\n";

#[tokio::test]
async fn one_run_per_key_at_a_time_in_their_order() {
    let world = World::new().await;
    let flow = Flow::with(ONE_PER_CUSTOMER, &[step("one", &[])])
        .id(&world)
        .await;
    let mut runs = Vec::new();
    for (n, customer) in [(1, "a"), (2, "a"), (3, "b")] {
        runs.push(
            world
                .start_run(&flow, json!({ "n": n, "customer": customer }))
                .await,
        );
    }
    let (first, second) = (world.step("one").await, world.step("one").await);
    let mut began = [&first, &second].map(|run| {
        run.event["steps"]["trigger"]["event"]["n"]
            .as_u64()
            .unwrap()
    });
    began.sort_unstable();
    assert_eq!(began, [1, 3]);
    assert!(world.engine.nothing_started());
    assert_eq!(
        world.run_of(&runs[1]).await.run.status,
        WorkflowRunStatus::Queued
    );
    first.returns();
    second.returns();
    let last = world.step("one").await;
    assert_eq!(last.event["steps"]["trigger"]["event"]["n"], 2);
    last.returns();
    for run in &runs {
        world.succeeded(run).await;
    }
}

#[tokio::test]
async fn a_throttle_lets_so_many_begin_per_window() {
    let world = World::new().await;
    let settings = "settings:\n  throttle: { limit: 1, per: 1m }\n";
    let flow = Flow::with(settings, &[step("one", &[])]).id(&world).await;
    let first = world.start_run(&flow, json!(1)).await;
    let second = world.start_run(&flow, json!(2)).await;
    world.step("one").await.returns();
    world.succeeded(&first).await;
    assert_eq!(
        world.run_of(&second).await.run.status,
        WorkflowRunStatus::Queued
    );
    world.later(&flow, Duration::from_secs(60)).await;
    world.step("one").await.returns();
    world.succeeded(&second).await;
}

#[test]
fn a_place_that_was_taken_before_a_kill_stays_taken() {
    let store = memory();
    let (flow, first) = life(async {
        let world = World::on(&store).await;
        let flow = Flow::with(ONE_PER_CUSTOMER, &[step("one", &[]), step("two", &[])])
            .id(&world)
            .await;
        let first = world.start_run(&flow, json!({ "customer": "a" })).await;
        world.step("one").await.returns();
        drop(world.step("two").await);
        (flow, first)
    });
    life(async {
        let world = World::on(&store).await;
        let second = world.start_run(&flow, json!({ "customer": "a" })).await;
        let two = world.step("two").await;
        assert!(world.engine.nothing_started());
        two.returns();
        world.succeeded(&first).await;
        world.step("one").await.returns();
        world.step("two").await.returns();
        world.succeeded(&second).await;
    });
}

#[tokio::test]
async fn a_step_that_takes_too_long_is_told_which_limit_to_raise() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!(1)).await;
    world.step("one").await.times_out();
    let run = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let error = run.steps[0].error.as_ref().unwrap();
    assert!(error.message.contains("`lambda_timeout`"), "{error:?}");
}
