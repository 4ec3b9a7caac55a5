//! `GET /sources/{id}/deployments` and `GET /sources/{id}/deployments/{deployment_id}`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::{answering, unknown};

const SECRETIVE: &str = "export default { name: 'Secretive', key: 'shop-secretive', version: '0.1.0', \
    props: { plain: 'string', token: { type: 'string', secret: true } }, run() {} };";

#[tokio::test]
async fn deployments_are_listed_and_shown_with_their_code_without_secrets() {
    let node = Node::start().await;
    let props = json!({"plain": "one", "token": "hunter2"});
    let source = node.deploy(SECRETIVE, props).await;
    let changed = json!({"configured_props": {"plain": "two"}});
    let updated = node.patch(&source.path(), changed).await.is(200).data();
    node.patch(&source.path(), json!({"name": "Renamed"}))
        .await
        .is(200);
    let path = format!("{}/deployments", source.path());
    let listed = node.get(&path).await.is(200).items();
    let current: Vec<_> = listed.iter().map(|one| &one["current"]).collect();
    assert_eq!(current, [false, true]);
    assert_eq!(listed[0]["id"], source.record["deployment_id"]);
    assert_eq!(listed[1]["id"], updated["deployment_id"]);
    assert_eq!(listed[0]["component_key"], "shop-secretive");
    assert_eq!(listed[0]["component_version"], "0.1.0");
    let me = node.get("/users/me").await.is(200).data();
    assert_eq!(listed[0]["user_id"], me["id"]);
    assert_eq!(listed[0]["username"], me["username"]);

    let of = |deployment: &Value| format!("{path}/{}", deployment["id"].as_str().unwrap());
    let shown = node.get(&of(&listed[0])).await.is(200);
    assert!(!shown.text.contains("hunter2") && !shown.text.contains("$sealed"));
    let shown = shown.data();
    let values = json!({"plain": "one", "token": null});
    assert_eq!(shown["configured_props"], values);
    assert_eq!(shown["secret_props"], json!({"token": {"secret": true}}));
    assert_eq!(shown["component"]["code"], SECRETIVE);
    assert_eq!(shown["component"]["packages"], json!([]));
    assert_eq!(shown["code_hash"], shown["component"]["code_hash"]);
    let later = node.get(&of(&listed[1])).await.is(200).data();
    assert_eq!(later["configured_props"]["plain"], "two");

    let page = node.get(&format!("{path}?limit=1")).await.is(200);
    assert_eq!(page.items(), [listed[0].clone()]);
}

#[tokio::test]
async fn a_deployment_of_another_source_or_tenant_is_not_found() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1"), json!({})).await;
    let other = node.deploy(&answering("1"), json!({})).await;
    let foreign = other.record["deployment_id"].as_str().unwrap();
    for id in [foreign.to_owned(), unknown("d_"), "nonsense".to_owned()] {
        let path = format!("{}/deployments/{id}", source.path());
        let error = node.get(&path).await.is(404).error();
        assert_eq!(error["message"], format!("there is no deployment `{id}`"));
    }
    let own = source.record["deployment_id"].as_str().unwrap();
    let bob = node.user("bob").await;
    for path in [
        format!("{}/deployments", source.path()),
        format!("{}/deployments/{own}", source.path()),
        format!("/sources/{}/deployments", unknown("dc_")),
    ] {
        let error = bob.get(&path).await.is(404).error();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("there is no source"), "{message}");
    }
}

#[tokio::test]
async fn the_newest_twenty_are_kept() {
    let node = Node::start().await;
    let source = node
        .deploy(SECRETIVE, json!({"plain": "0", "token": "t"}))
        .await;
    for number in 1..=20 {
        let changed = json!({"configured_props": {"plain": number.to_string()}});
        node.patch(&source.path(), changed).await.is(200);
    }
    let path = format!("{}/deployments?limit=100", source.path());
    let listed = node.get(&path).await.is(200).items();
    assert_eq!(listed.len(), 20);
    assert_eq!(listed[19]["current"], true);
    let first = source.record["deployment_id"].as_str().unwrap();
    let gone = format!("{}/deployments/{first}", source.path());
    node.get(&gone).await.is(404);
}
