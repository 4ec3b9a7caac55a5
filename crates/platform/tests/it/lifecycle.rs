//! Pausing, resuming, renaming and deleting a source.

use headwater_model::page::PageRequest;
use headwater_platform::{Ingress, PlatformError, UpdateSource};
use headwater_store::SourceState;
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned, thrown},
    world::{NOWHERE, World, done},
};

#[tokio::test]
async fn pausing_runs_deactivate_only_and_resuming_activate_only() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.engine.calls();
    world.set_active(&id, false).await;
    let calls: Vec<_> = world
        .engine
        .calls()
        .into_iter()
        .filter(|call| call != "evict")
        .collect();
    assert_eq!(calls, ["it deactivate"]);
    assert_eq!(world.state(&id).await, Some(SourceState::Inactive));
    world.set_active(&id, true).await;
    assert_eq!(world.engine.calls(), ["it activate"]);
    assert_eq!(world.state(&id).await, Some(SourceState::Active));
}

#[tokio::test]
async fn a_change_that_changes_nothing_runs_no_hook() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.engine.calls();
    world.set_active(&id, true).await;
    let renaming = UpdateSource {
        name: Some("Renamed".to_owned()),
        ..UpdateSource::default()
    };
    let renamed = world.update(&id, renaming).await.unwrap();
    assert_eq!(renamed.source.spec.name, "Renamed");
    let shown = world.platform.source(&world.caller, &id).await.unwrap();
    assert_eq!(shown.source.spec.name, "Renamed");
    assert!(world.engine.calls().is_empty());
}

#[tokio::test]
async fn an_empty_name_is_refused_and_nothing_changes() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let renaming = UpdateSource {
        name: Some(String::new()),
        ..UpdateSource::default()
    };
    let refused = world.update(&id, renaming).await;
    assert!(matches!(refused, Err(PlatformError::Invalid(invalid)) if invalid.field == "name"));
    let source = world.platform.source(&world.caller, &id).await.unwrap();
    assert_eq!(source.source.spec.name, "it");
}

#[tokio::test]
async fn pausing_goes_through_even_if_deactivate_throws() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.engine.on("it", Call::Deactivate, |_| thrown("no"));
    world.set_active(&id, false).await;
    assert_eq!(world.state(&id).await, Some(SourceState::Inactive));
    assert_eq!(world.errors(&id).await.len(), 1);
}

#[tokio::test]
async fn what_deactivate_emits_and_stores_is_kept() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.engine.on("it", Call::Deactivate, |run| {
        run.emit(json!("bye"));
        run.set("hook", json!(null));
        run.set("last", json!(1));
        returned()
    });
    world.set_active(&id, false).await;
    assert_eq!(world.emitted(&id).await, [json!("bye")]);
    assert_eq!(world.key_values(&id).await, json!({ "last": 1 }));
}

#[tokio::test]
async fn an_inactive_source_cannot_be_run_by_hand() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.set_active(&id, false).await;
    let refused = world.platform.run_source(&world.caller, &id, None).await;
    assert!(matches!(refused, Err(PlatformError::Conflict(_))));
}

#[tokio::test]
async fn what_waits_when_a_source_is_paused_is_dropped() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks().http()).await;
    world.engine.hold("it", Call::Deactivate);
    let pausing = world.updating(&id, crate::world::switched(false));
    let deactivate = world.engine.next().await;
    let accepted = world
        .request(&world.token(&id).await, json!("too late"))
        .await;
    assert!(matches!(accepted, Ok(Ingress::Accepted)));
    deactivate.returns();
    done(pausing).await.unwrap();
    world.set_active(&id, true).await;
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn deleting_runs_deactivate_and_removes_everything() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!(1));
    run.set("key", json!(1));
    run.returns();
    done(report).await.unwrap();
    world.engine.calls();
    world.delete(&id).await.unwrap();
    assert_eq!(world.engine.calls(), ["it deactivate", "evict"]);
    assert_eq!(world.state(&id).await, None);
    assert_eq!(world.key_values(&id).await, json!({}));
    let again = world.delete(&id).await;
    assert!(matches!(
        again,
        Err(PlatformError::NotFound { kind: "source", .. })
    ));
}

#[tokio::test]
async fn a_source_is_deleted_even_if_deactivate_throws() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.engine.on("it", Call::Deactivate, |_| thrown("no"));
    world.delete(&id).await.unwrap();
    assert_eq!(world.state(&id).await, None);
}

#[tokio::test]
async fn what_is_emitted_before_a_deletion_reaches_its_listeners() {
    let world = World::new().await;
    let (id, webhook) = world.delivering_to(NOWHERE).await;
    // More than several steps of dispatch pass on.
    world.emit(&id, (0..3000).map(|number| json!(number))).await;
    world.delete(&id).await.unwrap();
    let page = PageRequest::first(1);
    let deliveries = world.store.deliveries(&webhook, None, &page).await;
    assert_eq!(deliveries.unwrap().total_count, 3000);
}

#[tokio::test]
async fn what_deactivate_emits_and_throws_before_a_deletion_reaches_its_listeners() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    let webhook = world.webhook(NOWHERE).await;
    world.deliver(&id, &webhook, "").await;
    world.deliver(&id, &webhook, "$errors").await;
    world.engine.on("it", Call::Deactivate, |run| {
        run.emit(json!("bye"));
        thrown("the service is gone")
    });
    world.delete(&id).await.unwrap();
    let deliveries = world.deliveries(&webhook).await;
    let events: Vec<_> = deliveries.iter().map(|one| one.event.event.get()).collect();
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[0], "\"bye\"");
    assert!(events[1].contains("the service is gone"), "{events:?}");
}

#[tokio::test]
async fn a_source_is_deleted_even_if_its_worker_is_lost_or_cannot_be_started() {
    let world = World::new().await;
    let lost = world.deploy(&Component::named("lost").hooks()).await;
    world.engine.hold("lost", Call::Deactivate);
    let (platform, caller, id) = (
        std::sync::Arc::clone(&world.platform),
        world.caller.clone(),
        lost.clone(),
    );
    let deleting = tokio::spawn(async move { platform.delete_source(&caller, &id).await });
    world.engine.next().await.loses_worker(&world.engine);
    done(deleting).await.unwrap();
    assert_eq!(world.state(&lost).await, None);

    let unstarted = world.deploy(&Component::named("unstarted").hooks()).await;
    world.engine.fail_starts(1);
    world.delete(&unstarted).await.unwrap();
    assert_eq!(world.state(&unstarted).await, None);
}

#[tokio::test]
async fn a_source_on_its_way_out_is_not_found() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks().http()).await;
    let token = world.token(&id).await;
    world.engine.hold("it", Call::Deactivate);
    let (platform, caller, gone) = (
        std::sync::Arc::clone(&world.platform),
        world.caller.clone(),
        id.clone(),
    );
    let deleting = tokio::spawn(async move { platform.delete_source(&caller, &gone).await });
    let deactivate = world.engine.next().await;
    let shown = world.platform.source(&world.caller, &id).await;
    assert!(matches!(shown, Err(PlatformError::NotFound { .. })));
    let refused = world.request(&token, json!({})).await;
    assert!(
        matches!(refused, Err(PlatformError::NotFound { .. })),
        "{refused:?}"
    );
    deactivate.returns();
    done(deleting).await.unwrap();
}

#[tokio::test]
async fn an_inactive_source_is_deleted_without_running_anything() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.set_active(&id, false).await;
    world.engine.calls();
    world.delete(&id).await.unwrap();
    assert_eq!(world.engine.calls(), ["evict"]);
    assert_eq!(world.state(&id).await, None);
}
