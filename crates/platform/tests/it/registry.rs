//! Publishing, and what a key means afterwards.

use headwater_model::page::PageRequest;
use headwater_platform::{Caller, ComponentFilter, ComponentRef, DeploySource, PlatformError};

use crate::{
    component::Component,
    world::{World, code},
};

fn component(name: &str, key: &str, version: &str) -> Component {
    Component::named(name).key(key).version(version)
}

/// The version that a key or id means for the caller.
async fn meant(world: &World, caller: &Caller, reference: &str) -> Option<String> {
    let reference = ComponentRef::parse(reference);
    match world.platform.component(caller, &reference, None).await {
        Ok(component) => component.description.version,
        Err(PlatformError::NotFound { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn publish(world: &World, component: &Component) -> Result<bool, PlatformError> {
    let published = world
        .platform
        .publish_component(&world.caller, &code(component))
        .await;
    published.map(|published| published.is_new)
}

#[tokio::test]
async fn what_one_user_publishes_every_user_finds_and_deploys() {
    let world = World::new().await;
    let other = world.stranger().await;
    let one = component("one", "shop-orders", "1.0.0");
    assert!(publish(&world, &one).await.unwrap());
    assert!(!publish(&world, &one).await.unwrap());
    let component = world
        .platform
        .registry_component("shop-orders")
        .await
        .unwrap();
    for reference in ["shop-orders", "shop-orders@1.0.0", component.id.as_str()] {
        assert_eq!(
            meant(&world, &other, reference).await.as_deref(),
            Some("1.0.0")
        );
        let mut request = DeploySource::default();
        request.component.component_id = Some(reference.to_owned());
        let source = world.platform.deploy_source(&other, request).await.unwrap();
        assert_eq!(source.source.spec.component_id, component.id);
        assert_eq!(source.source.owner.user_id, *other.user_id());
    }
    assert_eq!(meant(&world, &other, "shop-orders@2.0.0").await, None);
}

#[tokio::test]
async fn a_key_is_the_callers_draft_then_what_is_published() {
    let world = World::new().await;
    let other = world.stranger().await;
    // What is saved later is newer.
    let tick = || world.clock.advance(1);
    let save = async |version: &str| {
        tick();
        let draft = code(&component("draft", "shop-orders", version));
        world
            .platform
            .save_component(&world.caller, &draft, None)
            .await
            .unwrap();
    };
    save("draft 1").await;
    tick();
    publish(&world, &component("two", "shop-orders", "2.0.0"))
        .await
        .unwrap();
    tick();
    publish(&world, &component("one", "shop-orders", "1.0.0"))
        .await
        .unwrap();
    for caller in [&world.caller, &other] {
        assert_eq!(
            meant(&world, caller, "shop-orders").await.as_deref(),
            Some("2.0.0")
        );
    }
    save("draft 2").await;
    assert_eq!(
        meant(&world, &world.caller, "shop-orders").await.as_deref(),
        Some("draft 2")
    );
    assert_eq!(
        meant(&world, &other, "shop-orders").await.as_deref(),
        Some("2.0.0")
    );
    let registry = world
        .platform
        .registry_component("shop-orders")
        .await
        .unwrap();
    assert_eq!(registry.description.version.as_deref(), Some("2.0.0"));
}

#[tokio::test]
async fn only_who_published_a_key_publishes_further_versions_of_it() {
    let world = World::new().await;
    publish(&world, &component("one", "shop-orders", "1.0.0"))
        .await
        .unwrap();
    let next = code(&component("two", "shop-orders", "2.0.0"));
    let refused = world
        .platform
        .publish_component(&world.stranger().await, &next)
        .await;
    assert!(matches!(refused, Err(PlatformError::KeyTaken(key)) if key == "shop-orders"));
    let registry = world
        .platform
        .registry_component("shop-orders")
        .await
        .unwrap();
    assert_eq!(registry.description.version.as_deref(), Some("1.0.0"));
}

#[tokio::test]
async fn a_published_version_keeps_its_code() {
    let world = World::new().await;
    publish(&world, &component("one", "shop-orders", "1.0.0"))
        .await
        .unwrap();
    let other_code = component("other", "shop-orders", "1.0.0");
    match publish(&world, &other_code).await {
        Err(PlatformError::Conflict(reason)) => assert!(reason.contains("raise"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn without_a_key_or_a_semantic_version_nothing_is_published() {
    let world = World::new().await;
    for (refused, field) in [
        (Component::named("one").version("1.0.0"), "key"),
        (component("one", "shop-orders", "1"), "version"),
    ] {
        match publish(&world, &refused).await {
            Err(PlatformError::Unpublishable(invalid)) => assert_eq!(invalid.field, field),
            other => panic!("{other:?}"),
        }
    }
    let all = ComponentFilter::default();
    let page = PageRequest::first(10);
    let listed = world
        .platform
        .components(&world.caller, &all, None, &page)
        .await
        .unwrap();
    assert_eq!(listed.total_count, 0);
}
