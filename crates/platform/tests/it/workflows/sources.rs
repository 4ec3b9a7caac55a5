//! Sources that the triggers of a workflow deploy, and what becomes of them when somebody hangs up or a node dies.

use std::{pin::pin, sync::Arc};

use headwater_model::id::{SourceId, WorkflowId};
use headwater_platform::AuditAction;
use headwater_store::{SourceState, Store, WorkflowState};

use super::{Flow, step};
use crate::{
    component::Component,
    engine::{Call, FakeEngine},
    world::{World, life, memory},
};

/// A workflow with two sources of its own, whose `deactivate` waits for the test.
async fn with_sources(world: &World) -> (WorkflowId, Vec<SourceId>) {
    let triggers =
        "triggers:\n- { type: source, uses: ./first.js }\n- { type: source, uses: ./second.js }\n";
    let mut flow = Flow::with(triggers, &[step("one", &[])]);
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
    while store.workflow(id).await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    for source in sources {
        while store.source(source).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_deletion_goes_on_when_its_caller_hangs_up_and_is_recorded_before() {
    let world = World::new().await;
    let (id, sources) = with_sources(&world).await;
    assert_eq!(sources.len(), 2);
    {
        let mut deleting = pin!(world.platform.delete_workflow(&world.caller, &id));
        let first = tokio::select! {
            deleted = &mut deleting => panic!("it waits for `deactivate`: {deleted:?}"),
            first = world.engine.next() => first,
        };
        let there = world.store.workflow(&id).await.unwrap();
        assert_eq!(there.map(|flow| flow.state), Some(WorkflowState::Deleting));
        let records = world.recorded(AuditAction::WorkflowDelete, id.as_str());
        assert_eq!(records.await, 1);
        first.returns();
    }
    world.engine.next().await.returns();
    gone(&world.store, &id, &sources).await;
    for source in &sources {
        let records = world.recorded(AuditAction::SourceDelete, source.as_str());
        assert_eq!(records.await, 1);
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
