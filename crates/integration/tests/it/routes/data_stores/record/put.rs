//! `PUT /data_stores/{name}/record`.

use headwater_integration::Node;
use serde_json::{Value, json};

/// Reads the record `k` of its data store, and emits its value.
const READER: &str = r#"
export default {
  name: "Reader",
  version: "0.0.1",
  props: { store: { type: "data_store" } },
  async run() { this.$emit(await this.store.get("k")); },
};
"#;

const PATH: &str = "/data_stores/orders/record";

#[tokio::test]
async fn a_component_reads_the_record_that_was_written() {
    let node = Node::start().await;
    let value = json!({"b": [1.5, null], "a": "é"});
    let body = json!({"key": "k", "value": value});
    let written = node.put(PATH, body).await.is(200).data();
    assert_eq!((&written["key"], &written["value"]), (&json!("k"), &value));
    assert_eq!(written["expires_at_ms"], Value::Null);
    let source = node.deploy(READER, json!({"store": "orders"})).await;
    node.run(&source, json!({})).await;
    assert_eq!(node.events(&source).await[0]["event"], value);

    // Replaced with its expiry, and null is a value.
    let body = json!({"key": "k", "value": null, "ttl": 3600});
    let again = node.put(PATH, body).await.is(200).data();
    let written_ms = again["updated_at_ms"].as_u64().unwrap();
    assert_eq!(again["expires_at_ms"], json!(written_ms + 3_600_000));
    let all = node
        .get("/data_stores/orders/records")
        .await
        .is(200)
        .items();
    assert_eq!(all, [again]);
}

#[tokio::test]
async fn a_record_over_a_limit_is_refused_with_the_limit() {
    let node = Node::start().await;
    let long = "k".repeat(1025);
    let large = "x".repeat(1024 * 1024);
    for (body, param, told) in [
        (json!({"value": 1}), "key", "`key` is required"),
        (json!({"key": "", "value": 1}), "key", "`key` is required"),
        (json!({"key": long, "value": 1}), "key", "1024"),
        (json!({"key": "k"}), "value", "it may be null"),
        (json!({"key": "k", "value": large}), "value", "1048576"),
        (json!({"key": "k", "value": 1, "ttl": -1}), "ttl", "seconds"),
        (
            json!({"key": "k", "value": 1, "ttl": "soon"}),
            "ttl",
            "number",
        ),
    ] {
        let error = node.put(PATH, body).await.is(400).error();
        assert_eq!(error["param"], param, "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
    }
    node.get("/data_stores/orders/records").await.is(404);
    let body = json!({"key": "k", "value": 1});
    let error = node.put("/data_stores/%20/record", body).await.is(400);
    assert_eq!(error.error()["param"], "name");
}

#[tokio::test]
async fn records_of_a_workspace_are_its_members_own() {
    let node = Node::start().await;
    let team = json!({"orgname": "team"});
    let team = node.post("/workspaces", team).await.is(200).data();
    let body = json!({"key": "k", "value": 1, "workspace_id": team["id"]});
    let stranger = node.user("stranger").await;
    stranger.put(PATH, body.clone()).await.is(403);
    node.put(PATH, body).await.is(200);
    node.get(&format!("{PATH}?key=k")).await.is(404);
    let id = team["id"].as_str().unwrap();
    let path = format!("{PATH}?key=k&workspace_id={id}");
    assert_eq!(node.get(&path).await.is(200).data()["value"], 1);
}
