//! `PUT /event_views/{name}`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn a_view_is_a_search_with_a_name() {
    let node = Node::start().await;
    let source = "dc_0000000000000000000001";
    let body =
        json!({"q": "refund", "path": ["order.status=open"], "source_id": source, "channel": ""});
    let view = node.put("/event_views/Open%20refunds", body).await;
    let view = view.is(200).data();
    assert_eq!(view["name"], "Open refunds");
    assert_eq!(view["path"], json!(["order.status=open"]));
    assert_eq!(view["source_id"], source);
    assert_eq!(view["channel"], "");
    assert!(view.get("workflow_id").is_none());
    assert!(view.get("since").is_none());
    // Times stay as they are written.
    let body = json!({"since": " 24h", "until": "2126-01-31T12:00"});
    let timed = node.put("/event_views/late", body).await.is(200).data();
    assert_eq!(
        (&timed["since"], &timed["until"]),
        (&json!("24h"), &json!("2126-01-31T12:00"))
    );
    node.delete("/event_views/late").await.is(204);
    // Written again, it is replaced.
    let body = json!({"q": "refunds"});
    node.put("/event_views/Open%20refunds", body).await.is(200);
    let views = node.get("/event_views").await.is(200).items();
    assert_eq!(views.len(), 1);
    assert_eq!(views[0]["q"], "refunds");
    assert!(views[0].get("source_id").is_none());
}

#[tokio::test]
async fn a_search_that_is_none_has_no_name() {
    let node = Node::start().await;
    for (name, body, message) in [
        (
            "a",
            json!({"path": ["no value"]}),
            "not a path with a value",
        ),
        (
            "a",
            json!({"source_id": "dc_0000000000000000000001", "workflow_id": "p_0000000000000000000001"}),
            "not both",
        ),
        ("%20", json!({}), "1 to 100 characters"),
        ("a", json!({"since": "yesterday"}), "`since` is not a time"),
        (
            "a",
            json!({"since": "1h", "until": "2h"}),
            "must not be before `since`",
        ),
    ] {
        let answer = node.put(&format!("/event_views/{name}"), body).await;
        let error = answer.is(400).error();
        let text = error["message"].as_str().unwrap();
        assert!(text.contains(message), "{text}");
    }
    assert!(node.get("/event_views").await.is(200).items().is_empty());
}
