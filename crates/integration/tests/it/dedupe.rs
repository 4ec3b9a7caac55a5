//! The strategies of `dedupe`, over runs and restarts. Their rules in detail are tested in `model`.

use headwater_integration::{Node, Source, payloads};
use serde_json::{Value, json};

use crate::code::emitter;

/// Emits each id as its own event.
async fn emit(node: &Node, source: &Source, ids: &[Value]) {
    let emits: Vec<_> = ids.iter().map(|id| json!([id, {"id": id}])).collect();
    node.run(source, json!({"emits": emits})).await;
}

#[tokio::test]
async fn unique_remembers_a_hundred_ids_over_a_restart() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(&emitter("unique"), json!({})).await;
    emit(&node, &source, &[json!("a"), json!("b"), json!("a")]).await;
    node.restart().await;
    emit(&node, &source, &[json!("b"), json!("c"), json!("a")]).await;
    assert_eq!(payloads(&node.events(&source).await), ["a", "b", "c"]);

    let hundred: Vec<_> = (0..100).map(Value::from).collect();
    emit(&node, &source, &hundred).await;
    emit(&node, &source, &[json!("a"), json!(1)]).await;
    let events = payloads(&node.events(&source).await);
    assert_eq!(
        events.last().unwrap(),
        "a",
        "a was pushed out by the hundred, 1 was not"
    );
}

#[tokio::test]
async fn greatest_lets_only_larger_ids_through_over_a_restart() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(&emitter("greatest"), json!({})).await;
    emit(&node, &source, &[json!(3), json!(2), json!(5)]).await;
    node.restart().await;
    emit(&node, &source, &[json!(5), json!(4), json!(6)]).await;
    assert_eq!(payloads(&node.events(&source).await), [3, 5, 6]);
}

#[tokio::test]
async fn last_emits_what_follows_the_last_one_over_a_restart() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(&emitter("last"), json!({})).await;
    emit(&node, &source, &[json!("a"), json!("b")]).await;
    node.restart().await;
    emit(&node, &source, &[json!("a"), json!("b"), json!("c")]).await;
    assert_eq!(payloads(&node.events(&source).await), ["a", "b", "c"]);
    emit(&node, &source, &[json!("x"), json!("y")]).await;
    assert_eq!(
        payloads(&node.events(&source).await),
        ["a", "b", "c", "x", "y"]
    );
}

#[tokio::test]
async fn two_sources_do_not_share_their_ids() {
    let node = Node::start().await;
    let saved = node.save(&emitter("unique")).await;
    for _ in 0..2 {
        let body = json!({"component_id": saved["id"]});
        let source = Source::new(node.post("/sources", body).await.is(200).data());
        emit(&node, &source, &[json!(1)]).await;
        assert_eq!(payloads(&node.events(&source).await), [1]);
    }
}

#[tokio::test]
async fn another_strategy_starts_afresh_and_the_same_one_goes_on() {
    let node = Node::start().await;
    let source = node.deploy(&emitter("unique"), json!({})).await;
    emit(&node, &source, &[json!(5)]).await;
    let same = emitter("unique").replace("0.0.1", "0.0.2");
    node.put(&source.path(), json!({"component_code": same}))
        .await
        .is(200);
    emit(&node, &source, &[json!(5)]).await;
    assert_eq!(payloads(&node.events(&source).await), [5]);
    node.put(
        &source.path(),
        json!({"component_code": emitter("greatest")}),
    )
    .await
    .is(200);
    emit(&node, &source, &[json!(5), json!(4)]).await;
    assert_eq!(payloads(&node.events(&source).await), [5, 5]);
}

#[tokio::test]
async fn without_a_strategy_an_id_is_only_shown() {
    let node = Node::start().await;
    let source = node.deploy(crate::code::EMITTER, json!({})).await;
    emit(&node, &source, &[json!(1), json!(1)]).await;
    let events = node.events(&source).await;
    assert_eq!(payloads(&events), [1, 1]);
    assert_eq!(events[0]["metadata"]["id"], 1);
}
