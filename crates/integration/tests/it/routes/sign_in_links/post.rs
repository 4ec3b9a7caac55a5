//! `POST /sign_in_links`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn a_link_is_for_ten_minutes() {
    let node = Node::start().await;
    let link = node.post("/sign_in_links", json!({})).await.is(200).data();
    let url = link["url"].as_str().unwrap();
    assert!(
        url.starts_with(&format!("{}/signin/", node.url())),
        "{link}"
    );
    assert!(link["expires_at_ms"].is_u64(), "{link}");
}
