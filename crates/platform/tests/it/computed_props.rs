//! Async options and `additionalProps`: computed for whoever configures, and again when a source is deployed.

use headwater_model::id::ComponentId;
use headwater_platform::{
    CallTarget, ComponentRef, NewAccount, OptionsQuery, PlatformError, PropOption, UpdateSource,
};
use serde_json::{Value, json};

use crate::{
    component::Component,
    engine::{Call, returned_with, thrown},
    world::{World, configured, deployment, object},
};

fn board() -> Component {
    Component::named("board")
        .prop(json!({ "name": "board", "type": "string", "reloadProps": true }))
        .prop(json!({ "name": "count", "type": "integer", "default": 3 }))
        .additional_props()
}

async fn saved(world: &World, component: &Component) -> ComponentId {
    let input = headwater_platform::ComponentInput {
        component_code: Some(component.code()),
        ..Default::default()
    };
    let saved = world
        .platform
        .save_component(&world.caller, &input, None)
        .await;
    saved.unwrap().component.id
}

fn target(id: &ComponentId, props: Value) -> CallTarget {
    CallTarget {
        component: ComponentRef::Id(id.clone()),
        workspace_id: None,
        source_id: None,
        configured_props: object(props),
    }
}

fn of(prop: &str) -> OptionsQuery {
    OptionsQuery {
        prop: prop.to_owned(),
        ..OptionsQuery::default()
    }
}

/// A board has a column as secret, and a note; another board has none.
fn columns(world: &World) {
    world.engine.on(
        "board",
        Call::AdditionalProps,
        |run| match run.props["board"].as_str() {
            Some("big") => returned_with(json!({
                "column": { "name": "column", "type": "string", "secret": true },
                "note": { "name": "note", "type": "string", "optional": true },
            })),
            _ => returned_with(json!({})),
        },
    );
}

#[tokio::test]
async fn options_see_what_is_configured_so_far_and_defaults() {
    let world = World::new().await;
    let id = saved(&world, &board()).await;
    world.engine.on("board", Call::Options, |run| {
        returned_with(json!({ "options": [run.props], "context": { "nextPageToken": "t" } }))
    });
    let page = world
        .platform
        .prop_options(&world.caller, &target(&id, json!({})), of("board"))
        .await
        .unwrap();
    assert_eq!(page.options[0].value, json!({ "count": 3 }));
    assert_eq!(page.context, Some(json!({ "nextPageToken": "t" })));
    assert_eq!(world.engine.calls(), ["board options", "evict"]);
}

#[tokio::test]
async fn an_unknown_prop_a_wrong_value_and_a_failing_method_are_different_errors() {
    let world = World::new().await;
    let plain = Component::named("plain").prop(json!({ "name": "n", "type": "integer" }));
    let id = saved(&world, &plain).await;
    let ask = |props: Value, prop: &str| {
        let (target, query) = (target(&id, props), of(prop));
        let (platform, caller) = (&world.platform, &world.caller);
        async move {
            platform
                .prop_options(caller, &target, query)
                .await
                .unwrap_err()
        }
    };
    assert!(
        matches!(ask(json!({}), "typo").await, PlatformError::Invalid(invalid) if invalid.field == "prop")
    );
    assert!(
        matches!(ask(json!({ "n": "x" }), "n").await, PlatformError::InvalidProps(invalid) if invalid.field == "configured_props.n")
    );
    world
        .engine
        .on("plain", Call::Options, |_| thrown("no such board"));
    assert!(
        matches!(ask(json!({}), "n").await, PlatformError::Component { error, .. } if error.message == "no such board")
    );
}

#[tokio::test]
async fn another_users_component_has_no_options() {
    let world = World::new().await;
    let id = saved(&world, &board()).await;
    let asked = world
        .platform
        .prop_options(
            &world.stranger().await,
            &target(&id, json!({})),
            of("board"),
        )
        .await;
    assert!(matches!(asked, Err(PlatformError::NotFound { .. })));
}

#[tokio::test]
async fn additional_props_follow_the_values_and_replace_former_ones() {
    let world = World::new().await;
    columns(&world);
    let id = saved(&world, &board()).await;
    let names = |props: Value| {
        let target = target(&id, props);
        let (platform, caller) = (&world.platform, &world.caller);
        async move {
            let props = platform.component_props(caller, &target).await.unwrap();
            props.into_iter().map(|prop| prop.name).collect::<Vec<_>>()
        }
    };
    assert_eq!(
        names(json!({ "board": "big" })).await,
        ["board", "count", "column", "note"]
    );
    assert_eq!(names(json!({ "board": "small" })).await, ["board", "count"]);
}

#[tokio::test]
async fn a_source_is_checked_against_the_props_that_its_values_add() {
    let world = World::new().await;
    columns(&world);
    for (props, field) in [
        (json!({ "board": "big" }), "configured_props.column"),
        (
            json!({ "board": "big", "column": 7 }),
            "configured_props.column",
        ),
        (
            json!({ "board": "small", "column": "c" }),
            "configured_props.column",
        ),
    ] {
        match world.try_deploy(&board(), props).await {
            Err(PlatformError::InvalidProps(invalid)) => assert_eq!(invalid.field, field),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_added_secret_is_sealed_and_opened_for_the_code() {
    let world = World::new().await;
    columns(&world);
    let props = json!({ "board": "big", "column": "hunter2" });
    let deployed = world.try_deploy(&board(), props).await.unwrap();
    assert_eq!(deployed.configured_props["column"], Value::Null);
    let stored = world.store.source(&deployed.source.id).await.unwrap();
    let stored = stored.unwrap().spec.configured_props;
    assert!(!Value::Object(stored).to_string().contains("hunter2"));
    let (run, report) = world.manual(&deployed.source.id, json!({})).await;
    assert_eq!(run.props["column"], json!("hunter2"));
    run.returns();
    crate::world::done(report).await.unwrap();
}

#[tokio::test]
async fn values_of_props_that_an_update_takes_away_are_dropped() {
    let world = World::new().await;
    columns(&world);
    let props = json!({ "board": "big", "column": "c", "note": "n" });
    let id = world.try_deploy(&board(), props).await.unwrap().source.id;
    let small = configured(json!({ "board": "small" }));
    let updated = world.update(&id, small).await.unwrap();
    assert_eq!(
        Value::Object(updated.configured_props),
        json!({ "board": "small" })
    );
}

#[tokio::test]
async fn a_deployment_fails_with_what_additional_props_threw() {
    let world = World::new().await;
    world.engine.on("board", Call::AdditionalProps, |_| {
        thrown("401 from the API")
    });
    let refused = world.try_deploy(&board(), json!({ "board": "big" })).await;
    assert!(
        matches!(refused, Err(PlatformError::Component { error, .. }) if error.message == "401 from the API")
    );
}

#[tokio::test]
async fn a_list_of_plain_values_has_labels_too() {
    let world = World::new().await;
    let id = saved(&world, &board()).await;
    world
        .engine
        .on("board", Call::Options, |_| returned_with(json!(["a", 2])));
    let page = world
        .platform
        .prop_options(&world.caller, &target(&id, json!({})), of("board"))
        .await
        .unwrap();
    let option = |label: &str, value: Value| PropOption {
        label: label.to_owned(),
        value,
    };
    assert_eq!(
        page.options,
        [option("a", json!("a")), option("2", json!(2))]
    );
}

#[tokio::test]
async fn additional_props_never_see_an_account_that_the_caller_may_not_use() {
    let world = World::new().await;
    let account = NewAccount {
        app: "github".to_owned(),
        name: None,
        fields: object(json!({ "api_key": "s3cret" })),
        workspace_id: None,
    };
    let account = world.platform.create_account(&world.caller, account).await;
    let id = account.unwrap().account.id;
    let spy = Component::named("spy")
        .prop(json!({ "name": "github", "type": "app", "app": "github" }))
        .additional_props();
    let props = json!({ "github": { "authProvisionId": id } });
    let deployed = world
        .platform
        .deploy_source(&world.stranger().await, deployment(&spy, props.clone()))
        .await;
    assert!(
        matches!(deployed, Err(PlatformError::InvalidProps(invalid)) if invalid.field == "configured_props.github")
    );
    assert_eq!(world.engine.calls(), [""; 0], "nothing was called");
    world.try_deploy(&spy, props).await.unwrap();
    assert_eq!(world.engine.calls()[0], "spy additionalprops");
}

#[tokio::test]
async fn a_source_whose_additional_props_fail_can_still_be_renamed_and_paused() {
    let world = World::new().await;
    columns(&world);
    let props = json!({ "board": "big", "column": "c" });
    let id = world.try_deploy(&board(), props).await.unwrap().source.id;
    world.engine.on("board", Call::AdditionalProps, |_| {
        thrown("401 from the API")
    });
    world.set_active(&id, false).await;
    let named = UpdateSource {
        name: Some("other".to_owned()),
        ..UpdateSource::default()
    };
    assert_eq!(
        world.update(&id, named).await.unwrap().source.spec.name,
        "other"
    );
}

fn table() -> Component {
    Component::named("table")
        .action()
        .prop(json!({ "name": "table", "type": "string" }))
        .additional_props()
}

#[tokio::test]
async fn an_action_runs_with_the_values_given_whatever_computing_its_props_does() {
    for computed in [
        thrown("the service is down"),
        returned_with(json!({})),
        returned_with(json!({ "row": { "name": "row", "type": "string" } })),
    ] {
        let world = World::new().await;
        world
            .engine
            .on("table", Call::AdditionalProps, move |_| computed.clone());
        world.engine.on("table", Call::Run, |run| {
            returned_with(Value::Object(run.props.clone()))
        });
        let id = saved(&world, &table()).await;
        let given = json!({ "table": "t", "row": "r" });
        let target = target(&id, given.clone());
        let report = world
            .platform
            .run_action(&world.caller, &target)
            .await
            .unwrap();
        assert_eq!(report.outcome, returned_with(given));
        let calls = world.engine.calls();
        let computed = calls.iter().filter(|call| call.contains("additional"));
        assert_eq!(computed.count(), 1, "{calls:?}");
    }
}

#[tokio::test]
async fn an_action_is_still_refused_values_that_its_computed_props_do_not_take() {
    let world = World::new().await;
    world.engine.on("table", Call::AdditionalProps, |_| {
        returned_with(json!({ "row": { "name": "row", "type": "integer" } }))
    });
    let id = saved(&world, &table()).await;
    for given in [json!({ "table": "t", "row": "r" }), json!({ "row": 1 })] {
        let refused = world
            .platform
            .run_action(&world.caller, &target(&id, given))
            .await;
        assert!(
            matches!(refused, Err(PlatformError::InvalidProps(_))),
            "{refused:?}"
        );
    }
}
