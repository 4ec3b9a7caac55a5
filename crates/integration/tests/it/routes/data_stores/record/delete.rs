//! `DELETE /data_stores/{name}/record`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn a_deleted_record_is_gone_and_the_others_stay() {
    let node = Node::start().await;
    let path = "/data_stores/orders/record";
    for key in ["a", "b"] {
        let body = json!({"key": key, "value": 1});
        node.put(path, body).await.is(200);
    }
    let stranger = node.user("stranger").await;
    stranger.delete(&format!("{path}?key=a")).await.is(404);
    let error = node.delete(path).await.is(400).error();
    assert_eq!(error["param"], "key");
    node.delete(&format!("{path}?key=a")).await.is(204);
    node.delete(&format!("{path}?key=a")).await.is(404);
    let left = node.get("/data_stores/orders/records").await.is(200);
    let left = left.items();
    assert_eq!((left.len(), &left[0]["key"]), (1, &json!("b")));
}

#[tokio::test]
async fn the_command_line_writes_reads_and_deletes_records() {
    let node = Node::start().await;
    let set = ["data-stores", "set", "orders", "a/1", r#"{"n": 1}"#];
    let written = node.cli(&set).await.ok();
    assert_eq!(written.stdout.trim(), "a/1");
    let expiring = [&set[..3], &["b", "2", "--ttl", "60", "--json"]].concat();
    let written = node.cli(&expiring).await.ok().json();
    assert!(written["expires_at_ms"].is_u64(), "{written}");
    let got = node.cli(&["data-stores", "get", "orders", "a/1"]).await;
    assert_eq!(got.ok().json(), json!({"n": 1}));
    let shown = ["data-stores", "show", "orders", "--prefix", "a/", "--json"];
    let shown = node.cli(&shown).await.ok().json();
    assert_eq!((&shown[0]["key"], &shown[1]), (&json!("a/1"), &json!(null)));
    let wrong = node.cli(&["data-stores", "set", "orders", "c", "x"]).await;
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("not JSON"), "{}", wrong.stderr);
    let delete = ["data-stores", "delete", "orders", "a/1"];
    node.cli(&delete).await.ok();
    let gone = node.cli(&delete).await;
    assert_eq!(gone.code, 1, "{}", gone.stderr);
    node.cli(&["data-stores", "delete", "orders"]).await.ok();
    node.get("/data_stores/orders/records").await.is(404);
}
