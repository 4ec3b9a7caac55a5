//! Deployments of a source: what leaves one, and the way back to a former one.

use headwater_model::{
    id::{DeploymentId, SourceId},
    page::PageRequest,
};
use headwater_platform::{PlatformError, SourceDeploymentView, SourceView, UpdateSource};
use headwater_store::SourceState;
use serde_json::{Value, json};

use crate::{
    component::Component,
    engine::{Call, thrown},
    world::{World, code, configured, done, object, replaced, switched},
};

async fn deployments(world: &World, id: &SourceId) -> Vec<SourceDeploymentView> {
    let page = PageRequest::first(100);
    let found = world
        .platform
        .source_deployments(&world.caller, id, &page)
        .await;
    found.unwrap().items
}

async fn roll_back(
    world: &World,
    id: &SourceId,
    deployment: &DeploymentId,
) -> Result<SourceView, PlatformError> {
    later(world)
        .platform
        .roll_back_source(&world.caller, id, deployment)
        .await
}

/// The world one millisecond later: ids of the same moment have no order.
fn later(world: &World) -> &World {
    world.clock.advance(1);
    world
}

fn names(deployments: &[SourceDeploymentView]) -> Vec<&str> {
    let deployments = deployments.iter();
    deployments
        .map(|view| view.deployment.component.name.as_str())
        .collect()
}

fn with_secret(name: &str) -> Component {
    let secret = json!({ "name": "token", "type": "string", "secret": true });
    let plain = json!({ "name": "plain", "type": "string", "optional": true });
    Component::named(name).hooks().prop(secret).prop(plain)
}

#[tokio::test]
async fn each_deployment_of_code_or_values_is_kept_and_nothing_else_is() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").version("0.1.0")).await;
    let v2 = Component::named("v2").key("shop-v2").version("0.2.0");
    later(&world).update(&id, replaced(&v2)).await.unwrap();
    later(&world)
        .update(&id, configured(json!({})))
        .await
        .unwrap();
    let isolated = UpdateSource {
        is_isolated: Some(true),
        ..UpdateSource::default()
    };
    later(&world).update(&id, isolated).await.unwrap();
    world.set_active(&id, false).await;
    world.set_active(&id, true).await;
    let renamed = UpdateSource {
        name: Some("Renamed".to_owned()),
        ..UpdateSource::default()
    };
    later(&world).update(&id, renamed).await.unwrap();
    let found = deployments(&world, &id).await;
    assert_eq!(names(&found), ["v1", "v2", "v2", "v2"]);
    let isolated: Vec<_> = found.iter().map(|v| v.deployment.is_isolated).collect();
    assert_eq!(isolated, [false, false, false, true]);
    let current: Vec<_> = found.iter().map(|v| v.is_current).collect();
    assert_eq!(current, [false, false, false, true]);
    let component = &found[1].deployment.component;
    assert_eq!(component.key.as_deref(), Some("shop-v2"));
    assert_eq!(component.version.as_deref(), Some("0.2.0"));
    let by = found[0].deployment.deployed_by.as_ref();
    assert_eq!(by, Some(world.caller.user_id()));
    assert_eq!(
        found[0].deployment.deployed_by_name.as_deref(),
        Some(world.caller.identity.user.username.as_str())
    );
}

#[tokio::test]
async fn a_failed_update_leaves_no_deployment() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    let first = deployments(&world, &id).await.remove(0).deployment.id;
    world.engine.on("v2", Call::Activate, |_| thrown("no"));
    let v2 = Component::named("v2").hooks();
    later(&world).update(&id, replaced(&v2)).await.unwrap_err();
    let found = deployments(&world, &id).await;
    assert_eq!(names(&found), ["v1"]);
    assert!(found[0].is_current && found[0].deployment.id == first);
}

#[tokio::test]
async fn rolling_back_takes_up_code_and_values_through_the_hooks() {
    let world = World::new().await;
    let props = json!({ "token": "hunter2", "plain": "one" });
    let source = world.try_deploy(&with_secret("v1"), props).await.unwrap();
    let id = source.source.id;
    let v2 = UpdateSource {
        component: code(&with_secret("v2")),
        name: Some("Second".to_owned()),
        configured_props: Some(object(json!({ "token": "swordfish", "plain": null }))),
        ..UpdateSource::default()
    };
    later(&world).update(&id, v2).await.unwrap();
    let found = deployments(&world, &id).await;
    let first = &found[0].deployment;
    assert_eq!(found[0].secrets, ["token"]);
    assert_eq!(first.configured_props["token"], Value::Null);
    assert_eq!(first.configured_props["plain"], "one");
    assert!(!format!("{found:?}").contains("$sealed"));

    world.engine.calls();
    let back = roll_back(&world, &id, &first.id).await.unwrap();
    assert_eq!(
        world.engine.calls(),
        ["v2 deactivate", "evict", "v1 activate"]
    );
    assert_eq!(
        back.source.spec.name, "Second",
        "the name is not rolled back"
    );
    assert_eq!(back.configured_props["plain"], "one");
    let found = deployments(&world, &id).await;
    assert_eq!(names(&found), ["v1", "v2", "v1"]);
    assert_eq!(found[2].deployment.restores.as_ref(), Some(&first.id));
    assert!(found[2].is_current);
    let kept = world.store.source(&id).await.unwrap().unwrap();
    assert_eq!(kept.spec.component_id, first.component.id);

    let (run, running) = world.manual(&id, json!({})).await;
    assert_eq!(run.props["token"], "hunter2");
    run.returns();
    done(running).await.unwrap();
}

#[tokio::test]
async fn a_roll_back_that_fails_changes_nothing() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    let first = deployments(&world, &id).await.remove(0).deployment.id;
    let v2 = Component::named("v2").hooks();
    later(&world).update(&id, replaced(&v2)).await.unwrap();
    world.engine.calls();
    world.engine.on("v1", Call::Activate, |_| thrown("no more"));
    let refused = roll_back(&world, &id, &first).await;
    assert!(
        matches!(refused, Err(PlatformError::Component { error, .. }) if error.line().contains("no more"))
    );
    assert_eq!(
        world.engine.calls(),
        [
            "v2 deactivate",
            "evict",
            "v1 activate",
            "evict",
            "v2 activate"
        ]
    );
    assert_eq!(names(&deployments(&world, &id).await), ["v1", "v2"]);
    assert_eq!(world.state(&id).await, Some(SourceState::Active));
}

#[tokio::test]
async fn a_paused_source_stays_paused_when_it_is_rolled_back() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    let first = deployments(&world, &id).await.remove(0).deployment.id;
    let v2 = Component::named("v2").hooks();
    later(&world).update(&id, replaced(&v2)).await.unwrap();
    later(&world).update(&id, switched(false)).await.unwrap();
    world.engine.calls();
    let back = roll_back(&world, &id, &first).await.unwrap();
    assert!(!back.active());
    let called = world.engine.calls();
    assert!(called.iter().all(|call| call == "evict"), "{called:?}");
    assert_eq!(world.state(&id).await, Some(SourceState::Inactive));
}

#[tokio::test]
async fn only_former_deployments_of_the_source_itself_can_be_taken_up() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1")).await;
    let other = world.deploy(&Component::named("other")).await;
    let present = deployments(&world, &id).await.remove(0).deployment.id;
    let refused = roll_back(&world, &id, &present).await;
    assert!(matches!(refused, Err(PlatformError::Conflict(text)) if text.contains("runs")));
    let refused = roll_back(&world, &other, &present).await;
    assert!(matches!(refused, Err(PlatformError::NotFound { kind, .. }) if kind == "deployment"));
    let stranger = world.stranger().await;
    let refused = world
        .platform
        .roll_back_source(&stranger, &id, &present)
        .await;
    assert!(matches!(refused, Err(PlatformError::NotFound { kind, .. }) if kind == "source"));
}
