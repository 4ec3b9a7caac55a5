//! `DELETE /event_views/{name}`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn a_deleted_view_is_gone() {
    let node = Node::start().await;
    node.put("/event_views/mine", json!({})).await.is(200);
    node.user("bob")
        .await
        .delete("/event_views/mine")
        .await
        .is(404);
    node.delete("/event_views/mine").await.is(204);
    assert!(node.get("/event_views").await.is(200).items().is_empty());
    let error = node.delete("/event_views/mine").await.is(404).error();
    assert_eq!(error["message"], "there is no view `mine`");
}
