//! `GET /components/{key|id}`.

use headwater_integration::Node;

use crate::code::{EMITTER, unknown};

fn keyed(version: &str) -> String {
    EMITTER.replace(
        "version: \"0.0.1\"",
        &format!("key: \"test-emitter\", version: \"{version}\""),
    )
}

#[tokio::test]
async fn a_component_is_found_by_its_id() {
    let node = Node::start().await;
    let saved = node.save(EMITTER).await;
    let path = format!("/components/{}", saved["id"].as_str().unwrap());
    assert_eq!(node.get(&path).await.is(200).data(), saved);
}

#[tokio::test]
async fn a_key_finds_what_was_saved_under_it_last() {
    let node = Node::start().await;
    let first = node.save(&keyed("0.0.1")).await;
    assert_eq!(
        node.get("/components/test-emitter").await.is(200).data(),
        first
    );
    let second = node.save(&keyed("0.0.2")).await;
    assert_eq!(
        node.get("/components/test-emitter").await.is(200).data(),
        second
    );
}

#[tokio::test]
async fn what_nobody_saved_is_not_found() {
    let node = Node::start().await;
    for reference in [
        "no-such-key",
        "sc_",
        "dc_0",
        &unknown("sc_"),
        &unknown("dc_"),
    ] {
        let answer = node.get(&format!("/components/{reference}")).await;
        assert_eq!(answer.status, 404, "{reference}: {}", answer.text);
        assert_eq!(answer.error()["code"], "not_found");
    }
}
