//! Configured values: checked, merged over updates, secrets sealed, accounts opened for the code.

use headwater_model::id::AccountId;
use headwater_platform::{NewAccount, PlatformError, SourceView, Wanted};
use serde_json::{Value, json};

use crate::{
    component::Component,
    world::{World, configured, done, object, replaced},
};

fn greeter() -> Component {
    Component::named("greeter")
        .prop(json!({ "name": "name", "type": "string" }))
        .prop(json!({ "name": "count", "type": "integer", "default": 3 }))
        .prop(json!({ "name": "token", "type": "string", "secret": true, "optional": true }))
}

fn with_account() -> Component {
    Component::named("caller").prop(json!({ "name": "github", "type": "app", "app": "github" }))
}

async fn account(world: &World, app: &str) -> AccountId {
    let new = NewAccount {
        app: app.to_owned(),
        name: None,
        fields: object(json!({ "api_key": "s3cret" })),
        workspace_id: None,
    };
    world
        .platform
        .create_account(&world.caller, new)
        .await
        .unwrap()
        .account
        .id
}

fn provision(id: &AccountId) -> Value {
    json!({ "github": { "authProvisionId": id } })
}

#[track_caller]
fn assert_invalid(result: Result<SourceView, PlatformError>, field: &str) {
    match result {
        Err(PlatformError::InvalidProps(invalid)) => assert_eq!(invalid.field, field),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn values_that_do_not_fit_name_their_field() {
    let world = World::new().await;
    for (props, field) in [
        (json!({}), "configured_props.name"),
        (json!({ "name": 7 }), "configured_props.name"),
        (
            json!({ "name": "a", "count": "many" }),
            "configured_props.count",
        ),
        (json!({ "name": "a", "typo": 1 }), "configured_props.typo"),
    ] {
        assert_invalid(world.try_deploy(&greeter(), props).await, field);
    }
    let timer = Component::named("clock").every(60);
    let wrong = json!({ "timer": { "cron": "nonsense" } });
    assert_invalid(
        world.try_deploy(&timer, wrong).await,
        "configured_props.timer.cron",
    );
}

#[tokio::test]
async fn a_source_with_wrong_values_is_not_made_or_changed() {
    let world = World::new().await;
    assert!(world.try_deploy(&greeter(), json!({})).await.is_err());
    let page = headwater_model::page::PageRequest::first(10);
    let sources = world
        .platform
        .sources(&world.caller, None, Wanted::default(), &page)
        .await
        .unwrap();
    assert_eq!(sources.total_count, 0);

    let source = world
        .try_deploy(&greeter(), json!({ "name": "a" }))
        .await
        .unwrap();
    let id = source.source.id;
    let refused = world
        .update(&id, configured(json!({ "count": true })))
        .await;
    assert_invalid(refused, "configured_props.count");
    world.barrier(&id).await;
}

#[tokio::test]
async fn defaults_are_filled_in_for_the_code() {
    let world = World::new().await;
    let source = world
        .try_deploy(&greeter(), json!({ "name": "a" }))
        .await
        .unwrap();
    let (run, report) = world.manual(&source.source.id, json!({})).await;
    assert_eq!(
        (&run.props["name"], &run.props["count"]),
        (&json!("a"), &json!(3))
    );
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn an_update_merges_values_by_prop_and_null_takes_one_away() {
    let world = World::new().await;
    let given = json!({ "name": "a", "count": 5, "token": "t" });
    let source = world.try_deploy(&greeter(), given).await.unwrap();
    let id = source.source.id;
    let merged = world
        .update(&id, configured(json!({ "name": "b" })))
        .await
        .unwrap();
    assert_eq!(merged.configured_props["name"], json!("b"));
    assert_eq!(merged.configured_props["count"], json!(5));
    let less = world
        .update(&id, configured(json!({ "count": null })))
        .await
        .unwrap();
    assert!(!less.configured_props.contains_key("count"));
    assert_invalid(
        world.update(&id, configured(json!({ "name": null }))).await,
        "configured_props.name",
    );
}

#[tokio::test]
async fn values_of_props_that_new_code_no_longer_has_are_dropped() {
    let world = World::new().await;
    let source = world
        .try_deploy(&greeter(), json!({ "name": "a", "count": 5 }))
        .await
        .unwrap();
    let slim = Component::named("slim").prop(json!({ "name": "name", "type": "string" }));
    let updated = world
        .update(&source.source.id, replaced(&slim))
        .await
        .unwrap();
    assert_eq!(
        Value::Object(updated.configured_props),
        json!({ "name": "a" })
    );
}

#[tokio::test]
async fn secrets_are_sealed_in_the_store_and_null_in_views_and_plain_for_the_code() {
    let world = World::new().await;
    let given = json!({ "name": "a", "token": "hunter2" });
    let source = world.try_deploy(&greeter(), given).await.unwrap();
    assert_eq!(source.configured_props["token"], Value::Null);
    let id = source.source.id;
    let stored = world.store.source(&id).await.unwrap().unwrap();
    let stored = Value::Object(stored.spec.configured_props).to_string();
    assert!(!stored.contains("hunter2"), "{stored}");
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.props["token"], json!("hunter2"));
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn secrets_are_kept_over_updates() {
    let world = World::new().await;
    let given = json!({ "name": "a", "token": "hunter2" });
    let id = world.try_deploy(&greeter(), given).await.unwrap().source.id;
    world
        .update(&id, configured(json!({ "name": "b" })))
        .await
        .unwrap();
    world
        .update(&id, replaced(&greeter().key("other")))
        .await
        .unwrap();
    world.set_active(&id, false).await;
    world.set_active(&id, true).await;
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.props["token"], json!("hunter2"));
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn a_value_that_looks_sealed_is_no_way_to_open_a_secret() {
    let world = World::new().await;
    let given = json!({ "name": "a", "token": "hunter2" });
    let source = world.try_deploy(&greeter(), given).await.unwrap().source;
    let sealed = source.spec.configured_props["token"].clone();
    let open = Component::named("open").prop(json!({ "name": "token", "type": "any" }));
    // The text of a sealed value may leak; given as a value of another prop it is only a value.
    let stolen = world.try_deploy(&open, json!({ "token": sealed })).await;
    if let Ok(stolen) = stolen {
        let (run, report) = world.manual(&stolen.source.id, json!({})).await;
        assert_ne!(run.props["token"], json!("hunter2"));
        run.returns();
        done(report).await.unwrap();
    }
}

#[tokio::test]
async fn an_account_reaches_the_code_as_auth_and_is_nowhere_else() {
    let world = World::new().await;
    let account = account(&world, "github").await;
    let source = world
        .try_deploy(&with_account(), provision(&account))
        .await
        .unwrap();
    assert!(
        !Value::Object(source.configured_props)
            .to_string()
            .contains("s3cret")
    );
    let record = world.store.account(&account).await.unwrap().unwrap();
    assert!(!String::from_utf8_lossy(&record.credentials.sealed.0).contains("s3cret"));
    let (run, report) = world.manual(&source.source.id, json!({})).await;
    assert_eq!(run.props["github"]["$auth"]["api_key"], json!("s3cret"));
    run.returns();
    done(report).await.unwrap();
}

#[tokio::test]
async fn an_account_that_is_none_or_unknown_or_of_another_app_is_invalid() {
    let world = World::new().await;
    let unknown = world.platform.environment().id(AccountId::new);
    let other = account(&world, "gitlab").await;
    for props in [
        json!({}),
        json!({ "github": { "authProvisionId": "apn_nonsense" } }),
        provision(&unknown),
        provision(&other),
    ] {
        assert_invalid(
            world.try_deploy(&with_account(), props).await,
            "configured_props.github",
        );
    }
}

#[tokio::test]
async fn another_tenants_account_is_invalid_as_if_it_were_not_there() {
    let world = World::new().await;
    let account = account(&world, "github").await;
    let request = crate::world::deployment(&with_account(), provision(&account));
    let refused = world
        .platform
        .deploy_source(&world.stranger().await, request)
        .await;
    assert_invalid(refused, "configured_props.github");
}

#[tokio::test]
async fn runs_say_so_when_their_account_is_gone_and_another_account_mends_it() {
    let world = World::new().await;
    let former = account(&world, "github").await;
    let source = world
        .try_deploy(&with_account(), provision(&former))
        .await
        .unwrap();
    let id = source.source.id;
    world.barrier(&id).await;
    world
        .platform
        .delete_account(&world.caller, &former)
        .await
        .unwrap();
    let report = done(world.running(&id, json!({}))).await.unwrap();
    let message = report.outcome.error().unwrap().message;
    assert!(
        message.contains("`github`") && message.contains(former.as_str()),
        "{message}"
    );
    assert_eq!(world.errors(&id).await.len(), 1);

    let next = account(&world, "github").await;
    world
        .update(&id, configured(provision(&next)))
        .await
        .unwrap();
    world.barrier(&id).await;
}

#[tokio::test]
async fn what_was_read_may_be_sent_back_without_losing_a_secret() {
    let world = World::new().await;
    let props = json!({ "name": "a", "token": "hunter2" });
    let deployed = world.try_deploy(&greeter(), props).await.unwrap();
    let id = deployed.source.id;
    let read = Value::Object(deployed.configured_props);
    assert_eq!(read["token"], Value::Null);
    world.update(&id, configured(read)).await.unwrap();
    let (run, report) = world.manual(&id, json!({})).await;
    assert_eq!(run.props["token"], json!("hunter2"));
    run.returns();
    done(report).await.unwrap();
}
