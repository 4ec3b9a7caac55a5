//! Events on their way to the sources that subscribe.

use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned, thrown},
    world::{World, done},
};

async fn pair(world: &World) -> (headwater_model::id::SourceId, headwater_model::id::SourceId) {
    let emitter = world.deploy(&Component::named("emitter")).await;
    let listener = world.deploy(&Component::named("listener")).await;
    (emitter, listener)
}

#[tokio::test]
async fn an_event_runs_the_subscribed_source_with_the_emitted_data_itself() {
    let world = World::new().await;
    let (emitter, listener) = pair(&world).await;
    world.subscribe(&emitter, &listener, "").await;
    let (run, report) = world.manual(&emitter, json!({})).await;
    run.emit_with(json!({ "row": 1 }), json!({ "id": 1, "summary": "a row" }));
    run.returns();
    done(report).await.unwrap();
    let heard = world.engine.next().await;
    assert_eq!(
        (heard.source_id(), &heard.event),
        (&listener, &json!({ "row": 1 }))
    );
    heard.throws("to see its context");
    world.barrier(&listener).await;
    let errors = world.errors(&listener).await;
    assert_eq!(errors[0]["original_context"]["trigger"], "event");
}

#[tokio::test]
async fn only_the_subscribed_channel_is_heard() {
    let world = World::new().await;
    let (emitter, listener) = pair(&world).await;
    world.subscribe(&emitter, &listener, "orders").await;
    let (run, report) = world.manual(&emitter, json!({})).await;
    run.emit(json!("default"));
    run.emit_with(json!("invoice"), json!({ "name": "invoices" }));
    run.emit_with(json!("order"), json!({ "name": "orders" }));
    run.returns();
    done(report).await.unwrap();
    let heard = world.engine.next().await;
    assert_eq!(heard.event, json!("order"));
    heard.returns();
    world.barrier(&listener).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn a_source_hears_its_own_named_channel() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.subscribe(&id, &id, "tick").await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!("to myself"), json!({ "name": "tick" }));
    run.returns();
    done(report).await.unwrap();
    let heard = world.engine.next().await;
    assert_eq!(
        (heard.source_id(), &heard.event),
        (&id, &json!("to myself"))
    );
    heard.returns();
}

#[tokio::test]
async fn events_run_their_listener_one_after_the_other_in_their_order() {
    let world = World::new().await;
    let (emitter, listener) = pair(&world).await;
    world.subscribe(&emitter, &listener, "").await;
    let (run, report) = world.manual(&emitter, json!({})).await;
    for number in 0..3 {
        run.emit(json!(number));
    }
    run.returns();
    done(report).await.unwrap();
    for number in 0..3 {
        let heard = world.engine.next().await;
        assert_eq!(heard.event, json!(number));
        assert!(world.engine.nothing_started());
        heard.returns();
    }
}

#[tokio::test]
async fn an_event_goes_no_further_than_the_hop_limit() {
    let world = World::new().await;
    let (looping, witness) = pair(&world).await;
    world.subscribe(&looping, &looping, "loop").await;
    world.subscribe(&looping, &witness, "witness").await;
    let _report = world.running(&looping, json!(0));
    for hops in 0..=16 {
        let run = world.engine.next().await;
        assert_eq!((run.source_id(), &run.event), (&looping, &json!(hops)));
        run.emit_with(json!(hops + 1), json!({ "name": "loop" }));
        run.returns();
    }
    // A later event that begins at zero hops is passed on: dispatch has seen the last of the loop.
    let _report = world.running(&looping, json!("fresh"));
    let fresh = world.engine.next().await;
    assert_eq!(fresh.event, json!("fresh"));
    fresh.emit_with(json!("seen"), json!({ "name": "witness" }));
    fresh.returns();
    let seen = world.engine.next().await;
    assert_eq!(seen.event, json!("seen"));
    seen.returns();
    world.barrier(&looping).await;
    assert!(world.engine.nothing_started());
    assert_eq!(world.log(&looping, Some("loop")).await.len(), 17);
}

#[tokio::test]
async fn errors_reach_who_subscribes_to_them_and_never_feed_themselves() {
    let world = World::new().await;
    let (emitter, listener) = pair(&world).await;
    // As part of all sources, it is its own emitter too.
    world
        .platform
        .subscribe(&world.caller, "dc_*", listener.as_str(), "$errors")
        .await
        .unwrap();
    world.engine.on("emitter", Call::Run, |_| thrown("broken"));
    world
        .platform
        .run_source(&world.caller, &emitter, None)
        .await
        .unwrap();
    let heard = world.engine.next().await;
    assert_eq!(heard.event["error"]["message"], "broken");
    heard.throws("broken too");
    world.barrier(&listener).await;
    // Another event passes dispatch behind the error.
    world
        .platform
        .run_source(&world.caller, &emitter, None)
        .await
        .unwrap();
    let heard = world.engine.next().await;
    assert_eq!(heard.event["error"]["message"], "broken");
    heard.returns();
    world.barrier(&listener).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn all_my_sources_are_heard_and_what_deploy_emits_too() {
    let world = World::new().await;
    let listener = world.deploy(&Component::named("listener")).await;
    world
        .platform
        .subscribe(&world.caller, "dc_*", listener.as_str(), "hello")
        .await
        .unwrap();
    world.engine.on("later", Call::Deploy, |run| {
        run.emit_with(json!("hello"), json!({ "name": "hello" }));
        returned()
    });
    world.deploy(&Component::named("later").hooks()).await;
    let heard = world.engine.next().await;
    assert_eq!(
        (heard.source_id(), &heard.event),
        (&listener, &json!("hello"))
    );
    heard.returns();
}

#[tokio::test]
async fn an_inactive_listener_misses_the_event() {
    let world = World::new().await;
    let (emitter, listener) = pair(&world).await;
    let witness = world.deploy(&Component::named("witness")).await;
    world.subscribe(&emitter, &listener, "").await;
    world.subscribe(&emitter, &witness, "").await;
    world.set_active(&listener, false).await;
    let (run, report) = world.manual(&emitter, json!({})).await;
    run.emit(json!("missed"));
    run.returns();
    done(report).await.unwrap();
    let heard = world.engine.next().await;
    assert_eq!(*heard.source_id(), witness);
    heard.returns();
    world.set_active(&listener, true).await;
    world.barrier(&listener).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn a_subscription_ends_when_it_is_taken_back_and_is_made_only_once() {
    let world = World::new().await;
    let (emitter, listener) = pair(&world).await;
    world.subscribe(&emitter, &listener, "").await;
    world.subscribe(&emitter, &listener, "").await;
    assert_eq!(
        world
            .platform
            .subscriptions(&world.caller)
            .await
            .unwrap()
            .len(),
        1
    );
    let (from, to) = (emitter.as_str(), listener.as_str());
    world
        .platform
        .unsubscribe(&world.caller, from, to, "")
        .await
        .unwrap();
    assert!(
        world
            .platform
            .unsubscribe(&world.caller, from, to, "")
            .await
            .is_err()
    );
    let witness = world.deploy(&Component::named("witness")).await;
    world.subscribe(&emitter, &witness, "").await;
    let (run, report) = world.manual(&emitter, json!({})).await;
    run.emit(json!("unheard"));
    run.returns();
    done(report).await.unwrap();
    let heard = world.engine.next().await;
    assert_eq!(*heard.source_id(), witness);
    heard.returns();
    world.barrier(&listener).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn ids_that_are_none_and_held_events_cannot_be_subscribed_to() {
    let world = World::new().await;
    let (emitter, listener) = pair(&world).await;
    for (from, to, channel) in [
        (emitter.as_str(), listener.as_str(), "$in"),
        ("nonsense", listener.as_str(), ""),
        (emitter.as_str(), "nonsense", ""),
    ] {
        let refused = world
            .platform
            .subscribe(&world.caller, from, to, channel)
            .await;
        assert!(
            matches!(refused, Err(headwater_platform::PlatformError::Invalid(_))),
            "{refused:?}"
        );
    }
}
