//! Updating: deactivate, swap, activate; and the way back when it fails.

use headwater_platform::{ComponentInput, Ingress, PlatformError, UpdateSource};
use headwater_store::SourceState;
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned, thrown},
    world::{World, configured, done, replaced, switched, token_seen},
};

#[tokio::test]
async fn an_update_deactivates_swaps_the_worker_and_activates() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.engine.calls();
    let updated = world
        .update(&id, replaced(&Component::named("v2").hooks()))
        .await
        .unwrap();
    assert_eq!(
        world.engine.calls(),
        ["v1 deactivate", "evict", "v2 activate"]
    );
    assert_eq!(updated.source.id, id);
    assert!(updated.active());
}

#[tokio::test]
async fn the_endpoint_is_stable_over_updates() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").http()).await;
    let token = world.token(&id).await;
    world
        .update(&id, replaced(&Component::named("v2").http()))
        .await
        .unwrap();
    assert_eq!(world.token(&id).await, token);
    world.request(&token, json!({})).await.unwrap();
    let run = world.engine.next().await;
    assert_eq!((run.name.as_str(), token_seen(&run)), ("v2", token));
    run.returns();
}

#[tokio::test]
async fn an_update_may_turn_a_plain_endpoint_into_one_that_responds() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").http()).await;
    let token = world.token(&id).await;
    world.engine.on("v1", Call::Run, |_| returned());
    world.request(&token, json!({})).await.unwrap();
    world
        .update(&id, replaced(&Component::named("v2").custom_response()))
        .await
        .unwrap();
    world.engine.on("v2", Call::Run, |run| {
        run.respond(201, "made");
        returned()
    });
    let response = world.request(&token, json!({})).await;
    assert!(matches!(response, Ok(Ingress::Responded(response)) if response.status == 201));
}

#[tokio::test]
async fn an_endpoint_that_an_update_adds_answers_while_activate_runs() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.engine.hold("v2", Call::Activate);
    world.engine.on("v2", Call::Run, |run| {
        run.respond(201, "verified");
        returned()
    });
    let v2 = Component::named("v2").hooks().custom_response();
    let updating = world.updating(&id, replaced(&v2));
    let activate = world.engine.next().await;
    let response = world.request(&token_seen(&activate), json!({})).await;
    assert!(matches!(response, Ok(Ingress::Responded(response)) if response.status == 201));
    activate.returns();
    done(updating).await.unwrap();
}

#[tokio::test]
async fn an_endpoint_that_a_failed_update_would_have_added_is_gone() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.engine.hold("v2", Call::Activate);
    let v2 = Component::named("v2").hooks().custom_response();
    let updating = world.updating(&id, replaced(&v2));
    let activate = world.engine.next().await;
    let token = token_seen(&activate);
    activate.throws("no");
    done(updating).await.unwrap_err();
    assert!(matches!(
        world.request(&token, json!({})).await,
        Err(PlatformError::NotFound { .. })
    ));
}

#[tokio::test]
async fn runs_in_flight_end_before_the_former_version_is_deactivated() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks().http()).await;
    world.engine.calls();
    let token = world.token(&id).await;
    world.request(&token, json!("before")).await.unwrap();
    let before = world.engine.next().await;
    world.engine.hold("v2", Call::Activate);
    let updating = world.updating(&id, replaced(&Component::named("v2").hooks().http()));
    // A pause is asked for before this run is; it waits for the new version.
    while world.state(&id).await != Some(SourceState::Updating) {
        tokio::task::yield_now().await;
    }
    before.emit(json!("before"));
    before.returns();
    let activate = world.engine.next().await;
    assert_eq!(world.emitted(&id).await, [json!("before")]);
    activate.returns();
    done(updating).await.unwrap();
    assert_eq!(
        world.engine.calls(),
        ["v1 run", "v1 deactivate", "evict", "v2 activate"]
    );
}

#[tokio::test]
async fn a_request_during_an_update_is_run_by_the_new_version() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks().http()).await;
    let token = world.token(&id).await;
    world.engine.hold("v1", Call::Deactivate);
    let updating = world.updating(&id, replaced(&Component::named("v2").hooks().http()));
    let deactivate = world.engine.next().await;
    world.request(&token, json!("meanwhile")).await.unwrap();
    assert!(world.engine.nothing_started());
    deactivate.returns();
    done(updating).await.unwrap();
    let run = world.engine.next().await;
    assert_eq!((run.name.as_str(), &run.event), ("v2", &json!("meanwhile")));
    run.returns();
}

#[tokio::test]
async fn what_the_new_activate_emits_is_there_only_after_it_succeeded() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.engine.hold("v2", Call::Activate);
    let updating = world.updating(&id, replaced(&Component::named("v2").hooks()));
    let activate = world.engine.next().await;
    activate.emit(json!("early"));
    activate.set("key", json!(2));
    assert!(world.emitted(&id).await.is_empty());
    activate.returns();
    done(updating).await.unwrap();
    assert_eq!(world.emitted(&id).await, [json!("early")]);
    assert_eq!(world.key_values(&id).await, json!({ "key": 2 }));
}

#[tokio::test]
async fn a_failing_update_restores_and_activates_the_former_version() {
    let world = World::new().await;
    let id = world
        .deploy(
            &Component::named("v1")
                .hooks()
                .http()
                .prop(json!({ "name": "n", "type": "integer", "default": 1 })),
        )
        .await;
    let before = world.platform.source(&world.caller, &id).await.unwrap();
    world.engine.calls();
    world.engine.on("v2", Call::Activate, |run| {
        run.emit(json!("never"));
        run.set("key", json!("never"));
        thrown("no such table")
    });
    let refused = world
        .update(&id, replaced(&Component::named("v2").hooks().http()))
        .await;
    let Err(PlatformError::Component { stage, error }) = refused else {
        panic!("{refused:?}");
    };
    assert!(stage.contains("`activate`"), "{stage}");
    assert!(error.stack.contains("component.mjs"));
    assert_eq!(
        world.engine.calls(),
        [
            "v1 deactivate",
            "evict",
            "v2 activate",
            "evict",
            "v1 activate"
        ]
    );
    let after = world.platform.source(&world.caller, &id).await.unwrap();
    assert_eq!(after.source.state, SourceState::Active);
    assert_eq!(
        after.source.spec.component_id,
        before.source.spec.component_id
    );
    assert_eq!(after.configured_props, before.configured_props);
    assert!(world.emitted(&id).await.is_empty());
    assert_eq!(world.key_values(&id).await, json!({}));

    world
        .request(&world.token(&id).await, json!({}))
        .await
        .unwrap();
    let run = world.engine.next().await;
    assert_eq!(run.name, "v1");
    run.returns();
}

#[tokio::test]
async fn an_update_whose_code_does_not_build_changes_nothing() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.engine.calls();
    let broken = UpdateSource {
        component: ComponentInput {
            component_code: Some("export default {".to_owned()),
            ..ComponentInput::default()
        },
        ..UpdateSource::default()
    };
    let refused = world.update(&id, broken).await;
    assert!(matches!(refused, Err(PlatformError::Component { .. })));
    assert!(world.engine.calls().is_empty());
    assert_eq!(world.state(&id).await, Some(SourceState::Active));
}

#[tokio::test]
async fn an_update_goes_on_when_the_former_deactivate_throws() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world
        .engine
        .on("v1", Call::Deactivate, |_| thrown("the service is gone"));
    world
        .update(&id, replaced(&Component::named("v2").hooks()))
        .await
        .unwrap();
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.name, "v2");
    run.returns();
    done(report).await.unwrap();
    let errors = world.errors(&id).await;
    assert_eq!(errors[0]["error"]["message"], "the service is gone");
}

#[tokio::test]
async fn other_props_reach_the_code_through_a_fresh_worker() {
    let world = World::new().await;
    let component = Component::named("v1")
        .hooks()
        .prop(json!({ "name": "table", "type": "string", "default": "a" }));
    let id = world.deploy(&component).await;
    world.engine.calls();
    world
        .update(&id, configured(json!({ "table": "b" })))
        .await
        .unwrap();
    assert_eq!(
        world.engine.calls(),
        ["v1 deactivate", "evict", "v1 activate"]
    );
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.props["table"], json!("b"));
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn the_key_values_of_the_former_version_are_those_of_the_new_one() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.set("cursor", json!(41));
    run.returns();
    done(report).await.unwrap();
    world
        .update(&id, replaced(&Component::named("v2")))
        .await
        .unwrap();
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.get("cursor"), Some(json!(41)));
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn an_inactive_source_is_updated_without_running_anything() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.set_active(&id, false).await;
    world.engine.calls();
    world
        .update(&id, replaced(&Component::named("v2").hooks()))
        .await
        .unwrap();
    let calls = world.engine.calls();
    assert!(calls.iter().all(|call| call == "evict"), "{calls:?}");
    assert_eq!(world.state(&id).await, Some(SourceState::Inactive));
    world.set_active(&id, true).await;
    assert_eq!(world.engine.calls(), ["v2 activate"]);
}

#[tokio::test]
async fn a_failing_activation_leaves_an_inactive_source_inactive() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.set_active(&id, false).await;
    world.engine.on("v1", Call::Activate, |_| thrown("not now"));
    world.engine.calls();
    let refused = world.update(&id, switched(true)).await;
    assert!(matches!(refused, Err(PlatformError::Component { .. })));
    assert_eq!(world.engine.calls(), ["v1 activate", "evict"]);
    assert_eq!(world.state(&id).await, Some(SourceState::Inactive));
}

#[tokio::test]
async fn requests_during_a_failing_update_are_told_to_try_again_and_plain_ones_are_kept() {
    let world = World::with(|config| config.source_concurrency = 1).await;
    let two = Component::named("v1").hooks().custom_response();
    let two = two.prop(json!({ "name": "plain", "type": "$.interface.http" }));
    let id = world.deploy(&two).await;
    let endpoints = world
        .store
        .source(&id)
        .await
        .unwrap()
        .unwrap()
        .spec
        .endpoints;
    let token = |prop: &str| {
        let endpoint = endpoints.iter().find(|endpoint| endpoint.prop == prop);
        endpoint.unwrap().token.clone()
    };
    world.engine.hold("v1", Call::Deactivate);
    world.engine.hold("v2", Call::Activate);
    let updating = world.updating(
        &id,
        replaced(&Component::named("v2").hooks().custom_response()),
    );
    let deactivate = world.engine.next().await;
    let asking = [(); 2].map(|()| world.requesting(&token("http"), json!("custom")));
    world
        .request(&token("plain"), json!("plain"))
        .await
        .unwrap();
    deactivate.returns();
    // One request and `activate` are with the new version, in whatever order; the others wait.
    for _ in 0..2 {
        let run = world.engine.next().await;
        if run.call == Call::Activate {
            run.throws("no");
        }
    }
    assert!(done(updating).await.is_err());
    for asked in asking {
        let answer = done(asked).await;
        assert!(
            matches!(answer, Err(PlatformError::Unavailable(_))),
            "{answer:?}"
        );
    }
    let run = world.engine.next().await;
    assert_eq!((run.name.as_str(), &run.event), ("v1", &json!("plain")));
    run.returns();
}

#[tokio::test]
async fn changes_of_one_source_take_turns() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.engine.hold("v2", Call::Activate);
    world.engine.calls();
    let second = world.updating(&id, replaced(&Component::named("v2").hooks()));
    let activate = world.engine.next().await;
    let third = world.updating(&id, replaced(&Component::named("v3").hooks()));
    activate.returns();
    done(second).await.unwrap();
    done(third).await.unwrap();
    assert_eq!(
        world.engine.calls(),
        [
            "v1 deactivate",
            "evict",
            "v2 activate",
            "v2 deactivate",
            "evict",
            "v3 activate"
        ]
    );
}
