//! Users of one node: who may make them, their keys, and what sharing a workspace means.

use headwater_model::{id::WorkspaceId, page::PageRequest};
use headwater_platform::{
    Caller, EventsQuery, NewAccount, NewWorkspace, PlanView, Platform, PlatformError, Wanted,
    default_channels,
};
use headwater_store::ApiKey;
use serde_json::json;

use crate::{
    component::Component,
    world::{T0, World, after, deployment, object},
};

const MINUTE_MS: u64 = 60_000;

#[tokio::test]
async fn only_the_administrator_manages_users() {
    let world = World::new().await;
    // Users of one millisecond are listed in any order.
    world.clock.advance(1);
    let (platform, bob) = (&world.platform, world.user("bob").await);
    let page = PageRequest::first(10);
    let made = platform
        .create_user(&bob, "eve".to_owned(), "eve@example.com".to_owned())
        .await;
    assert!(matches!(made, Err(PlatformError::AdminOnly)));
    let listed = platform.users(&bob, &page).await;
    assert!(matches!(listed, Err(PlatformError::AdminOnly)));
    let deleted = platform.delete_user(&bob, bob.user_id()).await;
    assert!(matches!(deleted, Err(PlatformError::AdminOnly)));
    let all = platform.users(&world.caller, &page).await.unwrap().items;
    let names: Vec<_> = all.iter().map(|user| user.username.as_str()).collect();
    assert_eq!(names, ["me", "bob"]);
    let deleted = platform
        .delete_user(&world.caller, world.caller.user_id())
        .await;
    assert!(matches!(deleted, Err(PlatformError::Conflict(_))));
}

#[tokio::test]
async fn the_node_acts_for_its_administrator_as_long_as_that_has_a_key() {
    let world = World::new().await;
    let (platform, bob) = (&world.platform, world.user("bob").await);
    let administrator = platform.administrator().await.unwrap();
    assert_eq!(administrator.user_id(), world.caller.user_id());
    let key = &administrator.identity.key.id;
    let by = &bob.identity.key.id;
    assert!(world.store.delete_key(key, by).await.unwrap());
    let refused = platform.administrator().await.unwrap_err();
    assert!(matches!(refused, PlatformError::Conflict(_)), "{refused:?}");
    let told = refused.to_string();
    assert!(told.contains("headwater keys reset"), "{told}");
}

#[tokio::test]
async fn names_and_addresses_have_their_form() {
    let world = World::new().await;
    let long = "a".repeat(65);
    for (username, email, field) in [
        ("", "a@b", "username"),
        ("a b", "a@b", "username"),
        ("é", "a@b", "username"),
        (long.as_str(), "a@b", "username"),
        ("ada", "ada", "email"),
        ("ada", "", "email"),
    ] {
        let made = world
            .platform
            .create_user(&world.caller, username.to_owned(), email.to_owned())
            .await;
        assert_eq!(field_of(made), field, "{username} {email}");
    }
    for (orgname, field) in [("", "orgname"), ("A", "orgname"), ("a b", "orgname")] {
        let new = new_workspace(orgname);
        let made = world.platform.create_workspace(&world.caller, new).await;
        assert_eq!(field_of(made), field, "{orgname}");
    }
}

#[tokio::test]
async fn a_deleted_users_key_opens_nothing() {
    let world = World::new().await;
    let made = world
        .platform
        .create_user(
            &world.caller,
            "bob".to_owned(),
            "bob@example.com".to_owned(),
        )
        .await
        .unwrap();
    world.platform.authenticate(&made.api_key).await.unwrap();
    world
        .platform
        .delete_user(&world.caller, &made.user.id)
        .await
        .unwrap();
    let found = world.platform.authenticate(&made.api_key).await;
    assert!(matches!(found, Err(PlatformError::Unauthenticated)));
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_from_then_on() {
    let world = World::new().await;
    let (platform, me) = (&world.platform, &world.caller);
    let made = platform.create_key(me, "laptop", None).await.unwrap();
    assert!(made.secret.starts_with("hw_"), "{}", made.secret);
    assert!(!made.key.hash.as_str().contains(&made.secret));
    let with_it = platform.authenticate(&made.secret).await.unwrap();
    assert_eq!(with_it.user_id(), me.user_id());
    platform.revoke_key(me, &made.key.id).await.unwrap();
    let found = platform.authenticate(&made.secret).await;
    assert!(matches!(found, Err(PlatformError::Unauthenticated)));
    let last = platform.revoke_key(me, &me.identity.key.id).await;
    assert!(matches!(last, Err(PlatformError::Conflict(_))));
}

#[tokio::test]
async fn keys_are_their_users_and_the_administrators_business() {
    let world = World::new().await;
    let (platform, bob) = (&world.platform, world.user("bob").await);
    let (mine, bobs) = (
        world.caller.identity.key.id.clone(),
        bob.identity.key.id.clone(),
    );
    assert!(is_not_found(platform.revoke_key(&bob, &mine).await));
    let me = Some(world.caller.user_id().clone());
    let made = platform.create_key(&bob, "k", me.clone()).await;
    assert!(matches!(made, Err(PlatformError::AdminOnly)));
    let listed = platform.keys(&bob, me, &PageRequest::first(10)).await;
    assert!(matches!(listed, Err(PlatformError::AdminOnly)));
    let for_bob = Some(bob.user_id().clone());
    let made = platform
        .create_key(&world.caller, "new laptop", for_bob)
        .await
        .unwrap();
    let with_it = platform.authenticate(&made.secret).await.unwrap();
    assert_eq!(with_it.user_id(), bob.user_id());
    platform.revoke_key(&world.caller, &bobs).await.unwrap();
    assert_eq!(field_of(platform.create_key(&bob, " ", None).await), "name");
}

#[tokio::test]
async fn the_use_of_a_key_is_noted_at_most_once_a_minute() {
    let world = World::new().await;
    let used_at = async || listed_key(&world).await.last_used_at;
    assert_eq!(used_at().await, Some(T0.to_seconds()));
    world.clock.advance(MINUTE_MS - 1);
    world.platform.authenticate("key").await.unwrap();
    assert_eq!(used_at().await, Some(T0.to_seconds()));
    world.clock.advance(1);
    world.platform.authenticate("key").await.unwrap();
    assert_eq!(used_at().await, Some(after(MINUTE_MS).to_seconds()));
}

#[tokio::test]
async fn a_workspace_is_shared_by_its_members_and_by_nobody_else() {
    let world = World::new().await;
    let (platform, bob) = (&world.platform, world.user("bob").await);
    let workspace = platform
        .create_workspace(&world.caller, new_workspace("team"))
        .await
        .unwrap();
    let (me, workspace) = (world.again(&world.caller).await, workspace.workspace.id);
    let mut request = deployment(&Component::named("shared"), json!({}));
    request.workspace_id = Some(workspace.clone());
    let id = platform
        .deploy_source(&me, request)
        .await
        .unwrap()
        .source
        .id;
    let account = platform
        .create_account(&me, account(&workspace))
        .await
        .unwrap();
    let query = EventsQuery {
        channels: default_channels(None),
        page: PageRequest::first(10),
    };
    let sees = async |caller: &Caller| {
        let seen = [
            platform.source(caller, &id).await.is_ok(),
            platform.source_events(caller, &id, &query).await.is_ok(),
            lists(platform, caller, &workspace).await,
            platform.workspace(caller, &workspace).await.is_ok(),
        ];
        assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
        seen[0]
    };
    assert!(!sees(&bob).await);
    platform.add_member(&me, &workspace, "bob").await.unwrap();
    let bob = world.again(&bob).await;
    assert!(sees(&bob).await);
    platform
        .run_source(&bob, &id, Some(json!({ "$barrier": true })))
        .await
        .unwrap();
    // Who made it or paid for it does not matter: the workspace counts it.
    let view = platform.workspace(&bob, &workspace).await.unwrap();
    assert_eq!(view.usage.invocations, 1);
    platform
        .remove_member(&me, &workspace, bob.user_id())
        .await
        .unwrap();
    let bob = world.again(&bob).await;
    assert!(!sees(&bob).await);
    assert!(is_not_found(
        platform.delete_account(&bob, &account.account.id).await
    ));
    assert!(sees(&me).await);
}

#[tokio::test]
async fn who_leaves_a_workspace_leaves_what_it_made_there() {
    let world = World::new().await;
    let (platform, bob) = (&world.platform, world.user("bob").await);
    let view = platform
        .create_workspace(&bob, new_workspace("team"))
        .await
        .unwrap();
    let workspace = view.workspace.id;
    let bob = world.again(&bob).await;
    let mut request = deployment(&Component::named("shared"), json!({}));
    request.workspace_id = Some(workspace.clone());
    let id = platform
        .deploy_source(&bob, request)
        .await
        .unwrap()
        .source
        .id;
    let alone = platform
        .remove_member(&bob, &workspace, bob.user_id())
        .await;
    assert!(matches!(alone, Err(PlatformError::Conflict(_))));
    platform
        .add_member(&bob, &workspace, world.caller.user_id().as_str())
        .await
        .unwrap();
    platform
        .remove_member(&bob, &workspace, bob.user_id())
        .await
        .unwrap();
    let (me, bob) = (world.again(&world.caller).await, world.again(&bob).await);
    assert!(is_not_found(platform.source(&bob, &id).await));
    let before = world.usage(&me).await.invocations;
    platform
        .run_source(&me, &id, Some(json!({ "$barrier": true })))
        .await
        .unwrap();
    assert_eq!(world.usage(&me).await.invocations, before + 1);
    platform
        .delete_user(&world.caller, bob.user_id())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_workspace_that_is_not_there_is_not_found_and_one_of_others_forbidden() {
    let world = World::new().await;
    let (platform, bob) = (&world.platform, world.user("bob").await);
    let mine = world.caller.identity.workspaces[0].id.clone();
    let none = platform.environment().id(WorkspaceId::new);
    let component = deployment(&Component::named("it"), json!({}));
    for (id, is_there) in [(mine, true), (none, false)] {
        let mut request = component.clone();
        request.workspace_id = Some(id.clone());
        for error in [
            platform.workspace(&bob, &id).await.err(),
            platform
                .members(&bob, &id, &PageRequest::first(10))
                .await
                .err(),
            platform.add_member(&bob, &id, "bob").await.err(),
            platform
                .sources(
                    &bob,
                    Some(id.clone()),
                    Wanted::default(),
                    &PageRequest::first(10),
                )
                .await
                .err(),
            platform
                .accounts(&bob, Some(id.clone()), &PageRequest::first(10))
                .await
                .err(),
            platform.create_account(&bob, account(&id)).await.err(),
            platform.deploy_source(&bob, request.clone()).await.err(),
        ] {
            match is_there {
                true => assert!(
                    matches!(error, Some(PlatformError::Forbidden(_))),
                    "{error:?}"
                ),
                false => assert!(
                    matches!(error, Some(PlatformError::NotFound { .. })),
                    "{error:?}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn a_paid_user_sees_the_month() {
    let world = World::with(|config| config.plan = headwater_platform::Plan::Paid).await;
    let id = world.deploy(&Component::named("it")).await;
    world.barrier(&id).await;
    let days = 24 * 60 * MINUTE_MS;
    // From 14 November to the 30th, and into December.
    world.clock.advance(16 * days);
    world.barrier(&id).await;
    let credits = async || match world.platform.me(&world.caller).await.unwrap().plan {
        PlanView::Paid { usage, .. } => usage.invocations,
        free @ PlanView::Free { .. } => panic!("{free:?}"),
    };
    assert_eq!(credits().await, 2);
    world.clock.advance(days);
    assert_eq!(credits().await, 0);
}

fn is_not_found<T>(result: Result<T, PlatformError>) -> bool {
    matches!(result, Err(PlatformError::NotFound { .. }))
}

fn field_of<T: std::fmt::Debug>(result: Result<T, PlatformError>) -> String {
    match result {
        Err(PlatformError::Invalid(invalid)) => invalid.field,
        other => panic!("{other:?}"),
    }
}

fn new_workspace(orgname: &str) -> NewWorkspace {
    NewWorkspace {
        orgname: orgname.to_owned(),
        name: None,
        email: None,
    }
}

fn account(workspace: &WorkspaceId) -> NewAccount {
    NewAccount {
        app: "github".to_owned(),
        name: None,
        fields: object(json!({ "api_key": "k" })),
        workspace_id: Some(workspace.clone()),
    }
}

async fn lists(platform: &Platform, caller: &Caller, workspace: &WorkspaceId) -> bool {
    let page = PageRequest::first(10);
    let sources = platform
        .sources(caller, Some(workspace.clone()), Wanted::default(), &page)
        .await;
    let page = PageRequest::first(10);
    let accounts = platform
        .accounts(caller, Some(workspace.clone()), &page)
        .await;
    match (sources, accounts) {
        (Ok(sources), Ok(accounts)) => sources.total_count == 1 && accounts.total_count == 1,
        _ => false,
    }
}

async fn listed_key(world: &World) -> ApiKey {
    let page = PageRequest::first(10);
    let keys = world
        .platform
        .keys(&world.caller, None, &page)
        .await
        .unwrap();
    keys.items[0].clone()
}
