//! `DELETE /components/{reference}`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::EMITTER;

#[tokio::test]
async fn a_component_goes_unless_a_source_has_it() {
    let node = Node::start().await;
    let id = node.save(EMITTER).await["id"].as_str().unwrap().to_owned();
    let path = format!("/components/{id}");
    let source = node.deploy(EMITTER, json!({})).await;
    assert_eq!(source.record["component_id"], id.as_str());
    let refused = node.delete(&path).await.is(409).error();
    assert!(
        refused["message"].as_str().unwrap().contains("a source"),
        "{refused}"
    );
    let unused = node.save(&EMITTER.replace("0.0.1", "0.0.2")).await;
    let unused = format!("/components/{}", unused["id"].as_str().unwrap());
    node.delete(&unused).await.is(204);
    node.get(&unused).await.is(404);
    node.delete(&unused).await.is(404);
    node.get(&path).await.is(200);
}

#[tokio::test]
async fn nobody_deletes_the_component_of_another() {
    let node = Node::start().await;
    let saved = node.save(EMITTER).await;
    let path = format!("/components/{}", saved["id"].as_str().unwrap());
    let other = node.user("ada").await;
    other.delete(&path).await.is(404);
    node.get(&path).await.is(200);
}
