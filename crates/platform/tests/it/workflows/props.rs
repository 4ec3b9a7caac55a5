//! The props that a file gives to steps, when it is deployed.

use headwater_model::app::{AppCatalog, AppDefinition};
use headwater_platform::DeployedWorkflow;
use serde_json::{Value, json};

use super::Flow;
use crate::world::{World, memory};

/// A node whose catalog has this app.
async fn knows(slug: &str) -> World {
    let app = json!({"name": slug, "auth": "fields", "fields": [{"name": "token"}]});
    let app: AppDefinition = serde_json::from_value(app).unwrap();
    let app = app.checked(slug).unwrap();
    World::start(memory(), |config| config.apps = AppCatalog::new([app])).await
}

/// A workflow of a step whose code declares these props, and whose file gives it those.
fn flow(declared: &Value, has_additional_props: bool, given: &str) -> Flow {
    let code = json!({
        "name": "one", "has_run": true, "hooks": {}, "props": declared,
        "has_additional_props": has_additional_props,
    });
    Flow::of(&[format!(
        "- namespace: one\n  code: '{code}'\n  props: {given}\n"
    )])
}

fn warnings(deployed: &DeployedWorkflow) -> Vec<String> {
    let findings = deployed.findings.iter();
    let warnings = findings.filter(|finding| finding.severity.as_str() == "warning");
    warnings.map(|finding| finding.message.clone()).collect()
}

#[tokio::test]
async fn a_required_prop_or_account_that_is_missing_refuses_the_deployment() {
    let world = knows("slack").await;
    let declared = json!([
        { "name": "slack", "type": "app", "app": "slack" },
        { "name": "room", "type": "string" },
        { "name": "n", "type": "integer", "default": 3 },
        { "name": "more", "type": "string", "optional": true },
    ]);
    for (given, place, told) in [
        (
            "{ room: a }",
            "steps.one.props.slack",
            "headwater accounts connect slack",
        ),
        (
            "{ rom: a, slack: '{{steps.trigger.event.account}}' }",
            "steps.one.props.room",
            "is missing",
        ),
        (
            "{ room: null, slack: '{{steps.trigger.event.account}}' }",
            "steps.one.props.room",
            "is missing",
        ),
        (
            "{ room: a, slack: { authProvisionId: apn_z8h1AD } }",
            "steps.one.props.slack",
            "connect one of `slack`",
        ),
    ] {
        let refused = flow(&declared, false, given).try_deploy(&world).await;
        let error = refused.unwrap_err().to_string();
        assert!(error.starts_with(place), "{given}: {error}");
        assert!(error.contains(told), "{given}: {error}");
    }
    let whole =
        "{ room: '{{steps.trigger.event.room}}', slack: '{{steps.trigger.event.account}}' }";
    let deployed = flow(&declared, false, whole).deploy(&world).await;
    assert_eq!(warnings(&deployed), Vec::<String>::new());
}

/// Pipedream, which knows the app, takes such a step.
#[tokio::test]
async fn an_account_of_an_app_that_the_node_does_not_know_may_be_missing() {
    let world = knows("slack").await;
    let declared = json!([{ "name": "board", "type": "app", "app": "weekdone" }]);
    for (given, told) in [
        (
            "{}",
            "props.board is missing, so the code runs without credentials",
        ),
        (
            "{ board: { authProvisionId: apn_z8h1AD } }",
            "props.board: there is no account `apn_z8h1AD`",
        ),
        (
            "{ board: { authProvisionId: 'to do' } }",
            "props.board: there is no account `to do`",
        ),
    ] {
        let deployed = flow(&declared, false, given).deploy(&world).await;
        let warnings = warnings(&deployed);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with(told), "{warnings:?}");
        let way_on = "`headwater accounts add weekdone --field NAME=VALUE`";
        assert!(warnings[0].contains(way_on), "{warnings:?}");
    }
}

#[tokio::test]
async fn props_that_the_code_does_not_declare_and_values_that_do_not_fit_are_told() {
    let world = World::new().await;
    let declared = json!([
        { "name": "n", "type": "integer", "optional": true },
        { "name": "flag", "type": "boolean", "optional": true },
        { "name": "list", "type": "string[]", "optional": true },
        { "name": "text", "type": "string", "optional": true },
    ]);
    let given = "{ n: abc, skuu: x }";
    let deployed = flow(&declared, false, given).deploy(&world).await;
    let told = warnings(&deployed);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("props.n: expected an integer"),
        "{told:?}"
    );
    assert!(
        told[1].starts_with("props.skuu: the code has no such prop; it declares: n, flag"),
        "{told:?}"
    );
    // An editor writes text for everything; the worker reads it.
    let as_text = "{ n: '7', flag: 'true', list: one, text: 5 }";
    let deployed = flow(&declared, false, as_text).deploy(&world).await;
    assert_eq!(warnings(&deployed), Vec::<String>::new());
}

/// `additionalProps` may add props, and take the place of declared ones.
#[tokio::test]
async fn code_with_additional_props_is_not_held_to_those_that_it_declares() {
    let world = World::new().await;
    let declared = json!([
        { "name": "table", "type": "string", "reloadProps": true },
        { "name": "row", "type": "string" },
    ]);
    let deployed = flow(&declared, true, "{ table: a, col_0000: b }")
        .deploy(&world)
        .await;
    let told = warnings(&deployed);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("props.row: is missing"), "{told:?}");
}
