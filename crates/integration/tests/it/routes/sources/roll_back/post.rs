//! `POST /sources/{id}/roll_back`: the code and the values of a former deployment, through the hooks.

use headwater_integration::{Node, Receiver, payloads};
use serde_json::json;

use crate::code::{answering, hooked, unknown};

const WITH_ACCOUNT: &str = "export default { name: 'Shopping', version: '0.0.1', \
    props: { shop: { type: 'app', app: 'shop' }, key: { type: 'string', secret: true } }, \
    run() { this.$emit(`${this.key} and ${this.shop.$auth.api_key}`); } };";

#[tokio::test]
async fn code_and_values_of_before_run_again_also_after_a_restart() {
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let (former, next) = (Receiver::start().await, Receiver::start().await);
    let source = node
        .deploy(&hooked("1"), json!({"url": former.url()}))
        .await;
    let body = json!({"component_code": hooked("2"), "configured_props": {"url": next.url()}, "name": "Second"});
    node.put(&source.path(), body).await.is(200);
    former.clear();
    next.clear();
    let first = source.record["deployment_id"].clone();
    let path = format!("{}/roll_back", source.path());
    let back = node
        .post(&path, json!({"deployment_id": first}))
        .await
        .is(200)
        .data();
    assert_eq!(next.bodies(), ["2 deactivate"]);
    assert_eq!(former.bodies(), ["1 activate"]);
    assert_eq!(back["name"], "Second");
    assert_eq!(back["component_id"], source.record["component_id"]);
    assert_eq!(back["configured_props"], source.record["configured_props"]);
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "1");
    node.kill_9();
    node.restart().await;
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "1");
    let listed = node
        .get(&format!("{}/deployments", source.path()))
        .await
        .is(200)
        .items();
    assert_eq!(listed.len(), 3);
    assert_eq!(listed[2]["id"], back["deployment_id"]);
    assert_eq!(
        (&listed[2]["restores"], &listed[2]["current"]),
        (&first, &json!(true))
    );
}

#[tokio::test]
async fn a_hook_that_fails_leaves_the_present_version() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    // It cannot be activated, and nobody notices while it is paused.
    let body = json!({"active": false, "configured_props": {"fails": "activate"}});
    let failing = node.patch(&source.path(), body).await.is(200).data();
    let body = json!({"component_code": hooked("2"), "configured_props": {"fails": null}});
    let present = node.put(&source.path(), body).await.is(200).data();
    receiver.clear();
    let path = format!("{}/roll_back", source.path());
    let body = json!({"deployment_id": failing["deployment_id"]});
    let error = node.post(&path, body).await.is(422).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("activate fails"), "{message}");
    assert_eq!(
        receiver.bodies(),
        ["2 deactivate", "1 activate", "2 activate"]
    );
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "2");
    let now = node.get(&source.path()).await.is(200).data();
    assert_eq!(now["deployment_id"], present["deployment_id"]);
}

#[tokio::test]
async fn secrets_come_back_and_an_account_that_is_gone_is_named() {
    let node = Node::start().await;
    let (old, new) = (
        node.account("shop", json!({"api_key": "sesame"})).await,
        node.account("shop", json!({"api_key": "open"})).await,
    );
    let props = json!({"shop": {"authProvisionId": old}, "key": "hunter2"});
    let source = node.deploy(WITH_ACCOUNT, props).await;
    let first = source.record["deployment_id"].clone();
    let changed = json!({"configured_props": {"shop": {"authProvisionId": new}, "key": "other"}});
    let changed = node.patch(&source.path(), changed).await.is(200).data();
    let path = format!("{}/roll_back", source.path());
    // Secrets of deployments are sealed with the new key, too.
    node.post("/secret_key/rotate", json!({})).await.is(200);
    let back = json!({"deployment_id": first});
    let answer = node.post(&path, back.clone()).await.is(200);
    assert!(!answer.text.contains("hunter2"), "{}", answer.text);
    node.run(&source, json!({})).await;
    let events = payloads(&node.events(&source).await);
    assert_eq!(events.last().unwrap(), "hunter2 and sesame");

    let second = json!({"deployment_id": changed["deployment_id"]});
    node.post(&path, second).await.is(200);
    node.delete(&format!("/accounts/{old}")).await.is(200);
    let error = node.post(&path, back).await.is(422).error();
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains(&old) && message.contains("update the source"),
        "{message}"
    );
    assert_eq!(error["param"], "configured_props.shop");
    node.run(&source, json!({})).await;
    let events = payloads(&node.events(&source).await);
    assert_eq!(events.last().unwrap(), "other and open");
}

#[tokio::test]
async fn the_running_deployment_and_unknown_ones_are_refused() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1"), json!({})).await;
    let other = node.deploy(&answering("1"), json!({})).await;
    let path = format!("{}/roll_back", source.path());
    let present = json!({"deployment_id": source.record["deployment_id"]});
    let error = node.post(&path, present.clone()).await.is(409).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("name a former one"), "{message}");
    for id in [
        other.record["deployment_id"].as_str().unwrap().to_owned(),
        unknown("d_"),
    ] {
        node.post(&path, json!({"deployment_id": id})).await.is(404);
    }
    let error = node.post(&path, json!({})).await.is(400).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("deployment_id"), "{message}");
    let malformed = json!({"deployment_id": "nonsense"});
    let error = node.post(&path, malformed).await.is(400).error();
    assert_eq!(error["param"], "deployment_id");
    let bob = node.user("bob").await;
    bob.post(&path, present.clone()).await.is(404);
    let path = format!("/sources/{}/roll_back", unknown("dc_"));
    node.post(&path, present).await.is(404);
}
