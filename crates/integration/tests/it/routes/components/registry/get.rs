//! `GET /components/registry/{key}`: nothing has been published on this node.

use headwater_integration::Node;

use crate::code::EMITTER;

#[tokio::test]
async fn a_saved_component_is_not_published() {
    let node = Node::start().await;
    node.save(&EMITTER.replace("version:", "key: \"test-emitter\", version:"))
        .await;
    node.get("/components/test-emitter").await.is(200);
    let error = node
        .get("/components/registry/test-emitter")
        .await
        .is(404)
        .error();
    assert_eq!(error["code"], "not_found");
}
