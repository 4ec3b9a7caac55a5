//! `GET /workflows/{id}/$errors/event_summaries`: a node without workflows has none to show.

use headwater_integration::Node;

use crate::code::unknown;

#[tokio::test]
async fn an_unknown_workflow_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("p_"), "nonsense".to_owned()] {
        let path = format!("/workflows/{id}/$errors/event_summaries");
        let error = node.get(&path).await.is(404).error();
        assert_eq!(error["code"], "not_found");
    }
}
