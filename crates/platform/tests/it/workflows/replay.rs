//! Replays: which steps run again, and on which deployment.

use headwater_model::{
    id::{InvocationId, WorkflowId},
    page::PageRequest,
};
use headwater_platform::{
    PlatformError, RunReplay, RunSearchFilter, RunTrigger, RunsFilter, WorkflowRunStatus,
};
use serde_json::json;

use super::{Flow, paths, step};
use crate::{engine::returned_with, world::World};

/// The run that a replay repeats, as both lists of runs say it.
async fn listed(
    world: &World,
    flow: &WorkflowId,
    filter: RunsFilter,
    replay: &InvocationId,
) -> InvocationId {
    let page = || PageRequest::first(9);
    let (platform, caller) = (&world.platform, &world.caller);
    let of_workflow = platform.workflow_runs(caller, flow, filter, page());
    let mut listed = of_workflow.await.unwrap().items;
    let by_trigger = RunSearchFilter {
        trigger: Some(RunTrigger::Replay),
        ..RunSearchFilter::default()
    };
    let of_all = platform.find_runs(caller, &by_trigger, &page()).await;
    let of_all = of_all.unwrap().items;
    assert_eq!(of_all.len(), 1);
    listed.extend(of_all.into_iter().map(|entry| entry.run));
    listed.retain(|run| run.id == *replay);
    assert_eq!(listed.len(), 2);
    for run in &listed {
        assert_eq!(run.trigger, RunTrigger::Replay);
    }
    assert_eq!(listed[0].replay_of, listed[1].replay_of);
    listed[0].replay_of.clone().unwrap()
}

#[tokio::test]
async fn a_replay_from_a_step_runs_that_step_and_what_follows() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[]), step("three", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!({ "n": 1 })).await;
    world.step("one").await.ends(returned_with(json!("first")));
    world.step("two").await.throws("no");
    world.run_that(&run, WorkflowRunStatus::Failed).await;
    let request = RunReplay {
        from: Some("two".to_owned()),
        is_same: false,
    };
    let plan = world
        .platform
        .replay_plan(&world.caller, &run, &request)
        .await
        .unwrap();
    assert_eq!(
        plan.kept
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["one"]
    );
    let (again, _) = world
        .platform
        .replay_run(&world.caller, &run, &request)
        .await
        .unwrap();
    let two = world.step("two").await;
    assert_eq!(listed(&world, &flow, RunsFilter::Open, &again).await, run);
    assert_eq!(two.event["steps"]["one"]["$return_value"], "first");
    assert_eq!(two.event["steps"]["trigger"]["event"], json!({ "n": 1 }));
    assert_eq!(two.event["context"]["replay"], true);
    assert_eq!(two.event["context"]["trace_id"], json!(run));
    two.returns();
    world.step("three").await.returns();
    let replay = again.clone();
    let again = world.succeeded(&again).await;
    assert_eq!(again.run.replay_of, Some(run.clone()));
    assert_eq!(listed(&world, &flow, RunsFilter::Ended, &replay).await, run);
    assert_eq!(paths(&again), ["one", "two", "three"]);
}

#[tokio::test]
async fn a_replay_follows_the_deployment_that_it_is_told_to() {
    let world = World::new().await;
    let first = Flow::of(&[step("old", &[])]).deploy(&world).await;
    let flow = &first.workflow.workflow.id;
    let run = world.start_run(flow, json!(1)).await;
    world.step("old").await.throws("no");
    world.run_that(&run, WorkflowRunStatus::Failed).await;
    Flow::of(&[step("new", &[])])
        .again(&first)
        .deploy(&world)
        .await;
    for (is_same, name) in [(true, "old"), (false, "new")] {
        let request = RunReplay {
            from: None,
            is_same,
        };
        let (again, _) = world
            .platform
            .replay_run(&world.caller, &run, &request)
            .await
            .unwrap();
        world.step(name).await.returns();
        world.succeeded(&again).await;
    }
}

#[tokio::test]
async fn a_run_that_has_not_ended_and_a_step_that_never_began_are_not_replayed() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    let replay = async |from: Option<&str>| {
        let request = RunReplay {
            from: from.map(str::to_owned),
            is_same: false,
        };
        world
            .platform
            .replay_run(&world.caller, &run, &request)
            .await
    };
    assert!(matches!(
        replay(None).await,
        Err(PlatformError::Conflict(_))
    ));
    one.throws("no");
    world.run_that(&run, WorkflowRunStatus::Failed).await;
    for from in ["two", "none"] {
        assert!(
            matches!(replay(Some(from)).await, Err(PlatformError::Conflict(_))),
            "{from}"
        );
    }
}
