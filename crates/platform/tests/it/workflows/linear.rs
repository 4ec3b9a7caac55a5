//! Runs of steps one after the other: their commits, their ends, and a node that dies between.

use headwater_platform::{PlatformError, Wanted, WorkflowRunStatus};
use headwater_store::RunTrigger;
use serde_json::json;

use super::{Flow, paths, returned, step};
use crate::{
    engine::returned_with,
    world::{World, life, memory},
};

#[tokio::test]
async fn a_step_sees_the_trigger_and_what_earlier_steps_returned() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!({ "n": 1 })).await;
    let one = world.step("one").await;
    assert_eq!(one.event["steps"]["trigger"]["event"], json!({ "n": 1 }));
    let context = &one.event["steps"]["trigger"]["context"];
    assert_eq!(context["workflow_id"], json!(flow));
    assert_eq!(context["workflow_name"], "Flow");
    assert_eq!(context["replay"], false);
    assert_eq!(one.event["context"]["run"]["runs"], 1);
    one.log("hello");
    one.export("named", json!([1, 2]));
    one.ends(returned_with(json!({ "ok": true })));
    let two = world.step("two").await;
    assert_eq!(
        two.event["steps"]["one"],
        json!({ "named": [1, 2], "$return_value": { "ok": true } })
    );
    two.returns();
    let run = world.succeeded(&run).await;
    assert_eq!(run.run.trigger, RunTrigger::Manual);
    assert_eq!(paths(&run), ["one", "two"]);
    assert_eq!(returned(&run, "one"), json!({ "ok": true }));
    assert_eq!(run.steps[0].logs[0].message, "hello");
    assert_eq!(run.steps[0].exports[0].0, "named");
}

#[tokio::test]
async fn a_step_that_throws_fails_the_run_and_tells_of_it() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    world.step("one").await.throws("no");
    let run = world.run_that(&run, WorkflowRunStatus::Failed).await;
    assert_eq!(paths(&run), ["one"]);
    assert_eq!(run.steps[0].error.as_ref().unwrap().message, "no");
    assert_eq!(run.run.error.as_deref(), Some("TypeError: no"));
    let query = headwater_platform::EventsQuery {
        channels: headwater_platform::default_channels(Some("$errors")),
        page: headwater_model::page::PageRequest::first(10),
    };
    let errors = world
        .platform
        .workflow_events(&world.caller, &flow, &query)
        .await
        .unwrap()
        .items;
    let error: serde_json::Value = serde_json::from_str(errors[0].event.get()).unwrap();
    assert_eq!(error["original_event"], 1);
    assert_eq!(error["error"]["message"], "no");
    assert_eq!(error["original_context"]["workflow_id"], json!(flow));
}

#[tokio::test]
async fn an_exit_ends_the_run_with_its_reason() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    one.exit("nothing to do");
    one.returns();
    let run = world.succeeded(&run).await;
    assert_eq!(run.reason.as_deref(), Some("nothing to do"));
    assert_eq!(paths(&run), ["one"]);
}

#[test]
fn a_killed_node_goes_on_at_the_step_that_had_not_ended() {
    let store = memory();
    let run = life(async {
        let world = World::on(&store).await;
        let flow = Flow::of(&[step("one", &[]), step("two", &[]), step("three", &[])])
            .id(&world)
            .await;
        let run = world.start_run(&flow, json!(1)).await;
        world.step("one").await.ends(returned_with(json!("first")));
        // Killed while it runs.
        drop(world.step("two").await);
        run
    });
    life(async {
        let world = World::on(&store).await;
        let two = world.step("two").await;
        assert_eq!(two.event["steps"]["one"]["$return_value"], "first");
        two.returns();
        world.step("three").await.returns();
        let run = world.succeeded(&run).await;
        assert_eq!(paths(&run), ["one", "two", "three"]);
    });
}

#[tokio::test]
async fn a_deployment_does_not_change_runs_that_have_begun() {
    let world = World::new().await;
    let first = Flow::of(&[step("one", &[]), step("two", &[])])
        .deploy(&world)
        .await;
    let flow = &first.workflow.workflow.id;
    let run = world.start_run(flow, json!(1)).await;
    let one = world.step("one").await;
    let second = Flow::of(&[step("one", &[]), step("other", &[])])
        .again(&first)
        .deploy(&world)
        .await;
    assert_eq!(&second.workflow.workflow.id, flow);
    assert_ne!(
        second.workflow.workflow.deployment_id,
        first.workflow.workflow.deployment_id
    );
    one.returns();
    world.step("two").await.returns();
    let old = world.succeeded(&run).await;
    assert_eq!(
        old.run.deployment_id.as_ref(),
        Some(&first.workflow.workflow.deployment_id)
    );
    let run = world.start_run(flow, json!(2)).await;
    world.step("one").await.returns();
    world.step("other").await.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn a_folder_that_cannot_run_is_refused_and_nothing_is_deployed() {
    let world = World::new().await;
    let broken = Flow::of(&["- namespace: one\n  uses: ./one/entry.py\n".to_owned()]);
    let error = broken.try_deploy(&world).await.unwrap_err();
    assert!(matches!(error, PlatformError::Invalid(_)), "{error}");
    let page = headwater_model::page::PageRequest::first(10);
    let workflows = world
        .platform
        .workflows(&world.caller, None, Wanted::default(), &page)
        .await
        .unwrap();
    assert_eq!(workflows.total_count, 0);
}

#[tokio::test]
async fn a_workflow_is_its_owners_alone() {
    let world = World::new().await;
    let deployed = Flow::of(&[step("one", &[])]).deploy(&world).await;
    let flow = &deployed.workflow.workflow.id;
    let run = world.start_run(flow, json!(1)).await;
    world.step("one").await.returns();
    world.succeeded(&run).await;
    let stranger = world.stranger().await;
    let platform = &world.platform;
    assert_not_found(platform.workflow(&stranger, flow).await);
    assert_not_found(platform.workflow_run(&stranger, &run).await);
    assert_not_found(platform.run_workflow(&stranger, flow, None).await);
    assert_not_found(
        platform
            .replay_run(&stranger, &run, &Default::default())
            .await,
    );
    assert_not_found(platform.cancel_run(&stranger, &run).await);
    assert_not_found(platform.delete_workflow(&stranger, flow).await);
    assert_not_found(
        platform
            .workflow_events(&stranger, flow, &all_events())
            .await,
    );
}

#[tokio::test]
async fn deleting_a_workflow_takes_everything_of_it() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let ended = world.start_run(&flow, json!(1)).await;
    world.step("one").await.returns();
    world.step("two").await.returns();
    world.succeeded(&ended).await;
    let open = world.start_run(&flow, json!(2)).await;
    let one = world.step("one").await;
    world
        .platform
        .delete_workflow(&world.caller, &flow)
        .await
        .unwrap();
    one.returns();
    assert_not_found(world.platform.workflow(&world.caller, &flow).await);
    for run in [&ended, &open] {
        assert_not_found(world.platform.workflow_run(&world.caller, run).await);
    }
}

fn all_events() -> headwater_platform::EventsQuery {
    headwater_platform::EventsQuery {
        channels: headwater_platform::default_channels(None),
        page: headwater_model::page::PageRequest::first(10),
    }
}

fn assert_not_found<T: std::fmt::Debug>(result: Result<T, PlatformError>) {
    assert!(
        matches!(result, Err(PlatformError::NotFound { .. })),
        "{result:?}"
    );
}
