//! Accounts of an app with OAuth 2 under a clock that the test holds: when tokens are renewed, and who waits for that.

use std::{sync::Arc, time::Duration};

use crate::{
    component::Component,
    engine::thrown,
    receiver::{Receiver, answered},
    world::{World, done, memory, object, with_faults},
};
use headwater_engine::StoreOperation;
use headwater_model::{
    app::{AppCatalog, AppDefinition},
    id::AccountId,
    outcome::Outcome,
    page::{PageRequest, Position},
};
use headwater_platform::{
    AccountsFilter, CallTarget, Callback, Caller, ComponentInput, ComponentRef, ConnectStatus,
    HealthStatus, LinkOpened, NewConnect, Remote, UpdateAccount,
};
use headwater_store::{Health, Store};
use serde_json::{Value, json};

/// A node and the token endpoint of the app that it knows.
async fn acme() -> (World, Receiver) {
    acme_with(|_| Value::Null).await
}

/// The same with a probe, of the endpoint's URL.
async fn acme_with(probe: impl FnOnce(&str) -> Value) -> (World, Receiver) {
    acme_on(memory(), probe).await
}

/// The same on that store.
async fn acme_on(store: Arc<dyn Store>, probe: impl FnOnce(&str) -> Value) -> (World, Receiver) {
    let endpoint = Receiver::new().await;
    let probe = probe(&endpoint.url());
    let app = definition(&endpoint, Value::Null, probe);
    let world = World::start(store, |config| config.apps = AppCatalog::new([app])).await;
    (world, endpoint)
}

fn definition(endpoint: &Receiver, refresh_url: Value, probe: Value) -> AppDefinition {
    let oauth2 = json!({
        "authorize_url": "https://acme.example/authorize", "token_url": endpoint.url(),
        "refresh_url": refresh_url, "client_id": "node", "client_secret": "s3cret",
    });
    let app = json!({"name": "Acme", "auth": "oauth2", "oauth2": oauth2, "probe": probe});
    let app: AppDefinition = serde_json::from_value(app).unwrap();
    app.checked("acme").unwrap()
}

fn tokens(number: u32, expires_in: Value) -> axum::response::Response {
    let tokens = json!({
        "access_token": format!("access-{number}"), "refresh_token": format!("refresh-{number}"),
        "expires_in": expires_in,
    });
    answered(200, tokens.to_string())
}

/// An account with tokens number 0 that are good for so many seconds.
async fn connected(world: &World, endpoint: &Receiver, expires_in: Value) -> AccountId {
    connected_and(world, endpoint, expires_in, async {}).await
}

/// The same, when the app is asked more than for tokens.
async fn connected_and(
    world: &World,
    endpoint: &Receiver,
    expires_in: Value,
    then: impl Future<Output = ()>,
) -> AccountId {
    let new = NewConnect {
        app: "acme".to_owned(),
        name: None,
        fields: serde_json::Map::new(),
        workspace_id: None,
    };
    let link = world
        .platform
        .begin_connect(&world.caller, new)
        .await
        .unwrap();
    let token = link.url.split_once("token=").unwrap().1;
    let LinkOpened::Redirect {
        url,
        cookie,
        browser,
    } = world
        .platform
        .submit_form("acme", token, serde_json::Map::new(), &Remote::default())
        .await
        .unwrap()
    else {
        panic!("there is nothing to enter");
    };
    let state = url.split_once("&state=").unwrap().1;
    let state = state.split('&').next().unwrap().to_owned();
    let callback = Callback {
        parameters: vec![
            ("state".to_owned(), state),
            ("code".to_owned(), "c".to_owned()),
        ],
        cookies: vec![(cookie, browser)],
        ..Callback::default()
    };
    let coming_back = world.platform.handle_callback("acme", callback);
    let giving = async {
        endpoint.next().await.answer(tokens(0, expires_in));
        then.await;
    };
    let (connected, ()) = tokio::join!(coming_back, giving);
    connected.unwrap();
    let view = world
        .platform
        .connect_status(&world.caller, &link.id, Duration::ZERO);
    match view.await.unwrap().status {
        ConnectStatus::Connected(id) => id,
        other => panic!("{other:?}"),
    }
}

fn props(account: &AccountId) -> Value {
    json!({"acme": {"authProvisionId": account}})
}

fn caller(name: &str) -> Component {
    Component::named(name).prop(json!({"name": "acme", "type": "app", "app": "acme"}))
}

fn unauthorized() -> Outcome {
    let Outcome::Threw { mut error } = thrown("Request failed with status code 401") else {
        panic!("it throws");
    };
    error.status = Some(401);
    Outcome::Threw { error }
}

#[tokio::test]
async fn a_token_is_renewed_before_its_end_and_not_earlier() {
    for (expires_in, renewed_at) in [
        (json!(3600), 3300),
        (json!("86400"), 86_100),
        (json!(60), 45),
    ] {
        let (world, endpoint) = acme().await;
        let account = connected(&world, &endpoint, expires_in.clone()).await;
        let source = world.try_deploy(&caller("c"), props(&account)).await;
        let id = source.unwrap().source.id;
        world.clock.advance((renewed_at - 1) * 1000);
        let (run, report) = world.manual(&id, json!({})).await;
        assert_eq!(run.props["acme"]["$auth"]["oauth_access_token"], "access-0");
        run.returns();
        done(report).await.unwrap();
        assert!(endpoint.nothing_arrived().await);

        world.clock.advance(1000);
        let running = world.running(&id, json!({}));
        let post = endpoint.next().await;
        assert_eq!(
            post.text,
            "grant_type=refresh_token&refresh_token=refresh-0"
        );
        assert_eq!(post.header("authorization"), "Basic bm9kZTpzM2NyZXQ=");
        post.answer(tokens(1, expires_in));
        let run = world.engine.next().await;
        let auth = &run.props["acme"]["$auth"];
        assert_eq!(auth["oauth_access_token"], "access-1");
        assert_eq!(auth["oauth_refresh_token"], "refresh-1");
        run.returns();
        done(running).await.unwrap();
    }
}

fn fields(fields: Value) -> UpdateAccount {
    UpdateAccount {
        name: None,
        fields: Some(object(fields)),
    }
}

#[tokio::test]
async fn fields_that_change_while_a_token_is_renewed_lose_neither() {
    let (world, endpoint) = acme().await;
    let account = connected(&world, &endpoint, json!(3600)).await;
    let source = world.try_deploy(&caller("c"), props(&account)).await;
    let id = source.unwrap().source.id;
    world.clock.advance(3_600_000);
    let running = world.running(&id, json!({}));
    let post = endpoint.next().await;
    let update = fields(json!({"region": "eu"}));
    let changing = async {
        let changed = world
            .platform
            .update_account(&world.caller, &account, update);
        changed.await.unwrap();
    };
    let renewing = async {
        post.answer(tokens(1, json!(3600)));
        world.engine.next().await.returns();
        done(running).await.unwrap();
    };
    tokio::join!(changing, renewing);
    let (run, report) = world.manual(&id, json!({})).await;
    let auth = &run.props["acme"]["$auth"];
    assert_eq!(auth["oauth_access_token"], "access-1");
    assert_eq!(auth["oauth_refresh_token"], "refresh-1");
    assert_eq!(auth["region"], "eu");
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn a_token_that_stays_keeps_its_end_and_another_has_none() {
    let (world, endpoint) = acme().await;
    let account = connected(&world, &endpoint, json!(3600)).await;
    let change = async |update| {
        let changed = world
            .platform
            .update_account(&world.caller, &account, fields(update));
        changed.await.unwrap().account.credentials
    };
    let before = world.platform.account(&world.caller, &account).await;
    let before = before.unwrap().account.credentials;
    let changed = change(json!({"region": "eu"})).await;
    assert_eq!(changed.expires_at, before.expires_at);
    assert_eq!(changed.renew_at, before.renew_at);
    assert!(changed.expires_at.is_some() && changed.renew_at.is_some());
    let without = change(json!({"oauth_refresh_token": null})).await;
    assert_eq!(
        (without.expires_at, without.renew_at),
        (before.expires_at, None)
    );
    let again = change(json!({"oauth_refresh_token": "given later"})).await;
    assert_eq!(again.renew_at, before.renew_at);
    let another = change(json!({"oauth_access_token": "another"})).await;
    assert_eq!(another.expires_at, None);
}

#[tokio::test]
async fn a_token_is_renewed_where_the_app_says() {
    let endpoint = Receiver::new().await;
    let refresh_url = format!("http://{}/renewed", endpoint.address);
    let app = definition(&endpoint, json!(refresh_url), Value::Null);
    let world = World::start(memory(), |config| config.apps = AppCatalog::new([app])).await;
    let account = connected(&world, &endpoint, json!(3600)).await;
    let source = world.try_deploy(&caller("c"), props(&account)).await;
    let id = source.unwrap().source.id;
    world.clock.advance(3_600_000);
    let running = world.running(&id, json!({}));
    let post = endpoint.next().await;
    assert_eq!(post.path, "/renewed");
    post.answer(tokens(1, json!(3600)));
    let run = world.engine.next().await;
    assert_eq!(run.props["acme"]["$auth"]["oauth_access_token"], "access-1");
    run.returns();
    done(running).await.unwrap();
}

#[tokio::test]
async fn runs_in_flight_go_on_while_a_token_is_renewed() {
    let (world, endpoint) = acme().await;
    let account = connected(&world, &endpoint, json!(3600)).await;
    let component = caller("c").custom_response();
    let source = world.try_deploy(&component, props(&account)).await;
    let id = source.unwrap().source.id;
    let token = world.token(&id).await;
    let first = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    world.clock.advance(3_500_000);
    let second = world.requesting(&token, json!({}));
    let renewing = endpoint.next().await;
    assert!(world.engine.nothing_started());
    run.respond(200, "meanwhile");
    done(first).await.unwrap();
    run.returns();
    renewing.answer(tokens(1, json!(3600)));
    let run = world.engine.next().await;
    assert_eq!(run.props["acme"]["$auth"]["oauth_access_token"], "access-1");
    run.respond(200, "");
    done(second).await.unwrap();
    run.returns();
}

#[tokio::test]
async fn a_run_that_has_ended_is_committed_while_a_token_is_renewed() {
    let (store, sqlite) = with_faults();
    let (world, endpoint) = acme_on(store, |_| Value::Null).await;
    let account = connected(&world, &endpoint, json!(3600)).await;
    let source = world.try_deploy(&caller("c"), props(&account)).await;
    let id = source.unwrap().source.id;
    let (run, report) = world.manual(&id, json!({})).await;
    world.clock.advance(3_500_000);
    sqlite.faults().set_away(true);
    run.returns();
    sqlite.faults().commit_refused().await;
    sqlite.faults().set_away(false);
    let next = world.running(&id, json!({}));
    let renewing = endpoint.next().await;
    done(report).await.unwrap();
    renewing.answer(tokens(1, json!(3600)));
    world.engine.next().await.returns();
    done(next).await.unwrap();
}

#[tokio::test]
async fn a_token_that_is_good_for_a_while_is_used_if_the_app_does_not_answer() {
    let (world, endpoint) = acme().await;
    let account = connected(&world, &endpoint, json!(3600)).await;
    let source = world.try_deploy(&caller("c"), props(&account)).await;
    let id = source.unwrap().source.id;
    world.clock.advance(3_400_000);
    let running = world.running(&id, json!({}));
    endpoint.next().await.status(503);
    let run = world.engine.next().await;
    assert_eq!(run.props["acme"]["$auth"]["oauth_access_token"], "access-0");
    run.returns();
    done(running).await.unwrap();
    let view = world
        .platform
        .account(&world.caller, &account)
        .await
        .unwrap();
    assert_eq!(view.health.status, HealthStatus::Unknown);
}

#[tokio::test]
async fn a_run_that_meets_a_401_waits_for_another_token_and_meets_it_once_only() {
    let (world, endpoint) = acme().await;
    // The app does not say how long its tokens are good.
    let account = connected(&world, &endpoint, Value::Null).await;
    let source = world.try_deploy(&caller("c"), props(&account)).await;
    let id = source.unwrap().source.id;
    world.clock.advance(61_000);
    let (run, report) = world.manual(&id, json!({})).await;
    run.ends(unauthorized());
    endpoint.next().await.answer(tokens(1, Value::Null));
    let run = world.engine.next().await;
    assert_eq!(run.props["acme"]["$auth"]["oauth_access_token"], "access-1");
    run.ends(unauthorized());
    let report = done(report).await.unwrap();
    assert!(report.outcome.is_unauthorized(), "{report:?}");

    // The next token is new: that it is not taken has another reason, and no third is asked for.
    let (run, report) = world.manual(&id, json!({})).await;
    run.ends(unauthorized());
    assert!(done(report).await.unwrap().outcome.is_unauthorized());
    assert!(endpoint.nothing_arrived().await);
}

#[tokio::test]
async fn what_a_run_logged_before_it_is_made_again_stays() {
    let (world, endpoint) = acme().await;
    let account = connected(&world, &endpoint, Value::Null).await;
    let source = world.try_deploy(&caller("c"), props(&account)).await;
    let id = source.unwrap().source.id;
    world.clock.advance(61_000);
    let (run, report) = world.manual(&id, json!({})).await;
    run.log("first");
    run.ends(unauthorized());
    endpoint.next().await.answer(tokens(1, Value::Null));
    let run = world.engine.next().await;
    run.log("second");
    run.returns();
    done(report).await.unwrap();
    let logs = world.log(&id, Some("$logs")).await;
    let told: Vec<_> = logs.iter().map(|log| log.summary.as_deref()).collect();
    assert_eq!(told, [Some("first"), Some("second")]);
}

#[tokio::test]
async fn a_run_that_wrote_to_a_data_store_is_not_made_again() {
    let (world, endpoint) = acme().await;
    let account = connected(&world, &endpoint, Value::Null).await;
    let keeper = caller("c").prop(json!({"name": "store", "type": "data_store"}));
    let mut values = props(&account);
    values["store"] = json!("counts");
    let source = world.try_deploy(&keeper, values).await;
    let id = source.unwrap().source.id;
    world.clock.advance(61_000);
    let (run, report) = world.manual(&id, json!({})).await;
    let write = StoreOperation::Set {
        key: "count".to_owned(),
        value: serde_json::value::RawValue::from_string("1".to_owned()).unwrap(),
        ttl_seconds: None,
    };
    run.asks("counts", write).await.unwrap();
    run.ends(unauthorized());
    assert!(done(report).await.unwrap().outcome.is_unauthorized());
    endpoint.next().await.answer(tokens(1, Value::Null));
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.props["acme"]["$auth"]["oauth_access_token"], "access-1");
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn a_probe_that_a_new_token_does_not_satisfy_costs_no_renewal_per_run() {
    let (world, endpoint) = acme_with(|url| json!({ "url": url })).await;
    let probed = async { endpoint.next().await.status(200) };
    let account = connected_and(&world, &endpoint, Value::Null, probed).await;
    let source = world.try_deploy(&caller("c"), props(&account)).await;
    let id = source.unwrap().source.id;
    let (run, report) = world.manual(&id, json!({})).await;
    run.ends(unauthorized());
    endpoint.next().await.status(401);
    endpoint.next().await.answer(tokens(1, Value::Null));
    endpoint.next().await.status(401);
    world.engine.next().await.ends(unauthorized());
    assert!(done(report).await.unwrap().outcome.is_unauthorized());
    let view = world
        .platform
        .account(&world.caller, &account)
        .await
        .unwrap();
    assert_eq!(view.health.status, HealthStatus::Unknown);

    // The probe is asked again, and that the token is new is known.
    let (run, report) = world.manual(&id, json!({})).await;
    run.ends(unauthorized());
    endpoint.next().await.status(401);
    assert!(done(report).await.unwrap().outcome.is_unauthorized());
    assert!(endpoint.nothing_arrived().await);
}

#[tokio::test]
async fn an_action_that_meets_a_401_is_not_made_twice() {
    let (world, endpoint) = acme().await;
    let account = connected(&world, &endpoint, Value::Null).await;
    world.clock.advance(61_000);
    let input = ComponentInput {
        component_code: Some(caller("act").action().code()),
        ..ComponentInput::default()
    };
    let saved = world
        .platform
        .save_component(&world.caller, &input, None)
        .await;
    let target = CallTarget {
        component: ComponentRef::Id(saved.unwrap().component.id),
        workspace_id: None,
        source_id: None,
        configured_props: props(&account).as_object().unwrap().clone(),
    };
    let (app, by) = (world.platform.clone(), world.caller.clone());
    let running = tokio::spawn(async move { app.run_action(&by, &target).await });
    world.engine.next().await.ends(unauthorized());
    assert!(done(running).await.unwrap().outcome.is_unauthorized());
    endpoint.next().await.answer(tokens(1, Value::Null));
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn the_next_step_without_a_client_is_the_administrators_own_or_to_ask_them() {
    let oauth2 = json!({"authorize_url": "https://acme.example/authorize", "token_url": "https://acme.example/token"});
    let app = json!({"name": "Acme", "auth": "oauth2", "oauth2": oauth2});
    let app: AppDefinition = serde_json::from_value(app).unwrap();
    let app = app.checked("acme").unwrap();
    let world = World::start(memory(), |config| config.apps = AppCatalog::new([app])).await;
    let new = NewConnect {
        app: "acme".to_owned(),
        name: None,
        fields: serde_json::Map::new(),
        workspace_id: None,
    };
    let told = async |caller: &Caller| {
        let refused = world.platform.begin_connect(caller, new.clone()).await;
        refused.unwrap_err().to_string()
    };
    let to_administrator = told(&world.caller).await;
    let to_user = told(&world.user("ada").await).await;
    assert!(
        to_administrator.contains("/srv/headwater/apps/acme.toml"),
        "{to_administrator}"
    );
    assert!(to_user.contains("ask its administrator"), "{to_user}");
    assert!(!to_user.contains("/srv/headwater"), "{to_user}");
    for told in [to_administrator, to_user] {
        assert!(
            told.contains("https://node.example/connect/acme/callback"),
            "{told}"
        );
    }
}

/// Whatever page they would be on, and whether the list is filtered or not.
#[tokio::test]
async fn accounts_that_are_refused_come_first() {
    let (world, endpoint) = acme().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(connected(&world, &endpoint, json!(3600)).await);
    }
    // Of one moment: only their order is known.
    ids.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
    let refused = Health {
        status: HealthStatus::Refused,
        reason: None,
        checked_at: None,
    };
    world.store.note_health(&ids[2], 1, refused).await.unwrap();
    let of_app = AccountsFilter {
        app: Some("acme".to_owned()),
        health: None,
    };
    for filter in [AccountsFilter::default(), of_app] {
        let mut page = PageRequest::first(2);
        let mut found = Vec::new();
        while found.len() < ids.len() {
            let read = world
                .platform
                .accounts_by_urgency(&world.caller, None, &filter, &page);
            let read = read.await.unwrap();
            assert!(read.is_whole);
            assert_eq!(read.page.total_count, 3);
            let last = read
                .page
                .items
                .last()
                .expect("there are more")
                .place
                .clone();
            found.extend(read.page.items.into_iter().map(|one| one.item.account.id));
            page.position = Position::After(last);
        }
        assert_eq!(found, [2, 0, 1].map(|at| ids[at].clone()), "{filter:?}");
    }
}
