//! `GET /docs`: the API described for people, without a key.

use headwater_integration::{Node, Operation};

#[tokio::test]
async fn the_page_shows_every_operation_and_needs_nothing_else() {
    let node = Node::start().await;
    let page = node.with_key(None).get("//docs").await.is(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    for operation in Operation::all() {
        let path = operation.path.replace('{', "<i>{").replace('}', "}</i>");
        assert!(page.text.contains(&path), "{operation}");
    }
    assert!(page.text.contains(&format!("{}/v1/sources", node.url())));
    assert!(!page.text.contains("<script") && !page.text.contains("src="));
}
