//! `@pipedream/linear_app`: a source that is a webhook for admins and polls for everybody else, decided by
//! `additionalProps`. GraphQL through Linear's own client, over `fetch`, and through axios.

use headwater_integration::{Linear, Node};
use serde_json::{Value, json};

const NEW_ISSUE: &str =
    "npm:@pipedream/linear_app@0.8.1/sources/issue-created-instant/issue-created-instant.mjs";
const CREATE_ISSUE: &str = "npm:@pipedream/linear_app@0.8.1/actions/create-issue/create-issue.mjs";

async fn start(linear: &Linear) -> (Node, Value) {
    let node = Node::builder().private_network().reaching(linear.server());
    // The component believes only calls from Linear's addresses.
    let node = node.flag("--trusted-proxies=127.0.0.1").start().await;
    let account = node.account("linear_app", Linear::account_fields()).await;
    let props = json!({"linearApp": {"authProvisionId": account}, "teamIds": ["team-kitchen"]});
    (node, props)
}

fn titles(events: &[Value]) -> Vec<&Value> {
    events
        .iter()
        .map(|event| &event["event"]["title"])
        .collect()
}

#[tokio::test]
async fn for_an_admin_the_source_is_a_webhook() {
    let linear = Linear::start(true).await;
    linear.add_issue("No tea").await;
    let (node, props) = start(&linear).await;
    let source = node.deploy_package(NEW_ISSUE, props).await;
    let registered = json!([{
        "teamId": "team-kitchen", "resourceTypes": ["Issue"], "url": source.endpoint(),
        "label": "Issue created", "id": "webhook-1",
    }]);
    assert_eq!(Value::from(linear.webhooks()), registered);

    linear.add_issue("No milk").await;
    let events = node.events_until(&source, |events| events.len() > 1).await;
    assert_eq!(titles(&events), ["No tea", "No milk"]);
    assert_eq!(events[1]["metadata"]["summary"], "Issue created: No milk");

    // A caller other than Linear may call, and is not believed.
    let forged = json!({"action": "create", "data": {"id": "issue-1"}});
    node.with_key(None)
        .post(source.endpoint(), forged)
        .await
        .is(200);
    node.delete(&source.path()).await.is(204);
    assert_eq!(linear.webhooks(), [Value::Null; 0]);
}

#[tokio::test]
async fn for_others_the_source_polls_page_after_page() {
    let linear = Linear::start(false).await;
    for title in ["No tea", "No milk", "No salt"] {
        linear.add_issue(title).await;
    }
    let (node, props) = start(&linear).await;
    let source = node.deploy_package(NEW_ISSUE, props).await;
    assert_eq!(linear.webhooks(), [Value::Null; 0]);
    let configured = &source.record["configured_props"];
    assert_eq!(configured["timer"]["interval_seconds"], 900, "{configured}");
    linear.add_issue("No bread").await;
    let report = node.run(&source, Value::Null).await;
    assert_eq!(report["outcome"]["status"], "returned", "{report}");
    let events = node.events(&source).await;
    assert_eq!(
        titles(&events),
        ["No tea", "No milk", "No salt", "No bread"]
    );
}

#[tokio::test]
async fn teams_are_offered_page_by_page_and_an_issue_is_made() {
    let linear = Linear::start(false).await;
    let (node, mut props) = start(&linear).await;
    node.save_package(CREATE_ISSUE).await;
    let mut question = json!({"prop": "teamId", "configured_props": props});
    for team in ["kitchen", "garden"] {
        let page = node
            .options("linear_app-create-issue", question.clone())
            .await;
        let expected = json!([{"label": team, "value": format!("team-{team}")}]);
        assert_eq!(page["options"], expected);
        question["prev_context"] = page["context"].clone();
    }
    let page = node.options("linear_app-create-issue", question).await;
    assert_eq!(page["options"], json!([]));

    props = json!({"linearApp": props["linearApp"], "teamId": "team-kitchen", "title": "Buy rice"});
    let report = node.run_action("linear_app-create-issue", props).await;
    assert_eq!(report["summary"], "Created issue issue-1", "{report}");
    assert_eq!(report["outcome"]["value"]["success"], true);
}
