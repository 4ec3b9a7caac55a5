//! `@pipedream/notion`: a source that polls page after page and tells updates from what it has told, and
//! an action whose props are those of the data source that was chosen. Notion's own client, over `fetch`.

use headwater_integration::{Node, Notion};
use serde_json::{Value, json};

const UPDATED_PAGE: &str =
    "npm:@pipedream/notion@1.0.6/sources/updated-page-by-timestamp/updated-page-by-timestamp.mjs";
const CREATE_PAGE: &str =
    "npm:@pipedream/notion@1.0.6/actions/create-page-from-database/create-page-from-database.mjs";

async fn start(notion: &Notion) -> (Node, Value) {
    let node = Node::builder().private_network().reaching(notion.server());
    let node = node.start().await;
    let account = node.account("notion", Notion::account_fields()).await;
    (node, json!({"notion": {"authProvisionId": account}}))
}

fn summaries(events: &[Value]) -> Vec<&Value> {
    events
        .iter()
        .map(|event| &event["metadata"]["summary"])
        .collect()
}

#[tokio::test]
async fn polls_emit_each_edit_once() {
    let notion = Notion::start(&["shopping"]).await;
    for title in ["Tea", "Milk", "Salt"] {
        notion.add_page("shopping", title);
    }
    notion.add_page("elsewhere", "Rake");
    let (node, mut props) = start(&notion).await;
    props["dataSourceId"] = json!("shopping");
    let source = node.deploy_package(UPDATED_PAGE, props).await;

    let poll = async || {
        let report = node.run(&source, Value::Null).await;
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
    };
    poll().await;
    poll().await;
    notion.edit_page("page-2");
    notion.add_page("shopping", "Rice");
    poll().await;
    let events = node.events(&source).await;
    let expected = [
        "Page added: Tea",
        "Page added: Milk",
        "Page added: Salt",
        "Page updated: Milk",
        "Page added: Rice",
    ];
    assert_eq!(summaries(&events), expected);
    assert_eq!(events[3]["event"]["id"], "page-2");
}

#[tokio::test]
async fn a_page_gets_the_properties_of_its_data_source() {
    let notion = Notion::start(&["shopping", "garden", "cellar"]).await;
    let (node, mut props) = start(&notion).await;
    node.save_package(CREATE_PAGE).await;
    let key = "notion-create-page-from-database";

    let mut question = json!({"prop": "parentDataSource", "configured_props": props});
    let first = node.options(key, question.clone()).await;
    assert_eq!(first["options"].as_array().unwrap().len(), 2);
    question["prev_context"] = first["context"].clone();
    let second = node.options(key, question).await;
    assert_eq!(
        second["options"],
        json!([{"label": "cellar", "value": "cellar"}])
    );

    props["parentDataSource"] = json!("cellar");
    props["templateType"] = json!("none");
    props["propertyTypes"] = json!(["Name", "Price", "Fresh"]);
    let path = format!("/components/{key}/props");
    let reloaded = node
        .post(&path, json!({"configured_props": props}))
        .await
        .is(200)
        .data();
    let reloaded = reloaded["configurable_props"].as_array().unwrap();
    let type_of = |name: &str| {
        let found = reloaded.iter().find(|prop| prop["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {reloaded:#?}"))["type"].clone()
    };
    let types = ["Name", "Price", "Fresh"].map(type_of);
    assert_eq!(types, ["string", "integer", "boolean"]);

    for (name, value) in [
        ("Name", json!("Wine")),
        ("Price", json!(7)),
        ("Fresh", json!(true)),
    ] {
        props[name] = value;
    }
    props["pageContent"] = json!("# Red\n\nFrom the *south*.");
    let report = node.run_action(key, props).await;
    assert_eq!(report["summary"], "Created page successfully", "{report}");
    let [page] = &notion.pages()[..] else {
        panic!("one page is made");
    };
    assert_eq!(page["parent"], json!({"data_source_id": "cellar"}));
    // The component names properties by their ids.
    let properties = &page["properties"];
    let title = &properties["title"]["title"][0]["text"]["content"];
    assert_eq!(title, "Wine", "{properties}");
    assert_eq!(properties["p"], json!({"number": 7}));
    assert_eq!(properties["f"], json!({"checkbox": true}));
    let blocks: Vec<_> = page["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["type"])
        .collect();
    assert_eq!(blocks, ["heading_1", "paragraph"]);
}

#[tokio::test]
async fn a_service_that_refuses_is_quoted() {
    let notion = Notion::start(&["shopping"]).await;
    let (node, _) = start(&notion).await;
    node.save_package(CREATE_PAGE).await;
    let account = node
        .account("notion", json!({"oauth_access_token": "revoked"}))
        .await;
    let question = json!({
        "prop": "parentDataSource", "configured_props": {"notion": {"authProvisionId": account}},
    });
    let path = "/components/notion-create-page-from-database/options";
    let error = node.post(path, question).await.is(422).error();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("API token is invalid"),
        "{error}"
    );
}
