//! `GET /sources/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::{INBOX, unknown};

#[tokio::test]
async fn a_source_is_shown_as_it_was_deployed() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    assert_eq!(node.get(&source.path()).await.is(200).data(), source.record);
    let path = format!("{}?include=configured_props.http", source.path());
    let endpoint = json!({"configured_props": {"http": {"endpoint_url": source.endpoint()}}});
    assert_eq!(node.get(&path).await.is(200).data(), endpoint);
}

#[tokio::test]
async fn an_id_that_names_no_source_is_not_found() {
    let node = Node::start().await;
    for id in ["dc_nonsense", "nonsense", &unknown("dc_"), &unknown("sc_")] {
        let answer = node.get(&format!("/sources/{id}")).await;
        assert_eq!(answer.status, 404, "{id}: {}", answer.text);
        assert_eq!(answer.error()["code"], "not_found");
    }
}
