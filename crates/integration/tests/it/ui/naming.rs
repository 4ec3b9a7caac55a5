//! Names of things where pages mention them, with the ids in titles.

use headwater_integration::{Node, Receiver};
use serde_json::json;

use super::visitor::Visitor;
use crate::{
    code::EMITTER,
    workflows::{Folder, HTTP},
};

const CONFIGURED: &str = "export default { name: 'Configured', version: '0.0.7', props: { \
    shop: { type: 'app', app: 'shop' }, orders: { type: 'data_store' }, other: 'string', \
    timer: { type: '$.interface.timer', default: { intervalSeconds: 300 } } }, run() {} }";

const STEP: &str =
    "export default { props: { shop: { type: 'app', app: 'shop' } }, async run() { return 1; } };";

#[tokio::test]
async fn values_of_a_source_are_told_by_the_names_of_things() {
    let node = Node::start().await;
    let account = node.account("shop", json!({"api_key": "k"})).await;
    let rename = json!({"name": "My shop"});
    let path = format!("/accounts/{account}");
    node.patch(&path, rename).await.is(200);
    let other = node.deploy(EMITTER, json!({})).await;
    let props = json!({
        "shop": {"authProvisionId": account}, "orders": "my orders", "other": other.id,
    });
    let source = node.deploy(CONFIGURED, props).await;
    let visitor = Visitor::of(&node).await;
    let config = format!("/sources/{}/config", source.id);
    let page = visitor.get(&config).await.is(200).text;
    for part in [
        &format!("<a href=\"/accounts/{account}\" title=\"{account}\"><bdi>My shop</bdi></a>"),
        "<a href=\"/data/my%20orders\"><bdi>my orders</bdi></a>",
        &format!(
            "<a href=\"/sources/{0}\" title=\"{0}\"><bdi>emitter</bdi></a>",
            other.id
        ),
        "every 5 minutes",
        "<bdi>Configured</bdi> <bdi>0.0.7</bdi></a>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("authProvisionId"), "{page}");
}

#[tokio::test]
async fn steps_triggers_and_deployments_of_a_workflow_have_names() {
    let node = Node::start().await;
    let account = node.account("shop", json!({"api_key": "k"})).await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let folder = Folder::new(HTTP, &[("ask", "")]).with("ask/entry.js", STEP);
    let definition = folder.0["workflow.yaml"]
        .replace(
            "- namespace: ask\n",
            &format!("- namespace: ask\n  props:\n    shop: {{ authProvisionId: {account} }}\n"),
        )
        .replace(
            "triggers:\n",
            &format!("triggers:\n- type: events\n  emitter: {}\n", emitter.id),
        );
    let workflow = folder.with("workflow.yaml", &definition);
    let workflow = workflow.deployed(&node).await;
    workflow.run(&node, json!({}), "succeeded").await;
    let visitor = Visitor::of(&node).await;
    let base = workflow.path();
    let named = format!("<a href=\"/sources/{}\"><bdi>emitter</bdi></a>", emitter.id);
    for (path, part) in [
        ("/steps", format!("title=\"{account}\"><bdi>shop</bdi>")),
        ("/settings", named.clone()),
        ("/runs", named),
        ("/runs", ">the newest</a>".to_owned()),
    ] {
        let page = visitor.get(&format!("{base}{path}")).await.is(200).text;
        assert!(page.contains(&part), "{path}: {part}: {page}");
    }
}

#[tokio::test]
async fn deliveries_and_subscriptions_name_both_their_sides() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    node.run(&source, json!({"emits": [[{"order": 7}, {}]]}))
        .await;
    let delivery = node.deliveries_in(&webhook, "delivered", 1).await.remove(0);
    let delivery = delivery["id"].as_str().unwrap();
    let visitor = Visitor::of(&node).await;
    let named = format!("<a href=\"/sources/{}\"><bdi>emitter</bdi></a>", source.id);
    let order = "{&quot;order&quot;:7}";
    for (path, parts) in [
        (format!("/webhooks/{webhook}"), vec![&*named, order]),
        (
            format!("/deliveries/{delivery}"),
            vec![&named, order, "this run"],
        ),
        (
            format!("/sources/{}/subscriptions", source.id),
            vec!["127.0.0.1:"],
        ),
    ] {
        let page = visitor.get(&path).await.is(200).text;
        for part in parts {
            assert!(page.contains(part), "{path}: {part}: {page}");
        }
    }
}
