//! Two further complaints: runs that cannot be cancelled, and secrets in the data of runs.

use headwater_model::{
    id::{InvocationId, WorkflowId},
    time::EpochSeconds,
};
use headwater_platform::WorkflowRunStatus;
use headwater_store::{Sealed, Variable};
use serde_json::{Value, json};

use super::{Next, again, crashes, emits, events, kill, next};
use crate::{
    engine::returned_with,
    workflows::{Flow, step},
    world::{World, life, memory},
};

/// Lets steps that are at work come to their end, until the run has ended. Returns how many did.
async fn ends(world: &World, run: &InvocationId) -> (usize, WorkflowRunStatus) {
    let mut count = 0;
    loop {
        match next(world, run).await {
            Next::Step(step) => {
                count += 1;
                step.returns();
            }
            Next::Waits(waiting) => panic!("it waits: {waiting:?}"),
            Next::Ended(ended) => return (count, ended.run.status),
        }
    }
}

async fn cancel(world: &World, run: &InvocationId) {
    let cancelled = world.platform.cancel_run(&world.caller, run).await;
    cancelled.unwrap();
}

#[test]
fn also_a_run_is_cancelled_wherever_it_stands_and_as_often_as_asked() {
    for ends_before in 0..=5 {
        for waits in 0..=1 {
            let store = memory();
            let (flow, run) = life(async {
                let world = World::on(&store).await;
                let flow = crashes::everything().id(&world).await;
                let run = world.start_run(&flow, json!({})).await;
                crashes::played_to(&world, &flow, &run, ends_before, waits).await;
                (flow, run)
            });
            life(async {
                let world = World::on(&store).await;
                cancel(&world, &run).await;
                cancel(&world, &run).await;
                let (at_work, status) = ends(&world, &run).await;
                let told = format!("cancelled after {ends_before} ends and {waits} waits");
                assert_eq!(status, WorkflowRunStatus::Cancelled, "{told}");
                assert!(at_work <= 2, "{told}: {at_work} steps ran");
                cancel(&world, &run).await;
                kill(&world).await;
            });
            life(async {
                let world = again(&store, &flow, 1).await;
                let seen = world.run_of(&run).await;
                assert_eq!(seen.run.status, WorkflowRunStatus::Cancelled);
            });
        }
    }
}

const SECRET: &str = "correct-horse-battery-staple";

/// A request that brings a variable's value, as to a trigger with `auth`, is kept without it. Its steps, and those of its
/// replays, see the value.
#[tokio::test]
async fn also_a_secret_of_the_event_is_not_in_the_data_of_runs() {
    let world = World::new().await;
    let set = world
        .platform
        .set_variable(&world.caller, None, "TOKEN", SECRET);
    set.await.unwrap();
    let flow: WorkflowId = Flow::of(&[step("one", &[])]).id(&world).await;
    let event =
        json!({ "headers": { "authorization": format!("Bearer {SECRET}") }, "body": [SECRET] });
    let run = world.start_run(&flow, event.clone()).await;
    let one = world.step("one").await;
    assert_eq!(one.event["steps"]["trigger"]["event"], event);
    let open = world.run_of(&run).await;
    let queued = world.store.run_event(&run).await.unwrap();
    one.throws("no");
    let failed = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let details = world.store.run_details(&run).await.unwrap();
    let told = events(&world, &flow, Some("$errors")).await;
    let replay = headwater_platform::RunReplay::default();
    let replay = world.platform.replay_run(&world.caller, &run, &replay);
    let (replay, _) = replay.await.unwrap();
    let again = world.step("one").await;
    assert_eq!(again.event["steps"]["trigger"]["event"], event);
    again.returns();
    let replayed = world.succeeded(&replay).await;
    let kept = [
        format!("{open:?}"),
        format!("{queued:?}"),
        format!("{failed:?}"),
        format!("{details:?}"),
        Value::from(told).to_string(),
        format!("{replayed:?}"),
    ];
    for text in kept {
        assert!(text.contains("***TOKEN:"), "{text}");
        assert!(!text.contains(SECRET), "{text}");
    }
}

/// A variable whose key is lost costs no event: what comes in is taken and shown, and the step that needs it fails.
#[tokio::test]
async fn also_a_variable_that_cannot_be_opened_costs_no_event() {
    let world = World::new().await;
    let lost = Variable {
        name: "LOST".to_owned(),
        value: Sealed(vec![7; 64]),
        updated_at: EpochSeconds(0),
    };
    let tenant = world.caller.user_id().as_str();
    world.store.set_variable(tenant, lost).await.unwrap();
    let set = world
        .platform
        .set_variable(&world.caller, None, "TOKEN", SECRET);
    set.await.unwrap();
    let flow: WorkflowId = Flow::of(&[step("one", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!({ "token": SECRET })).await;
    let failed = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let shown = format!("{failed:?}");
    assert!(shown.contains("LOST"), "{shown}");
    assert!(
        shown.contains("***TOKEN:") && !shown.contains(SECRET),
        "{shown}"
    );
}

/// A secret that steps return, export, log, emit and throw is nowhere in what the store keeps of their run, and the next
/// step sees it nevertheless.
#[tokio::test]
async fn also_a_secret_is_not_in_the_data_of_runs() {
    let (little, much) = (String::new(), "x".repeat(300 * 1024));
    for beside in [little, much] {
        leaves_no_secret(&beside).await;
    }
}

/// Much beside the secret is looked through aside, and not by the task of the workflow.
async fn leaves_no_secret(beside: &str) {
    let world = World::new().await;
    let set = world
        .platform
        .set_variable(&world.caller, None, "TOKEN", SECRET);
    set.await.unwrap();
    let flow = Flow::of(&[step("one", &[]), step("two", &[])]);
    let flow: WorkflowId = flow.id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let one = world.step("one").await;
    let told = json!({ "header": format!("Bearer {SECRET}"), SECRET: [SECRET], "beside": beside });
    one.export("named", told.clone());
    one.log(&format!("using {SECRET}"));
    emits(&one, &told);
    one.ends(returned_with(told.clone()));
    let two = world.step("two").await;
    assert_eq!(two.event["steps"]["one"]["$return_value"], told);
    assert_eq!(two.event["steps"]["one"]["named"], told);
    two.throws(&format!("{SECRET} was refused"));
    let seen = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let mut kept = vec![format!("{seen:?}")];
    for place in world.store.run_places(&run).await.unwrap() {
        kept.push(place.body.get().to_owned());
    }
    kept.push(format!(
        "{:?}",
        world.store.run_details(&run).await.unwrap()
    ));
    kept.push(format!("{:?}", world.store.run(&run).await.unwrap()));
    for channel in [None, Some("$errors")] {
        let events = events(&world, &flow, channel).await;
        assert_eq!(events.len(), 1);
        kept.push(Value::from(events).to_string());
    }
    for text in kept {
        assert!(!text.contains(SECRET), "{text}");
    }
    assert!(seen.run.error.unwrap().contains("***TOKEN:"));
}
