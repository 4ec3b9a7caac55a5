//! `GET /data_stores/{name}/record`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn every_key_finds_its_record() {
    let node = Node::start().await;
    let path = "/data_stores/my%20orders/record";
    // Keys as text, and in a query.
    let keys = [
        (".", "."),
        ("..", "%2E%2E"),
        ("a/b?c#d&e=f+g", "a%2Fb%3Fc%23d%26e%3Df%2Bg"),
        ("100%", "100%25"),
        (" é\u{0}\n", "+%C3%A9%00%0A"),
    ];
    for (number, (key, _)) in keys.iter().enumerate() {
        let body = json!({"key": key, "value": number});
        node.put(path, body).await.is(200);
    }
    for (number, (key, in_query)) in keys.iter().enumerate() {
        let found = node.get(&format!("{path}?key={in_query}")).await;
        let found = found.is(200).data();
        assert_eq!(found["key"], *key);
        assert_eq!(found["value"], number);
    }
}

#[tokio::test]
async fn a_record_that_is_not_there_is_not_found() {
    let node = Node::start().await;
    let path = "/data_stores/orders/record";
    node.get(&format!("{path}?key=k")).await.is(404);
    let body = json!({"key": "k", "value": 1});
    node.put(path, body).await.is(200);
    let error = node.get(&format!("{path}?key=l")).await.is(404).error();
    assert_eq!(error["message"], "there is no record `l`");
    let error = node.get(path).await.is(400).error();
    assert_eq!(error["param"], "key");
    let stranger = node.user("stranger").await;
    stranger.get(&format!("{path}?key=k")).await.is(404);
}
