//! `GET /workflows/{id}/event_summaries`: a node without workflows has none to show.

use headwater_integration::Node;

use crate::code::unknown;

#[tokio::test]
async fn an_unknown_workflow_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("p_"), "nonsense".to_owned()] {
        let path = format!("/workflows/{id}/event_summaries");
        let error = node.get(&path).await.is(404).error();
        assert_eq!(error["code"], "not_found");
    }
}

#[tokio::test]
async fn a_wrong_page_is_told() {
    let node = Node::start().await;
    let path = format!("/workflows/{}/event_summaries?limit=0", unknown("p_"));
    let error = node.get(&path).await.is(400).error();
    assert_eq!(error["param"], "limit");
}
