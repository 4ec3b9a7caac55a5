//! Users of one node: who may make them, their keys, and what sharing a workspace means.

use headwater_app::{
    App, AppError, Caller, EventsQuery, NewAccount, NewWorkspace, PlanView, default_channels,
};
use headwater_model::{id::WorkspaceId, page::PageRequest};
use headwater_store::ApiKey;
use serde_json::json;

use crate::{
    component::Component,
    world::{T0, World, deployment, object},
};

const MINUTE_MS: u64 = 60_000;

#[tokio::test]
async fn only_the_administrator_manages_users() {
    let world = World::new().await;
    let (app, bob) = (&world.app, world.user("bob").await);
    let page = PageRequest::first(10);
    let made = app
        .create_user(&bob, "eve".to_owned(), "eve@example.com".to_owned())
        .await;
    assert!(matches!(made, Err(AppError::AdminOnly)));
    let listed = app.users(&bob, &page).await;
    assert!(matches!(listed, Err(AppError::AdminOnly)));
    let deleted = app.delete_user(&bob, bob.user_id()).await;
    assert!(matches!(deleted, Err(AppError::AdminOnly)));
    let all = app.users(&world.caller, &page).await.unwrap().items;
    let names: Vec<_> = all.iter().map(|user| user.username.as_str()).collect();
    assert_eq!(names, ["me", "bob"]);
    let deleted = app.delete_user(&world.caller, world.caller.user_id()).await;
    assert!(matches!(deleted, Err(AppError::Conflict(_))));
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
            .app
            .create_user(&world.caller, username.to_owned(), email.to_owned())
            .await;
        assert_eq!(field_of(made), field, "{username} {email}");
    }
    for (orgname, field) in [("", "orgname"), ("A", "orgname"), ("a b", "orgname")] {
        let new = new_workspace(orgname);
        let made = world.app.create_workspace(&world.caller, new).await;
        assert_eq!(field_of(made), field, "{orgname}");
    }
}

#[tokio::test]
async fn a_deleted_users_key_opens_nothing() {
    let world = World::new().await;
    let made = world
        .app
        .create_user(
            &world.caller,
            "bob".to_owned(),
            "bob@example.com".to_owned(),
        )
        .await
        .unwrap();
    world.app.authenticate(&made.api_key).await.unwrap();
    world
        .app
        .delete_user(&world.caller, &made.user.id)
        .await
        .unwrap();
    let found = world.app.authenticate(&made.api_key).await;
    assert!(matches!(found, Err(AppError::Unauthenticated)));
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_from_then_on() {
    let world = World::new().await;
    let (app, me) = (&world.app, &world.caller);
    let made = app.create_key(me, "laptop", None).await.unwrap();
    assert!(made.secret.starts_with("hw_"), "{}", made.secret);
    assert!(!made.key.hash.contains(&made.secret));
    let with_it = app.authenticate(&made.secret).await.unwrap();
    assert_eq!(with_it.user_id(), me.user_id());
    app.revoke_key(me, &made.key.id).await.unwrap();
    let found = app.authenticate(&made.secret).await;
    assert!(matches!(found, Err(AppError::Unauthenticated)));
    let last = app.revoke_key(me, &me.identity.key.id).await;
    assert!(matches!(last, Err(AppError::Conflict(_))));
}

#[tokio::test]
async fn keys_are_their_users_and_the_administrators_business() {
    let world = World::new().await;
    let (app, bob) = (&world.app, world.user("bob").await);
    let (mine, bobs) = (
        world.caller.identity.key.id.clone(),
        bob.identity.key.id.clone(),
    );
    assert!(is_not_found(app.revoke_key(&bob, &mine).await));
    let me = Some(world.caller.user_id().clone());
    let made = app.create_key(&bob, "k", me.clone()).await;
    assert!(matches!(made, Err(AppError::AdminOnly)));
    let listed = app.keys(&bob, me, &PageRequest::first(10)).await;
    assert!(matches!(listed, Err(AppError::AdminOnly)));
    let for_bob = Some(bob.user_id().clone());
    let made = app
        .create_key(&world.caller, "new laptop", for_bob)
        .await
        .unwrap();
    let with_it = app.authenticate(&made.secret).await.unwrap();
    assert_eq!(with_it.user_id(), bob.user_id());
    app.revoke_key(&world.caller, &bobs).await.unwrap();
    assert_eq!(field_of(app.create_key(&bob, " ", None).await), "name");
}

#[tokio::test]
async fn the_use_of_a_key_is_noted_at_most_once_a_minute() {
    let world = World::new().await;
    let used_at = async || listed_key(&world).await.last_used_at;
    assert_eq!(used_at().await, Some(T0 / 1000));
    world.clock.advance(MINUTE_MS - 1);
    world.app.authenticate("key").await.unwrap();
    assert_eq!(used_at().await, Some(T0 / 1000));
    world.clock.advance(1);
    world.app.authenticate("key").await.unwrap();
    assert_eq!(used_at().await, Some((T0 + MINUTE_MS) / 1000));
}

#[tokio::test]
async fn a_workspace_is_shared_by_its_members_and_by_nobody_else() {
    let world = World::new().await;
    let (app, bob) = (&world.app, world.user("bob").await);
    let workspace = app
        .create_workspace(&world.caller, new_workspace("team"))
        .await
        .unwrap();
    let (me, workspace) = (world.again(&world.caller).await, workspace.workspace.id);
    let mut request = deployment(&Component::named("shared"), json!({}));
    request.workspace_id = Some(workspace.clone());
    let id = app.deploy_source(&me, request).await.unwrap().source.id;
    let account = app.create_account(&me, account(&workspace)).await.unwrap();
    let query = EventsQuery {
        channels: default_channels(None),
        page: PageRequest::first(10),
    };
    let sees = async |caller: &Caller| {
        let seen = [
            app.source(caller, &id).await.is_ok(),
            app.source_events(caller, &id, &query).await.is_ok(),
            lists(app, caller, &workspace).await,
            app.workspace(caller, &workspace).await.is_ok(),
        ];
        assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
        seen[0]
    };
    assert!(!sees(&bob).await);
    app.add_member(&me, &workspace, "bob").await.unwrap();
    let bob = world.again(&bob).await;
    assert!(sees(&bob).await);
    app.run_source(&bob, &id, Some(json!({ "$barrier": true })))
        .await
        .unwrap();
    // Who made it or paid for it does not matter: the workspace counts it.
    let view = app.workspace(&bob, &workspace).await.unwrap();
    assert_eq!(view.usage.invocations, 1);
    app.remove_member(&me, &workspace, bob.user_id())
        .await
        .unwrap();
    let bob = world.again(&bob).await;
    assert!(!sees(&bob).await);
    assert!(is_not_found(
        app.delete_account(&bob, &account.account.id).await
    ));
    assert!(sees(&me).await);
}

#[tokio::test]
async fn who_leaves_a_workspace_leaves_what_it_made_there() {
    let world = World::new().await;
    let (app, bob) = (&world.app, world.user("bob").await);
    let view = app
        .create_workspace(&bob, new_workspace("team"))
        .await
        .unwrap();
    let workspace = view.workspace.id;
    let bob = world.again(&bob).await;
    let mut request = deployment(&Component::named("shared"), json!({}));
    request.workspace_id = Some(workspace.clone());
    let id = app.deploy_source(&bob, request).await.unwrap().source.id;
    let alone = app.remove_member(&bob, &workspace, bob.user_id()).await;
    assert!(matches!(alone, Err(AppError::Conflict(_))));
    app.add_member(&bob, &workspace, world.caller.user_id().as_str())
        .await
        .unwrap();
    app.remove_member(&bob, &workspace, bob.user_id())
        .await
        .unwrap();
    let (me, bob) = (world.again(&world.caller).await, world.again(&bob).await);
    assert!(is_not_found(app.source(&bob, &id).await));
    let before = world.usage(&me).await.invocations;
    app.run_source(&me, &id, Some(json!({ "$barrier": true })))
        .await
        .unwrap();
    assert_eq!(world.usage(&me).await.invocations, before + 1);
    app.delete_user(&world.caller, bob.user_id()).await.unwrap();
}

#[tokio::test]
async fn a_workspace_that_is_not_there_is_not_found_and_one_of_others_forbidden() {
    let world = World::new().await;
    let (app, bob) = (&world.app, world.user("bob").await);
    let mine = world.caller.identity.workspaces[0].id.clone();
    let none = app.environment().id(WorkspaceId::new);
    let component = deployment(&Component::named("it"), json!({}));
    for (id, is_there) in [(mine, true), (none, false)] {
        let mut request = component.clone();
        request.workspace_id = Some(id.clone());
        for error in [
            app.workspace(&bob, &id).await.err(),
            app.members(&bob, &id, &PageRequest::first(10)).await.err(),
            app.add_member(&bob, &id, "bob").await.err(),
            app.workspace_sources(&bob, id.clone(), &PageRequest::first(10))
                .await
                .err(),
            app.accounts(&bob, Some(id.clone()), &PageRequest::first(10))
                .await
                .err(),
            app.create_account(&bob, account(&id)).await.err(),
            app.deploy_source(&bob, request.clone()).await.err(),
        ] {
            match is_there {
                true => assert!(matches!(error, Some(AppError::Forbidden(_))), "{error:?}"),
                false => assert!(
                    matches!(error, Some(AppError::NotFound { .. })),
                    "{error:?}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn a_paid_user_sees_the_month() {
    let world = World::with(|config| config.plan = headwater_app::Plan::Paid).await;
    let id = world.deploy(&Component::named("it")).await;
    world.barrier(&id).await;
    let days = 24 * 60 * MINUTE_MS;
    // From 14 November to the 30th, and into December.
    world.clock.advance(16 * days);
    world.barrier(&id).await;
    let credits = async || match world.app.me(&world.caller).await.unwrap().plan {
        PlanView::Paid { usage, .. } => usage.invocations,
        free @ PlanView::Free { .. } => panic!("{free:?}"),
    };
    assert_eq!(credits().await, 2);
    world.clock.advance(days);
    assert_eq!(credits().await, 0);
}

fn is_not_found<T>(result: Result<T, AppError>) -> bool {
    matches!(result, Err(AppError::NotFound { .. }))
}

fn field_of<T: std::fmt::Debug>(result: Result<T, AppError>) -> String {
    match result {
        Err(AppError::Invalid(invalid)) => invalid.field,
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

async fn lists(app: &App, caller: &Caller, workspace: &WorkspaceId) -> bool {
    let page = PageRequest::first(10);
    let sources = app
        .workspace_sources(caller, workspace.clone(), &page)
        .await;
    let page = PageRequest::first(10);
    let accounts = app.accounts(caller, Some(workspace.clone()), &page).await;
    match (sources, accounts) {
        (Ok(sources), Ok(accounts)) => sources.total_count == 1 && accounts.total_count == 1,
        _ => false,
    }
}

async fn listed_key(world: &World) -> ApiKey {
    let page = PageRequest::first(10);
    let keys = world.app.keys(&world.caller, None, &page).await.unwrap();
    keys.items[0].clone()
}
