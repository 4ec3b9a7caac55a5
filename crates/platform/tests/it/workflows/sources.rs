//! The end of a workflow whose triggers deployed sources, whatever comes in between.

use std::sync::Arc;

use headwater_model::id::{SourceId, WorkflowId};
use headwater_platform::{AuditAction, WaitAction, WaitAnswer, WorkflowRunStatus};
use headwater_store::{SourceState, Store, WorkflowState};
use serde_json::{json, value::RawValue};

use super::{Flow, step};
use crate::{
    component::Component,
    engine::{Call, FakeEngine, PATIENCE},
    world::{World, life, memory},
};

/// A workflow with two sources of its own, whose `deactivate` waits for the test.
async fn with_sources(world: &World) -> (WorkflowId, Vec<SourceId>) {
    with_sources_and(world, &[step("one", &[])]).await
}

/// The same with these steps.
async fn with_sources_and(world: &World, steps: &[String]) -> (WorkflowId, Vec<SourceId>) {
    let triggers =
        "triggers:\n- { type: source, uses: ./first.js }\n- { type: source, uses: ./second.js }\n";
    let mut flow = Flow::with(triggers, steps);
    for name in ["first", "second"] {
        let code = Component::named(name).hooks().code();
        flow = flow.beside(&format!("{name}.js"), &code);
    }
    let deployed = flow.deploy(world).await;
    let triggers = deployed.workflow.triggers.iter();
    let sources = triggers.filter_map(|trigger| trigger.source_id.clone());
    for name in ["first", "second"] {
        world.engine.hold(name, Call::Deactivate);
    }
    (deployed.workflow.workflow.id, sources.collect())
}

/// Returns once neither the workflow nor its sources are there.
async fn gone(store: &Arc<dyn Store>, id: &WorkflowId, sources: &[SourceId]) {
    let gone = async {
        while store.workflow(id).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
        for source in sources {
            while store.source(source).await.unwrap().is_some() {
                tokio::task::yield_now().await;
            }
        }
    };
    let waited = tokio::time::timeout(PATIENCE, gone).await;
    waited.expect("neither the workflow nor its sources stay");
}

/// However long `deactivate` takes.
#[tokio::test]
async fn a_workflow_is_gone_and_its_deletion_recorded_before_its_sources_are() {
    let world = World::new().await;
    let (id, sources) = with_sources(&world).await;
    assert_eq!(sources.len(), 2);
    let deleting = async {
        let deleted = world.platform.delete_workflow(&world.caller, &id);
        deleted.await.unwrap();
    };
    let watching = async {
        let first = world.engine.next().await;
        let there = world.store.workflow(&id).await.unwrap();
        assert_eq!(there.map(|flow| flow.state), Some(WorkflowState::Deleting));
        let records = world.recorded(AuditAction::WorkflowDelete, id.as_str());
        assert_eq!(records.await, 1);
        first.returns();
        world.engine.next().await.returns();
    };
    tokio::join!(deleting, watching);
    gone(&world.store, &id, &sources).await;
    for source in &sources {
        let records = world.recorded(AuditAction::SourceDelete, source.as_str());
        assert_eq!(records.await, 1);
    }
}

/// Somebody answers a wait while the sources are deactivated.
#[tokio::test]
async fn a_workflow_that_is_being_deleted_runs_nothing_more() {
    let world = World::new().await;
    let wait = "- namespace: pause\n  type: wait\n  timeout: 1h\n".to_owned();
    let (id, sources) = with_sources_and(&world, &[wait, step("after", &[])]).await;
    let run = world.start_run(&id, json!({})).await;
    let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
    let url = &waiting.waits[0].urls.resume;
    let token = url.split('/').rev().nth(1).unwrap();
    let deleting = async {
        let deleted = world.platform.delete_workflow(&world.caller, &id);
        deleted.await.unwrap();
    };
    let answering = async {
        let first = world.engine.next().await;
        let nothing = RawValue::NULL.to_owned();
        let answered = world
            .platform
            .answer_wait(token, WaitAction::Resume, nothing);
        assert_eq!(answered.await.unwrap(), WaitAnswer::Ended);
        first.returns();
        let second = world.engine.next().await;
        assert_eq!(second.call, Call::Deactivate);
        second.returns();
    };
    tokio::join!(deleting, answering);
    gone(&world.store, &id, &sources).await;
}

/// Neither a second request nor a start of the node is needed.
#[tokio::test]
async fn a_deletion_that_broke_off_half_way_goes_on_by_itself() {
    let world = World::new().await;
    let (id, sources) = with_sources(&world).await;
    let (platform, caller) = (Arc::clone(&world.platform), world.caller.clone());
    let doomed = id.clone();
    let deleting = tokio::spawn(async move { platform.delete_workflow(&caller, &doomed).await });
    let first = world.engine.next().await;
    deleting.abort();
    assert!(deleting.await.unwrap_err().is_cancelled());
    first.returns();
    let goes_on = async {
        loop {
            world.engine.next().await.returns();
        }
    };
    tokio::select! {
        () = goes_on => {}
        () = gone(&world.store, &id, &sources) => {}
    }
}

#[test]
fn the_next_start_ends_a_deletion_with_the_sources_that_it_had_not_come_to() {
    let store = memory();
    let (id, sources) = life(async {
        let world = World::on(&store).await;
        let (id, sources) = with_sources(&world).await;
        let (platform, caller) = (Arc::clone(&world.platform), world.caller.clone());
        let doomed = id.clone();
        tokio::spawn(async move { platform.delete_workflow(&caller, &doomed).await });
        world.engine.next().await;
        let mut active = 0;
        for source in &sources {
            active += usize::from(world.state(source).await == Some(SourceState::Active));
        }
        assert_eq!(active, 1, "it is at the other one");
        (id, sources)
    });
    life(async {
        let engine = FakeEngine::new();
        let world = World::start_with(Arc::clone(&store), engine, |_| {}).await;
        gone(&world.store, &id, &sources).await;
    });
}
