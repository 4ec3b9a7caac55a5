//! Complaints 1 and 2: replays repeat what succeeded, and use the wrong version.

use headwater_model::id::{DeploymentId, InvocationId};
use headwater_platform::{DeployedWorkflow, RunReplay, WorkflowRunStatus};
use serde_json::{Value, json};

use super::{Notes, each, either, path_of};
use crate::{
    engine::thrown,
    workflows::{Flow, returned, step},
    world::World,
};

const STEPS: [&str; 6] = ["one", "before", "reserve", "book", "after", "last"];
/// The places of the steps, in the order in which they run.
const PATHS: [&str; 10] = [
    "one",
    "route.yes.before",
    "route.yes.items[0].reserve",
    "route.yes.items[0].book",
    "route.yes.items[1].reserve",
    "route.yes.items[1].book",
    "route.yes.items[2].reserve",
    "route.yes.items[2].book",
    "route.yes.after",
    "last",
];

/// A loop within a branch.
fn nested() -> Flow {
    let items = each(
        "items",
        "[5, 6, 7]",
        "",
        &[step("reserve", &[]), step("book", &[])],
    );
    let yes = [step("before", &[]), items, step("after", &[])];
    let route = either("route", "true", &yes, &[step("never", &[])]);
    Flow::of(&[step("one", &[]), route, step("last", &[])])
}

fn from(path: &str, is_same: bool) -> RunReplay {
    RunReplay {
        from: Some(path.to_owned()),
        is_same,
    }
}

async fn replay(world: &World, run: &InvocationId, request: &RunReplay) -> InvocationId {
    let started = world.platform.replay_run(&world.caller, run, request).await;
    started.unwrap().0
}

#[tokio::test]
async fn c01_a_replay_from_any_step_repeats_nothing_that_succeeded() {
    let (world, notes) = (World::new().await, Notes::default());
    notes.on(&world, &STEPS);
    let flow = nested().id(&world).await;
    let first = world.start_run(&flow, json!({})).await;
    let first_run = world.succeeded(&first).await;
    assert_eq!(notes.take(), PATHS);
    for is_same in [false, true] {
        for (position, path) in PATHS.iter().enumerate() {
            let again = replay(&world, &first, &from(path, is_same)).await;
            let again = world.succeeded(&again).await;
            assert_eq!(notes.take(), PATHS[position..], "from {path}");
            for kept in &PATHS[..position] {
                let value = returned(&first_run, kept);
                assert_eq!(returned(&again, kept), value, "{kept}, from {path}");
            }
            for repeated in &PATHS[position..] {
                let value = returned(&first_run, repeated);
                assert_ne!(returned(&again, repeated), value, "{repeated}, from {path}");
            }
        }
    }
}

#[tokio::test]
async fn c01_a_replay_of_a_block_begins_with_its_first_step() {
    let (world, notes) = (World::new().await, Notes::default());
    notes.on(&world, &STEPS);
    let flow = nested().id(&world).await;
    let first = world.start_run(&flow, json!({})).await;
    world.succeeded(&first).await;
    notes.take();
    for (path, position) in [("route", 1), ("route.yes.items", 2)] {
        let again = replay(&world, &first, &from(path, false)).await;
        world.succeeded(&again).await;
        assert_eq!(notes.take(), PATHS[position..], "from {path}");
    }
}

#[tokio::test]
async fn c01_a_run_that_failed_anywhere_goes_on_there_again_and_again() {
    let (world, notes) = (World::new().await, Notes::default());
    let flow = nested().id(&world).await;
    notes.on(&world, &STEPS);
    for (position, failing) in PATHS.iter().enumerate() {
        let name = STEPS.iter().find(|name| failing.ends_with(**name)).unwrap();
        let numbers = notes.clone();
        let is_failing = |run: &crate::engine::Run| path_of(run) == *failing;
        notes.play(&world, name, move |run| match is_failing(run) {
            true => thrown("no"),
            false => numbers.numbered(),
        });
        let mut run = world.start_run(&flow, json!({})).await;
        world.run_that(&run, WorkflowRunStatus::Failed).await;
        assert_eq!(notes.take(), PATHS[..=position]);
        // It fails once more, as a replay, and that one is replayed.
        run = replay(&world, &run, &from(failing, false)).await;
        world.run_that(&run, WorkflowRunStatus::Failed).await;
        assert_eq!(notes.take(), [*failing]);
        notes.on(&world, &[name]);
        run = replay(&world, &run, &from(failing, false)).await;
        world.succeeded(&run).await;
        assert_eq!(notes.take(), PATHS[position..], "from {failing}");
    }
}

/// A workflow whose only step and handler have a version in their names.
async fn version(
    world: &World,
    number: usize,
    former: Option<&DeployedWorkflow>,
) -> DeployedWorkflow {
    let handler = format!("on_error:\n{}", step(&format!("alarm{number}"), &[]));
    let flow = Flow::with(&handler, &[step(&format!("work{number}"), &[])]);
    match former {
        Some(former) => flow.again(former).deploy(world).await,
        None => flow.deploy(world).await,
    }
}

fn deployment(deployed: &DeployedWorkflow) -> &DeploymentId {
    &deployed.workflow.workflow.deployment_id
}

#[tokio::test]
async fn c02_a_run_and_its_handler_are_of_the_version_that_the_replay_names() {
    let (world, notes) = (World::new().await, Notes::default());
    for number in 1..=3 {
        notes.play(&world, &format!("work{number}"), |_| thrown("no"));
        notes.on(&world, &[&format!("alarm{number}")]);
    }
    let first = version(&world, 1, None).await;
    let flow = &first.workflow.workflow.id;
    let ended = async |run: InvocationId, deployed: &DeployedWorkflow, paths: [&str; 2]| {
        let seen = world.run_that(&run, WorkflowRunStatus::Failed).await;
        assert_eq!(seen.run.deployment_id.as_ref(), Some(deployment(deployed)));
        assert_eq!(notes.take(), paths);
        run
    };
    let started = world.start_run(flow, json!({})).await;
    let old = ended(started, &first, ["work1", "on_error.alarm1"]).await;
    let second = version(&world, 2, Some(&first)).await;
    let whole = |is_same| RunReplay {
        from: None,
        is_same,
    };
    let same = replay(&world, &old, &whole(true)).await;
    let same = ended(same, &first, ["work1", "on_error.alarm1"]).await;
    let latest = replay(&world, &same, &whole(false)).await;
    let latest = ended(latest, &second, ["work2", "on_error.alarm2"]).await;
    let third = version(&world, 3, Some(&first)).await;
    // `--same` is that of the replayed run, not of the first one.
    let same = replay(&world, &latest, &whole(true)).await;
    ended(same, &second, ["work2", "on_error.alarm2"]).await;
    let latest = replay(&world, &latest, &RunReplay::default()).await;
    ended(latest, &third, ["work3", "on_error.alarm3"]).await;
}

#[tokio::test]
async fn c02_a_version_is_chosen_when_the_replay_is_asked_for() {
    let world = World::new().await;
    let one_at_a_time = "settings:\n  concurrency: { limit: 1 }\n";
    let of = |name: &str| Flow::with(one_at_a_time, &[step(name, &[])]);
    let first = of("old").deploy(&world).await;
    let flow = &first.workflow.workflow.id;
    let run = world.start_run(flow, json!({})).await;
    world.step("old").await.throws("no");
    world.run_that(&run, WorkflowRunStatus::Failed).await;
    let other = world.start_run(flow, json!({})).await;
    let occupying = world.step("old").await;
    let request = RunReplay::default();
    let plan = world
        .platform
        .replay_plan(&world.caller, &run, &request)
        .await;
    assert_eq!(&plan.unwrap().deployment_id, deployment(&first));
    let again = replay(&world, &run, &request).await;
    // While it waits for its place, another version comes.
    of("new").again(&first).deploy(&world).await;
    occupying.returns();
    world.succeeded(&other).await;
    world.step("old").await.returns();
    let again = world.succeeded(&again).await;
    assert_eq!(again.run.deployment_id.as_ref(), Some(deployment(&first)));
    assert_eq!(returned(&again, "old"), Value::Null);
}
