//! A node that died, and what its next start makes of what it left.
//!
//! Each life has a runtime of its own that dies with everything it was doing; the store stays.

use std::sync::Arc;

use headwater_model::id::SourceId;
use headwater_platform::{Ingress, PlatformError, UpdateSource};
use headwater_store::{NodeName, SourceState, Store};
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, FakeEngine, PATIENCE, Run, returned},
    world::{T0, World, life, memory, replaced, switched, token_seen},
};

/// The next start, when recovery is in this call of the component.
async fn restarted(store: &Arc<dyn Store>, name: &str, call: Call) -> (World, Run) {
    let engine = FakeEngine::new();
    engine.hold(name, call);
    // A request that the dead node had accepted may be run meanwhile.
    engine.on("undone", Call::Run, |_| returned());
    let world = World::start_with(Arc::clone(store), engine, |_| {}).await;
    let run = world.engine.next().await;
    assert_eq!(run.call, call);
    (world, run)
}

/// Returns when the source has been settled: recovery has the lock that this has to take.
async fn settled(world: &World, id: &SourceId) -> Result<(), PlatformError> {
    let nothing = UpdateSource::default();
    world.update(id, nothing).await.map(drop)
}

/// A node that dies while it updates a source, with the worker in this call.
fn died_updating(
    store: &Arc<dyn Store>,
    held: (&str, Call),
    component: &Component,
    to: UpdateSource,
) -> SourceId {
    life(async {
        let world = World::on(store).await;
        let id = world.deploy(component).await;
        if to.active == Some(true) {
            world.set_active(&id, false).await;
        }
        world.engine.hold(held.0, held.1);
        let _doomed = world.updating(&id, to);
        world.engine.next().await;
        assert_eq!(world.state(&id).await, Some(SourceState::Updating));
        id
    })
}

#[test]
fn a_deployment_that_was_under_way_is_undone() {
    let store = memory();
    let (id, token) = life(async {
        let world = World::on(&store).await;
        world.engine.hold("undone", Call::Activate);
        let _doomed = world.deploying(&Component::named("undone").hooks().http());
        let activate = world.engine.next().await;
        let token = token_seen(&activate);
        world.request(&token, json!({})).await.unwrap();
        world.engine.next().await;
        (activate.source_id().clone(), token)
    });
    life(async {
        let (world, deactivate) = restarted(&store, "undone", Call::Deactivate).await;
        deactivate.returns();
        assert!(matches!(
            settled(&world, &id).await,
            Err(PlatformError::NotFound { .. })
        ));
        assert_eq!(world.state(&id).await, None);
        let refused = world.request(&token, json!({})).await;
        assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
    });
}

#[test]
fn an_update_that_was_under_way_goes_back_to_the_former_version() {
    for held in [("v1", Call::Deactivate), ("v2", Call::Activate)] {
        let store = memory();
        let to = replaced(&Component::named("v2").hooks().http());
        let id = died_updating(&store, held, &Component::named("v1").hooks().http(), to);
        life(async {
            let (world, activate) = restarted(&store, "v1", Call::Activate).await;
            activate.returns();
            settled(&world, &id).await.unwrap();
            assert_eq!(world.engine.calls(), ["v1 activate"]);
            assert_eq!(world.state(&id).await, Some(SourceState::Active));
            world
                .request(&world.token(&id).await, json!({}))
                .await
                .unwrap();
            let run = world.engine.next().await;
            assert_eq!(run.name, "v1");
            run.returns();
            world.barrier(&id).await;
        });
    }
}

#[test]
fn a_source_whose_activation_was_under_way_fires_its_timers_again() {
    let store = memory();
    let poll = Component::named("poll").hooks().every(60);
    let id = died_updating(&store, ("poll", Call::Activate), &poll, switched(true));
    life(async {
        let (world, activate) = restarted(&store, "poll", Call::Activate).await;
        activate.returns();
        settled(&world, &id).await.unwrap();
        assert_eq!(world.state(&id).await, Some(SourceState::Active));
        world.clock.advance(60_000);
        world.nudge().await;
        let tick = world.engine.next().await;
        assert_eq!(tick.name, "poll");
        tick.returns();
    });
}

#[test]
fn a_source_whose_deactivation_was_under_way_keeps_the_phase_of_its_timers() {
    let store = memory();
    let poll = Component::named("poll").hooks().every(60);
    let id = died_updating(&store, ("poll", Call::Deactivate), &poll, switched(false));
    life(async {
        let (world, activate) = restarted(&store, "poll", Call::Activate).await;
        world.clock.advance(30_000);
        activate.returns();
        settled(&world, &id).await.unwrap();
        world.clock.advance(30_000);
        world.nudge().await;
        let tick = world.engine.next().await;
        assert_eq!(tick.event["interval_seconds"], json!(60));
        tick.returns();
    });
}

#[test]
fn a_recovered_source_is_active_even_if_its_activate_throws() {
    let store = memory();
    let to = replaced(&Component::named("v2").hooks());
    let id = died_updating(
        &store,
        ("v2", Call::Activate),
        &Component::named("v1").hooks(),
        to,
    );
    life(async {
        let (world, activate) = restarted(&store, "v1", Call::Activate).await;
        activate.throws("the service is down");
        settled(&world, &id).await.unwrap();
        assert_eq!(world.state(&id).await, Some(SourceState::Active));
        world.barrier(&id).await;
        let errors = world.errors(&id).await;
        assert_eq!(errors[0]["error"]["message"], "the service is down");
    });
}

#[test]
fn a_deletion_that_was_under_way_goes_on() {
    let store = memory();
    let id = life(async {
        let world = World::on(&store).await;
        let id = world.deploy(&Component::named("it").hooks()).await;
        let listener = world.deploy(&Component::named("listener")).await;
        world.subscribe(&id, &listener, "").await;
        world.engine.hold("it", Call::Deactivate);
        let (app, caller, gone) = (
            Arc::clone(&world.platform),
            world.caller.clone(),
            id.clone(),
        );
        let _doomed = tokio::spawn(async move { app.delete_source(&caller, &gone).await });
        world.engine.next().await;
        id
    });
    life(async {
        let (world, deactivate) = restarted(&store, "it", Call::Deactivate).await;
        deactivate.emit(json!("bye"));
        deactivate.returns();
        while world.state(&id).await.is_some() {
            tokio::task::yield_now().await;
        }
        let heard = world.engine.next().await;
        assert_eq!(heard.event, json!("bye"));
        heard.returns();
    });
}

#[test]
fn a_change_that_the_next_start_is_asked_for_meanwhile_is_not_undone() {
    let store = memory();
    let (to, it) = (
        replaced(&Component::named("v2").hooks()),
        Component::named("v1").hooks(),
    );
    let one = died_updating(&store, ("v2", Call::Activate), &it, to.clone());
    let other = died_updating(&store, ("v2", Call::Activate), &it, to);
    life(async {
        // The second life may have settled the first one's source before it died.
        let name = NodeName::new("node");
        let epoch = store.start_node(&name, T0).await.unwrap();
        let runnable = one.clone().into();
        let lease = store.lease_runnable(&runnable, epoch, T0).await.unwrap();
        store
            .set_source_state(&lease, SourceState::Updating)
            .await
            .unwrap();
    });
    life(async {
        let (world, activate) = restarted(&store, "v1", Call::Activate).await;
        // Recovery is with one source; its list has the other, which is paused meanwhile.
        let (recovered, paused) = match *activate.source_id() == one {
            true => (&one, &other),
            false => (&other, &one),
        };
        world.set_active(paused, false).await;
        activate.returns();
        settled(&world, recovered).await.unwrap();
        // Time for recovery to come to the other one.
        world.barrier(recovered).await;
        settled(&world, paused).await.unwrap();
        assert_eq!(world.state(paused).await, Some(SourceState::Inactive));
    });
}

#[test]
fn a_source_that_this_start_runs_already_is_settled_all_the_same() {
    /// More than recovery reads at once.
    const SOURCES: usize = 101;
    let store = memory();
    let last = life(async {
        let world = World::on(&store).await;
        let component = Component::named("it").hooks().http();
        let mut ids = Vec::new();
        for _ in 0..SOURCES {
            let id = world.deploy(&component).await;
            let lease = world.lease(&id).await;
            let updating = SourceState::Updating;
            store.set_source_state(&lease, updating).await.unwrap();
            ids.push(id);
        }
        ids.into_iter().max().unwrap()
    });
    life(async {
        let (world, first) = restarted(&store, "it", Call::Activate).await;
        let token = world.token(&last).await;
        world.request(&token, json!({})).await.unwrap();
        world.engine.next().await.returns();
        world.barrier(&last).await;
        assert_eq!(world.state(&last).await, Some(SourceState::Updating));
        world.engine.on("it", Call::Activate, |_| returned());
        first.returns();
        let is_settled = async {
            while world.state(&last).await != Some(SourceState::Active) {
                tokio::task::yield_now().await;
            }
        };
        let settled = tokio::time::timeout(PATIENCE, is_settled).await;
        settled.expect("recovery comes to the last source");
    });
}

#[test]
fn accepted_requests_of_a_dead_node_are_run_by_the_next() {
    let store = memory();
    let id = life(async {
        let world = World::on(&store).await;
        let id = world.deploy(&Component::named("it").http()).await;
        let token = world.token(&id).await;
        // Runs begin in their order once the worker is there.
        world.barrier(&id).await;
        for number in [1, 2] {
            let accepted = world.request(&token, json!(number)).await;
            assert!(matches!(accepted, Ok(Ingress::Accepted)));
        }
        let (first, second) = (world.engine.next().await, world.engine.next().await);
        first.emit(json!(1));
        first.returns();
        second.emit(json!("half"));
        world.barrier(&id).await;
        id
    });
    life(async {
        let world = World::on(&store).await;
        let run = world.engine.next().await;
        assert_eq!(run.event, json!(2));
        run.emit(json!(2));
        run.returns();
        world.barrier(&id).await;
        assert_eq!(world.emitted(&id).await, [json!(1), json!(2)]);
    });
}

#[test]
fn a_tick_of_a_dead_node_is_run_once_by_the_next() {
    let store = memory();
    let id = life(async {
        let world = World::on(&store).await;
        let id = world.deploy(&Component::named("poll").every(60)).await;
        world.clock.advance(60_000);
        world.nudge().await;
        world.engine.next().await;
        id
    });
    life(async {
        let world = World::on(&store).await;
        let run = world.engine.next().await;
        assert_eq!(run.event["interval_seconds"], json!(60));
        run.returns();
        world.barrier(&id).await;
        assert!(world.engine.nothing_started());
    });
}
