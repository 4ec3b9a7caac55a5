//! Actions run alone.

use headwater_model::outcome::Outcome;
use headwater_platform::{CallTarget, ComponentInput, ComponentRef, PlatformError};
use serde_json::{Value, json};

use crate::{
    component::Component,
    engine::{Call, returned_with, thrown},
    world::{World, object},
};

fn adder() -> Component {
    Component::named("adder")
        .action()
        .prop(json!({ "name": "a", "type": "integer" }))
        .prop(json!({ "name": "b", "type": "integer", "default": 2 }))
}

async fn target(world: &World, component: &Component, props: Value) -> CallTarget {
    let input = ComponentInput {
        component_code: Some(component.code()),
        ..ComponentInput::default()
    };
    let saved = world
        .platform
        .save_component(&world.caller, &input, None)
        .await;
    CallTarget {
        component: ComponentRef::Id(saved.unwrap().component.id),
        workspace_id: None,
        source_id: None,
        configured_props: object(props),
    }
}

#[tokio::test]
async fn an_action_tells_what_it_returned_exported_logged_and_summed_up() {
    let world = World::new().await;
    world.engine.on("adder", Call::Run, |run| {
        run.log("adding");
        run.export("first", json!(1));
        run.export("first", json!({ "again": true }));
        run.export("$summary", json!("Added"));
        run.exit("enough");
        returned_with(json!(
            run.props["a"].as_i64().unwrap() + run.props["b"].as_i64().unwrap()
        ))
    });
    let target = target(&world, &adder(), json!({ "a": 40 })).await;
    let report = world
        .platform
        .run_action(&world.caller, &target)
        .await
        .unwrap();
    assert_eq!(report.outcome, returned_with(json!(42)));
    assert_eq!(
        Value::Object(report.exports),
        json!({ "first": { "again": true } })
    );
    assert_eq!(report.summary.as_deref(), Some("Added"));
    assert_eq!(report.exit.as_deref(), Some("enough"));
    assert_eq!(report.logs[0].message, "adding");
    assert_eq!(world.engine.calls(), ["adder run", "evict"]);
}

#[tokio::test]
async fn what_an_action_throws_is_its_outcome() {
    let world = World::new().await;
    world.engine.on("adder", Call::Run, |_| thrown("boom"));
    let target = target(&world, &adder(), json!({ "a": 1 })).await;
    let report = world
        .platform
        .run_action(&world.caller, &target)
        .await
        .unwrap();
    assert!(matches!(report.outcome, Outcome::Threw { error } if error.message == "boom"));
}

#[tokio::test]
async fn an_action_needs_its_props_and_a_source_is_none() {
    let world = World::new().await;
    let unconfigured = target(&world, &adder(), json!({})).await;
    let refused = world
        .platform
        .run_action(&world.caller, &unconfigured)
        .await;
    assert!(
        matches!(refused, Err(PlatformError::InvalidProps(invalid)) if invalid.field == "configured_props.a")
    );
    let source = target(&world, &Component::named("source"), json!({})).await;
    let refused = world.platform.run_action(&world.caller, &source).await;
    assert!(
        matches!(refused, Err(PlatformError::Invalid(invalid)) if invalid.field == "component")
    );
}

#[tokio::test]
async fn two_runs_never_share_a_worker() {
    let world = World::new().await;
    world.engine.hold("adder", Call::Run);
    let target = target(&world, &adder(), json!({ "a": 1 })).await;
    let run = || {
        let (platform, caller, target) =
            (world.platform.clone(), world.caller.clone(), target.clone());
        tokio::spawn(async move { platform.run_action(&caller, &target).await })
    };
    let (first, second) = (run(), run());
    let (one, other) = (world.engine.next().await, world.engine.next().await);
    // The scripted engine would refuse a second owner's run in the first one's worker; ending one leaves the other.
    one.loses_worker(&world.engine);
    other.returns();
    let outcomes = [
        crate::world::done(first).await.unwrap().outcome,
        crate::world::done(second).await.unwrap().outcome,
    ];
    assert!(
        outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Lost { .. }))
    );
    assert!(
        outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Returned { .. }))
    );
}

#[tokio::test]
async fn an_action_counts_for_the_quota_and_is_refused_beyond_it() {
    let world = World::with(|config| config.daily_invocations_quota = Some(1)).await;
    world
        .engine
        .on("adder", Call::Run, |_| returned_with(json!(1)));
    let target = target(&world, &adder(), json!({ "a": 1 })).await;
    world
        .platform
        .run_action(&world.caller, &target)
        .await
        .unwrap();
    assert_eq!(world.invocations_used().await, 1);
    let refused = world.platform.run_action(&world.caller, &target).await;
    assert!(matches!(
        refused,
        Err(PlatformError::QuotaExceeded { quota: 1, .. })
    ));
}
