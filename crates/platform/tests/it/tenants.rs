//! What another tenant owns is not there.

use std::pin::pin;

use futures::StreamExt as _;
use headwater_model::{page::PageRequest, time::EpochMs};
use headwater_platform::{
    Caller, Change, ComponentRef, EventRange, EventsQuery, NewAccount, NewWebhook, PlatformError,
    ReplayRequest, UpdateWebhook, Wanted, Webhook, default_channels,
};
use serde_json::json;

use crate::{
    component::Component,
    world::{NOWHERE, World, code, deployment, object, switched},
};

fn is_not_found<T>(result: Result<T, PlatformError>) -> bool {
    matches!(result, Err(PlatformError::NotFound { .. }))
}

#[tokio::test]
async fn another_tenants_source_is_not_found() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("mine").hooks()).await;
    world.engine.calls();
    let (platform, other) = (&world.platform, world.stranger().await);
    let query = EventsQuery {
        channels: default_channels(None),
        page: PageRequest::first(10),
    };
    assert!(is_not_found(platform.source(&other, &id).await));
    assert!(is_not_found(
        platform.source_events(&other, &id, &query).await
    ));
    let range = EventRange::default();
    assert!(is_not_found(
        platform
            .delete_source_events(&other, &id, default_channels(None), range)
            .await
    ));
    assert!(is_not_found(platform.run_source(&other, &id, None).await));
    assert!(is_not_found(
        platform.update_source(&other, &id, switched(false)).await
    ));
    assert!(is_not_found(platform.delete_source(&other, &id).await));
    assert!(world.engine.calls().is_empty());
    assert!(platform.source(&world.caller, &id).await.is_ok());
}

#[tokio::test]
async fn another_tenants_component_is_not_found_by_id_or_key() {
    let world = World::new().await;
    let component = Component::named("mine").key("my-key");
    let saved = world
        .platform
        .save_component(&world.caller, &code(&component), None)
        .await
        .unwrap()
        .component;
    let by_key = ComponentRef::Key("my-key".to_owned());
    let other = world.stranger().await;
    assert!(is_not_found(
        world
            .platform
            .component(&other, &ComponentRef::Id(saved.id.clone()), None)
            .await
    ));
    assert!(is_not_found(
        world.platform.component(&other, &by_key, None).await
    ));
    let mine = world
        .platform
        .component(&world.caller, &by_key, None)
        .await
        .unwrap();
    assert_eq!(mine.id, saved.id);

    let mut request = deployment(&component, json!({}));
    request.component.component_id = Some(saved.id.to_string());
    assert!(is_not_found(
        world.platform.deploy_source(&other, request).await
    ));
}

#[tokio::test]
async fn another_tenants_account_is_not_found() {
    let world = World::new().await;
    let new = NewAccount {
        app: "github".to_owned(),
        name: None,
        fields: object(json!({ "api_key": "k" })),
        workspace_id: None,
    };
    let account = world
        .platform
        .create_account(&world.caller, new)
        .await
        .unwrap();
    let other = world.stranger().await;
    assert!(is_not_found(
        world
            .platform
            .delete_account(&other, &account.account.id)
            .await
    ));
    let page = PageRequest::first(10);
    let listed = world.platform.accounts(&other, None, &page).await.unwrap();
    assert!(listed.items.is_empty());
    world
        .platform
        .delete_account(&world.caller, &account.account.id)
        .await
        .unwrap();
}

#[tokio::test]
async fn nobody_subscribes_to_or_with_another_tenants_source() {
    let world = World::new().await;
    let mine = world.deploy(&Component::named("mine")).await;
    let other = world.stranger().await;
    let request = deployment(&Component::named("theirs"), json!({}));
    let theirs = world
        .platform
        .deploy_source(&other, request)
        .await
        .unwrap()
        .source
        .id;
    let (platform, mine, theirs) = (&world.platform, mine.as_str(), theirs.as_str());
    assert!(is_not_found(
        platform.subscribe(&other, mine, theirs, "").await
    ));
    assert!(is_not_found(
        platform.subscribe(&other, theirs, mine, "").await
    ));
    let me = world.caller.user_id().as_str();
    assert!(is_not_found(
        platform.subscribe(&other, me, theirs, "").await
    ));
    let workspace = world.caller.identity.workspaces[0].id.as_str();
    let refused = platform.subscribe(&other, workspace, theirs, "").await;
    assert!(matches!(refused, Err(PlatformError::Forbidden(_))));
}

#[tokio::test]
async fn another_tenants_webhook_is_not_found() {
    let world = World::new().await;
    let id = world.webhook(NOWHERE).await;
    let (platform, other) = (&world.platform, world.stranger().await);
    assert!(is_not_found(platform.webhook(&other, &id).await));
    let change = UpdateWebhook::default();
    assert!(is_not_found(
        platform.update_webhook(&other, &id, change).await
    ));
    assert!(is_not_found(
        platform.rotate_webhook_secret(&other, &id, None).await
    ));
    assert!(is_not_found(platform.delete_webhook(&other, &id).await));
    let page = PageRequest::first(10);
    assert!(is_not_found(
        platform.deliveries(&other, &id, None, &page).await
    ));
    let everything = ReplayRequest {
        since_ms: Some(EpochMs(0)),
        ..ReplayRequest::default()
    };
    assert!(is_not_found(
        platform.replay_deliveries(&other, &id, everything).await
    ));
    let listed = platform
        .webhooks(&other, None, &PageRequest::first(10))
        .await
        .unwrap();
    assert_eq!((listed.items.len(), listed.total_count), (0, 0));
    assert!(platform.webhook(&world.caller, &id).await.is_ok());
}

#[tokio::test]
async fn another_tenants_delivery_is_not_found() {
    let world = World::new().await;
    let id = world.delivery().await.id;
    let (platform, other) = (&world.platform, world.stranger().await);
    assert!(is_not_found(platform.delivery(&other, &id).await));
    assert!(is_not_found(platform.retry_delivery(&other, &id).await));
    assert!(platform.delivery(&world.caller, &id).await.is_ok());
}

#[tokio::test]
async fn a_webhook_of_a_workspace_is_its_members() {
    let world = World::new().await;
    let workspace = &world.caller.identity.workspaces[0];
    let new = NewWebhook {
        url: "https://receiver.example".to_owned(),
        workspace_id: Some(workspace.id.clone()),
        ..NewWebhook::default()
    };
    let (platform, mut other) = (&world.platform, world.stranger().await);
    let refused = platform.create_webhook(&other, new.clone()).await;
    assert!(matches!(refused, Err(PlatformError::Forbidden(_))));
    let id = platform
        .create_webhook(&world.caller, new)
        .await
        .unwrap()
        .webhook
        .id;
    assert!(is_not_found(platform.webhook(&other, &id).await));
    let listed = async |caller: &Caller| {
        let first = PageRequest::first(10);
        let page = platform.webhooks(caller, Some(workspace.id.clone()), &first);
        let ids = page.await?.items.into_iter().map(|webhook| webhook.id);
        Ok(ids.collect::<Vec<_>>())
    };
    let refused = listed(&other).await;
    assert!(matches!(refused, Err(PlatformError::Forbidden(_))));
    other.identity.workspaces.push(workspace.clone());
    assert!(platform.webhook(&other, &id).await.is_ok());
    assert_eq!(listed(&other).await.unwrap(), std::slice::from_ref(&id));
    platform
        .subscribe(&other, "dc_*", id.as_str(), "")
        .await
        .unwrap();
    platform.delete_webhook(&other, &id).await.unwrap();
    assert!(is_not_found(platform.webhook(&world.caller, &id).await));
}

#[tokio::test]
async fn nobody_subscribes_another_tenants_webhook() {
    let world = World::new().await;
    let (webhook, source) = (
        world.webhook(NOWHERE).await,
        world.deploy(&Component::named("mine")).await,
    );
    let (platform, other) = (&world.platform, world.stranger().await);
    for listener in [webhook.as_str(), source.as_str()] {
        assert!(is_not_found(
            platform.subscribe(&other, "dc_*", listener, "").await
        ));
        assert!(is_not_found(
            platform
                .subscribe_automatically(&other, listener, "$errors")
                .await
        ));
    }
}

#[tokio::test]
async fn a_stranger_does_not_see_a_workspaces_subscriptions() {
    let world = World::new().await;
    let workspace = world.caller.identity.workspaces[0].id.clone();
    let refused = world
        .platform
        .workspace_subscriptions(&world.stranger().await, workspace)
        .await;
    assert!(matches!(refused, Err(PlatformError::Forbidden(_))));
}

#[tokio::test]
async fn a_stranger_is_no_member_of_my_workspace() {
    let world = World::new().await;
    let workspace = world.caller.identity.workspaces[0].id.clone();
    let other = world.stranger().await;
    let mut request = deployment(&Component::named("it"), json!({}));
    request.workspace_id = Some(workspace.clone());
    let refused = world.platform.deploy_source(&other, request.clone()).await;
    assert!(matches!(refused, Err(PlatformError::Forbidden(_))));
    let page = PageRequest::first(10);
    let refused = world
        .platform
        .sources(&other, Some(workspace.clone()), Wanted::default(), &page)
        .await;
    assert!(matches!(refused, Err(PlatformError::Forbidden(_))));
    world
        .platform
        .deploy_source(&world.caller, request)
        .await
        .unwrap();
    let listed = world
        .platform
        .sources(&world.caller, Some(workspace), Wanted::default(), &page)
        .await
        .unwrap();
    assert_eq!(listed.total_count, 1);
}

#[tokio::test]
async fn an_unknown_key_is_unauthenticated() {
    let world = World::new().await;
    assert!(matches!(
        world.platform.authenticate("other").await,
        Err(PlatformError::Unauthenticated)
    ));
}

#[tokio::test]
async fn changes_are_told_to_those_who_may_see_the_thing() {
    let world = World::new().await;
    let (platform, other) = (&world.platform, world.stranger().await);
    let now_ms = platform.environment().now_ms();
    let mut mine = pin!(platform.changes(&world.caller, now_ms));
    let mut theirs = pin!(platform.changes(&other, now_ms));
    let create = async |caller: &Caller| {
        let new = NewWebhook {
            url: "https://receiver.example".to_owned(),
            ..NewWebhook::default()
        };
        platform.create_webhook(caller, new).await.unwrap().webhook
    };
    let created = create(&world.caller).await;
    let of_other = create(&other).await;
    platform
        .delete_webhook(&world.caller, &created.id)
        .await
        .unwrap();
    let told = |webhook: &Webhook| Some(Change::Webhook(webhook.id.clone(), webhook.owner.clone()));
    assert_eq!(mine.next().await, told(&created));
    assert_eq!(mine.next().await, told(&created), "also that it is gone");
    assert_eq!(theirs.next().await, told(&of_other));
}
