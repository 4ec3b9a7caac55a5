//! `GET /workflows/{id}/sse`: a node without workflows has none to follow.

use headwater_integration::Node;

use crate::code::unknown;

#[tokio::test]
async fn an_unknown_workflow_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("p_"), "nonsense".to_owned()] {
        let answer = node.get(&format!("/workflows/{id}/sse")).await;
        assert_eq!(answer.is(404).error()["code"], "not_found");
    }
}
