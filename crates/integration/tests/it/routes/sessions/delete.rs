//! `DELETE /sessions/{id}`.

use headwater_integration::Node;

use crate::{code::unknown, ui::Visitor};

#[tokio::test]
async fn an_ended_session_opens_nothing_at_once() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let session = node.get("/sessions").await.is(200).items().remove(0);
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    node.user("bob").await.delete(&path).await.is(404);
    visitor.get("/sources").await.is(200);
    node.delete(&path).await.is(204);
    visitor.get("/sources").await.is(303);
    node.delete(&path).await.is(404);
    node.delete(&format!("/sessions/{}", unknown("ses_")))
        .await
        .is(404);
}
