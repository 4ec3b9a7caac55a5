//! `GET /runs/counts`.

use headwater_integration::Node;
use serde_json::json;

use crate::routes::runs::get::TOLD;

#[tokio::test]
async fn runs_of_a_filter_are_counted_by_state() {
    let node = Node::start().await;
    let source = node.deploy(TOLD, json!({})).await;
    node.run(&source, json!({})).await;
    node.run(&source, json!({})).await;
    node.run(&source, json!({"throws": "no"})).await;
    let counts = |succeeded: u64, failed: u64| {
        let count = |count| json!({"count": count, "is_capped": false});
        json!({
            "open": count(0), "succeeded": count(succeeded), "failed": count(failed), "cancelled": count(0),
        })
    };
    for (query, succeeded, failed) in [
        ("", 2, 1),
        ("?status=failed", 0, 1),
        ("?status=open,succeeded", 2, 0),
        ("?q=range", 0, 1),
        ("?until=1", 0, 0),
    ] {
        let path = format!("/runs/counts{query}");
        let counted = node.get(&path).await.is(200).data();
        assert_eq!(counted, counts(succeeded, failed), "{query}");
    }
    let bob = node.user("bob").await;
    let counted = bob.get("/runs/counts").await.is(200).data();
    assert_eq!(counted, counts(0, 0));
}
