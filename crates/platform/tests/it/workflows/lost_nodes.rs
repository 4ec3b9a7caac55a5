//! Runs whose nodes end while they are at work.

use headwater_platform::WorkflowRunStatus;
use serde_json::json;

use super::{Flow, paths, step};
use crate::world::{World, life, memory};

/// Nodes that may end of a run.
const NODES: usize = 10;
const ONE_AT_A_TIME: &str = "settings:\n  concurrency: { limit: 1 }\n";

#[test]
fn a_step_that_ten_nodes_ended_of_fails_and_those_that_waited_for_it_do_not() {
    let store = memory();
    let (bad, waiting) = life(async {
        let world = World::on(&store).await;
        let flow = Flow::with(ONE_AT_A_TIME, &[step("one", &[]), step("two", &[])]);
        let flow = flow.id(&world).await;
        let bad = world.start_run(&flow, json!(1)).await;
        world.step("one").await.returns();
        let two = world.step("two").await;
        let waiting = world.start_run(&flow, json!(2)).await;
        drop(two);
        (bad, waiting)
    });
    for _ in 1..NODES {
        life(async {
            let world = World::on(&store).await;
            drop(world.step("two").await);
        });
    }
    life(async {
        let world = World::on(&store).await;
        let failed = world.run_that(&bad, WorkflowRunStatus::Failed).await;
        assert_eq!(paths(&failed), ["one", "two"]);
        let told = failed.run.error.as_deref().unwrap();
        assert!(told.contains("nodes ended 10 times in a row"), "{told}");
        world.step("one").await.returns();
        world.step("two").await.returns();
        world.succeeded(&waiting).await;
    });
}

#[test]
fn a_run_that_gets_further_in_each_node_is_not_given_up() {
    let store = memory();
    let names: Vec<String> = (0..2 * NODES)
        .map(|number| format!("step_{number}"))
        .collect();
    let run = life(async {
        let world = World::on(&store).await;
        let steps: Vec<String> = names.iter().map(|name| step(name, &[])).collect();
        let flow = Flow::of(&steps).id(&world).await;
        let run = world.start_run(&flow, json!(1)).await;
        drop(world.step(&names[0]).await);
        run
    });
    for two in names.windows(2) {
        life(async {
            let world = World::on(&store).await;
            world.step(&two[0]).await.returns();
            drop(world.step(&two[1]).await);
        });
    }
    life(async {
        let world = World::on(&store).await;
        world.step(&names[names.len() - 1]).await.returns();
        let run = world.succeeded(&run).await;
        assert_eq!(paths(&run).len(), names.len());
    });
}
