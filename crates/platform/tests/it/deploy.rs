//! Deploying: hooks, what they leave behind, and what is left when one throws.

use std::sync::Arc;

use headwater_platform::{ComponentInput, DeploySource, Ingress, PlatformError, Wanted};
use headwater_store::{NodeEpoch, SourceState};
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned, thrown},
    world::{T0, World, deployment, done, token_seen},
};

#[tokio::test]
async fn deploying_runs_deploy_and_then_activate() {
    let world = World::new().await;
    let component = Component::named("new").hooks();
    let source = world.try_deploy(&component, json!({})).await.unwrap();
    assert_eq!(world.engine.calls(), ["new deploy", "new activate"]);
    assert!(source.active());
    assert_eq!(source.source.spec.name, "new");
}

#[tokio::test]
async fn hooks_that_a_component_does_not_have_are_not_called() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("plain")).await;
    world.set_active(&id, false).await;
    world.delete(&id).await.unwrap();
    let calls = world.engine.calls();
    assert!(calls.iter().all(|call| call == "evict"), "{calls:?}");
}

#[tokio::test]
async fn what_hooks_emit_and_store_is_there_only_after_both_succeeded() {
    let world = World::new().await;
    world.engine.on("new", Call::Deploy, |run| {
        run.emit(json!("from deploy"));
        run.set("cursor", json!(1));
        run.log("deploying");
        returned()
    });
    world.engine.hold("new", Call::Activate);
    let deploying = world.deploying(&Component::named("new").hooks());
    let activate = world.engine.next().await;
    let id = activate.source_id().clone();
    activate.emit(json!("from activate"));
    activate.set("cursor", json!(2));
    assert_eq!(world.state(&id).await, Some(SourceState::Deploying));
    assert!(world.emitted(&id).await.is_empty());
    assert!(world.log(&id, Some("$logs")).await.is_empty());
    assert_eq!(world.key_values(&id).await, json!({}));

    activate.returns();
    done(deploying).await.unwrap();
    assert_eq!(world.state(&id).await, Some(SourceState::Active));
    assert_eq!(
        world.emitted(&id).await,
        [json!("from deploy"), json!("from activate")]
    );
    assert_eq!(world.log(&id, Some("$logs")).await.len(), 1);
    assert_eq!(world.key_values(&id).await, json!({ "cursor": 2 }));
}

#[tokio::test]
async fn activate_sees_what_deploy_stored() {
    let world = World::new().await;
    world.engine.on("new", Call::Deploy, |run| {
        run.set("hook", json!("id-1"));
        returned()
    });
    world.engine.on("new", Call::Activate, |run| {
        run.emit(run.get("hook").unwrap_or_default());
        returned()
    });
    let id = world.deploy(&Component::named("new").hooks()).await;
    assert_eq!(world.emitted(&id).await, [json!("id-1")]);
}

async fn a_hook_that_throws_leaves_nothing(throws: Call, name: &str) {
    let world = World::new().await;
    let id = Arc::new(parking_lot::Mutex::new(None));
    let seen = Arc::clone(&id);
    world.engine.on("new", throws, move |run| {
        *seen.lock() = Some((run.source_id().clone(), token_seen(run)));
        run.emit(json!("never"));
        run.set("key", json!("never"));
        thrown("the service said no")
    });
    let component = Component::named("new").hooks().http();
    let refused = world.try_deploy(&component, json!({})).await;
    let Err(PlatformError::Component { stage, error }) = refused else {
        panic!("{refused:?}");
    };
    assert!(stage.contains(name), "{stage}");
    assert_eq!(error.message, "the service said no");
    assert!(error.stack.contains("component.mjs:3:7"));
    let calls = world.engine.calls();
    // Only what `activate` has begun is taken back.
    let taken_back = calls.contains(&"new deactivate".to_owned());
    assert_eq!(taken_back, throws == Call::Activate, "{calls:?}");
    assert_eq!(calls.last().map(String::as_str), Some("evict"));

    let (id, token) = id.lock().clone().unwrap();
    assert_eq!(world.state(&id).await, None);
    assert_eq!(world.key_values(&id).await, json!({}));
    let refused = world.request(&token, json!({})).await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
    let page = headwater_model::page::PageRequest::first(10);
    let sources = world
        .platform
        .sources(&world.caller, None, Wanted::default(), &page)
        .await
        .unwrap();
    assert_eq!(sources.total_count, 0);
}

#[tokio::test]
async fn a_deploy_hook_that_throws_leaves_nothing_and_is_named() {
    a_hook_that_throws_leaves_nothing(Call::Deploy, "`deploy`").await;
}

#[tokio::test]
async fn an_activate_hook_that_throws_leaves_nothing_and_is_named() {
    a_hook_that_throws_leaves_nothing(Call::Activate, "`activate`").await;
}

#[tokio::test]
async fn an_activate_hook_that_throws_before_it_stored_anything_is_not_taken_back() {
    let world = World::new().await;
    world.engine.on("new", Call::Deploy, |run| {
        run.emit(json!("seen"));
        returned()
    });
    world.engine.on("new", Call::Activate, |_| thrown("no"));
    let refused = world
        .try_deploy(&Component::named("new").hooks(), json!({}))
        .await;
    refused.unwrap_err();
    let calls = world.engine.calls();
    assert!(!calls.contains(&"new deactivate".to_owned()), "{calls:?}");
}

#[tokio::test]
async fn what_deploy_stored_is_taken_back_after_activate_threw() {
    let world = World::new().await;
    world.engine.on("new", Call::Deploy, |run| {
        run.set("hook", json!("id-1"));
        returned()
    });
    world.engine.on("new", Call::Activate, |_| thrown("no"));
    let refused = world
        .try_deploy(&Component::named("new").hooks(), json!({}))
        .await;
    refused.unwrap_err();
    let calls = world.engine.calls();
    assert!(calls.contains(&"new deactivate".to_owned()), "{calls:?}");
}

#[tokio::test]
async fn an_emit_of_a_hook_without_an_id_under_a_strategy_fails_the_deployment() {
    for hook in [Call::Deploy, Call::Activate] {
        let world = World::new().await;
        world.engine.on("new", hook, |run| {
            run.emit(json!("without an id"));
            returned()
        });
        let component = Component::named("new").hooks().dedupe("unique");
        let refused = world.try_deploy(&component, json!({})).await;
        let Err(PlatformError::Component { stage, error }) = refused else {
            panic!("{refused:?}");
        };
        assert!(stage.ends_with("hook threw"), "{stage}");
        assert_eq!(error.name, "EmitError");
        assert!(
            error.message.starts_with("$emit needs an `id`"),
            "{error:?}"
        );
        assert!(is_settled(&world).await);
    }
}

/// Whether the node has left no source in the middle of a change.
async fn is_settled(world: &World) -> bool {
    let unsettled = world.store.unsettled_sources(NodeEpoch(1), T0, None, 10);
    unsettled.await.unwrap().is_empty()
}

#[tokio::test]
async fn a_failed_deployment_is_gone_even_if_deactivate_throws_too() {
    let world = World::new().await;
    world.engine.on("new", Call::Activate, |run| {
        run.set("hook", json!("id-1"));
        thrown("first")
    });
    world
        .engine
        .on("new", Call::Deactivate, |_| thrown("second"));
    let refused = world
        .try_deploy(&Component::named("new").hooks(), json!({}))
        .await;
    assert!(
        matches!(refused, Err(PlatformError::Component { error, .. }) if error.message == "first")
    );
    assert!(is_settled(&world).await);
}

#[tokio::test]
async fn a_hook_whose_worker_is_lost_fails_the_deployment_as_unavailable() {
    let world = World::new().await;
    world.engine.hold("new", Call::Deploy);
    let deploying = world.deploying(&Component::named("new").hooks());
    world.engine.next().await.loses_worker(&world.engine);
    let refused = done(deploying).await;
    assert!(
        matches!(refused, Err(PlatformError::Unavailable(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn the_endpoint_accepts_requests_while_the_hooks_run() {
    let world = World::new().await;
    world.engine.hold("new", Call::Deploy);
    world.engine.hold("new", Call::Activate);
    let deploying = world.deploying(&Component::named("new").hooks().http());
    let deploy = world.engine.next().await;
    let token = token_seen(&deploy);
    let accepted = world.request(&token, json!({ "during": "deploy" })).await;
    assert!(matches!(accepted, Ok(Ingress::Accepted)));
    let run = world.engine.next().await;
    assert_eq!(run.event, json!({ "during": "deploy" }));
    run.returns();

    deploy.returns();
    let activate = world.engine.next().await;
    world
        .request(&token, json!({ "during": "activate" }))
        .await
        .unwrap();
    let run = world.engine.next().await;
    assert_eq!(run.event, json!({ "during": "activate" }));
    run.returns();
    activate.returns();
    done(deploying).await.unwrap();
}

#[tokio::test]
async fn a_custom_response_answers_while_the_hooks_run() {
    let world = World::new().await;
    world.engine.hold("new", Call::Activate);
    let deploying = world.deploying(&Component::named("new").hooks().custom_response());
    let activate = world.engine.next().await;
    let verifying = world.requesting(&token_seen(&activate), json!({ "challenge": 7 }));
    let run = world.engine.next().await;
    run.respond(200, "7");
    run.returns();
    assert!(
        matches!(done(verifying).await, Ok(Ingress::Responded(response)) if response.body == "7")
    );
    activate.returns();
    done(deploying).await.unwrap();
}

#[tokio::test]
async fn a_source_that_is_deployed_twice_gets_a_numbered_slug_and_an_endpoint_of_its_own() {
    let world = World::new().await;
    let component = Component::named("New Row").http();
    let first = world.try_deploy(&component, json!({})).await.unwrap();
    let second = world.try_deploy(&component, json!({})).await.unwrap();
    assert_eq!(first.source.name_slug, "new-row");
    assert_ne!(second.source.name_slug, first.source.name_slug);
    assert_ne!(
        first.configured_props["http"]["endpoint_url"],
        second.configured_props["http"]["endpoint_url"]
    );
}

#[tokio::test]
async fn code_that_does_not_evaluate_is_the_components_error() {
    let world = World::new().await;
    let request = DeploySource {
        component: ComponentInput {
            component_code: Some("export default {".to_owned()),
            ..ComponentInput::default()
        },
        ..DeploySource::default()
    };
    let refused = world.platform.deploy_source(&world.caller, request).await;
    assert!(
        matches!(refused, Err(PlatformError::Component { error, .. }) if error.name == "SyntaxError")
    );
}

#[tokio::test]
async fn an_action_cannot_be_deployed() {
    let world = World::new().await;
    let refused = world
        .try_deploy(&Component::named("send").action(), json!({}))
        .await;
    assert!(
        matches!(&refused, Err(PlatformError::Invalid(invalid)) if invalid.field == "component_id")
    );
}

#[tokio::test]
async fn a_component_id_takes_precedence_over_code() {
    let world = World::new().await;
    let saved = world
        .platform
        .save_component(
            &world.caller,
            &crate::world::code(&Component::named("saved")),
            None,
        )
        .await
        .unwrap()
        .component;
    let mut request = deployment(&Component::named("given"), json!({}));
    request.component.component_id = Some(saved.id.to_string());
    let source = world
        .platform
        .deploy_source(&world.caller, request)
        .await
        .unwrap();
    assert_eq!(source.source.spec.component_id, saved.id);
}
