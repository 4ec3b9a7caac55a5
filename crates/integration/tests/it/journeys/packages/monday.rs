//! `@pipedream/monday`: a webhook whose URL has to answer a challenge while it is being registered, props
//! that depend on each other. GraphQL over node-fetch.

use headwater_integration::{Monday, Node};
use serde_json::{Value, json};

const NEW_ITEM: &str = "npm:@pipedream/monday@0.7.0/sources/new-item/new-item.mjs";
const CREATE_ITEM: &str = "npm:@pipedream/monday@0.7.0/actions/create-item/create-item.mjs";

async fn start(monday: &Monday) -> (Node, String) {
    let node = Node::builder().private_network().reaching(monday.server());
    let node = node.start().await;
    let account = node.account("monday", Monday::account_fields()).await;
    (node, account)
}

#[tokio::test]
async fn a_source_answers_the_challenge_before_it_is_deployed() {
    let monday = Monday::start(&["Kitchen", "Garden"]).await;
    monday.add_item("1", "Buy tea").await;
    let (node, account) = start(&monday).await;
    let props = json!({"monday": {"authProvisionId": account}, "boardId": "1"});
    let source = node.deploy_package(NEW_ITEM, props).await;

    let registered = json!([{
        "boardId": "1", "url": source.endpoint(), "event": "create_item", "id": "1002",
    }]);
    assert_eq!(Value::from(monday.webhooks()), registered);

    monday.add_item("2", "Rake leaves").await;
    monday.add_item("1", "Buy milk").await;
    let events = node.events_until(&source, |events| events.len() > 1).await;
    // The first one was there before, and `deploy` emitted it.
    let items: Vec<_> = events
        .iter()
        .map(|event| &event["event"]["item"]["name"])
        .collect();
    assert_eq!(items, ["Buy tea", "Buy milk"]);
    assert_eq!(events[1]["metadata"]["summary"], "Buy milk");
    assert_eq!(events[1]["event"]["event"]["pulseName"], "Buy milk");

    node.delete(&source.path()).await.is(204);
    assert_eq!(monday.webhooks(), [Value::Null; 0]);
}

#[tokio::test]
async fn an_action_is_configured_prop_by_prop_and_run() {
    let monday = Monday::start(&["Kitchen", "Garden", "Cellar"]).await;
    let (node, account) = start(&monday).await;
    node.save_package(CREATE_ITEM).await;
    let ask = async |question: Value| {
        node.options("monday-create-item", question).await["options"].take()
    };
    let option = |label: &str, value: &str| json!({"label": label, "value": value});

    let mut props = json!({"monday": {"authProvisionId": account}});
    let boards = ask(json!({"prop": "boardId", "configured_props": props, "page": 0})).await;
    assert_eq!(
        boards,
        json!([option("Kitchen", "1"), option("Garden", "2")])
    );
    let boards = ask(json!({"prop": "boardId", "configured_props": props, "page": 1})).await;
    assert_eq!(boards, json!([option("Cellar", "3")]));

    props["boardId"] = json!("3");
    let groups = ask(json!({"prop": "groupId", "configured_props": props})).await;
    assert_eq!(groups, json!([option("Topics", "topics")]));
    let columns = ask(json!({"prop": "columns", "configured_props": props})).await;
    assert_eq!(columns, json!([option("Status", "status")]));

    props["columns"] = json!(["status"]);
    let path = "/components/monday-create-item/props";
    let reloaded = node
        .post(path, json!({"configured_props": props}))
        .await
        .is(200)
        .data();
    let status = prop(&reloaded, "status");
    assert_eq!(status["label"], "Status");
    assert_eq!(
        status["options"],
        json!([option("Waiting", "0"), option("Done", "1")])
    );

    props["itemName"] = json!("Wine");
    props["status"] = json!("1");
    let report = node.run_action("monday-create-item", props).await;
    assert_eq!(
        report["outcome"],
        json!({"status": "returned", "value": "1001"})
    );
    assert_eq!(
        report["summary"],
        "Successfully created a new item with ID: 1001"
    );
    let items = monday.items();
    assert_eq!(
        (&items[0]["name"], &items[0]["board"]["id"]),
        (&json!("Wine"), &json!("3"))
    );
    assert_eq!(items[0]["columnValues"], json!({"status": "1"}).to_string());
}

/// A prop of an answer of `/props`.
fn prop(reloaded: &Value, name: &str) -> Value {
    let props = reloaded["configurable_props"].as_array();
    let props = props.unwrap_or_else(|| panic!("no props in {reloaded}"));
    let found = props.iter().find(|prop| prop["name"] == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {reloaded}"))
        .clone()
}
