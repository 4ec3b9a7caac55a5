//! `DELETE /sources/{id}/events`: the four rules, and what they spare.

use std::time::{Duration, SystemTime};

use headwater_integration::{Method, Node, Source, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

/// A source that has emitted "a" to "e", and the ids of those events.
async fn emitted(node: &Node) -> (Source, Vec<String>) {
    let source = node.deploy(EMITTER, json!({})).await;
    let emits: Vec<_> = ["a", "b", "c", "d", "e"]
        .map(|letter| json!([letter, {}]))
        .into();
    node.run(&source, json!({"emits": emits})).await;
    let events = node.events(&source).await;
    let ids = events
        .iter()
        .map(|event| event["id"].as_str().unwrap().to_owned())
        .collect();
    (source, ids)
}

#[tokio::test]
async fn ranges_include_their_ends_and_are_gone_at_once() {
    let node = Node::start().await;
    for (start, end, left) in [
        (None, None, &[][..]),
        (Some(3), None, &["a", "b", "c"]),
        (None, Some(1), &["c", "d", "e"]),
        (Some(1), Some(3), &["a", "e"]),
        (Some(2), Some(2), &["a", "b", "d", "e"]),
        (Some(3), Some(1), &["a", "b", "c", "d", "e"]),
    ] {
        let (source, ids) = emitted(&node).await;
        let ends = [("start_id", start), ("end_id", end)];
        let query: Vec<_> = ends
            .into_iter()
            .filter_map(|(name, at)| Some((name, &ids[at?])))
            .collect();
        let request = node
            .request(Method::DELETE, &format!("{}/events", source.path()))
            .query(&query);
        node.send(request).await.is(202);
        assert_eq!(
            payloads(&node.events(&source).await),
            left,
            "{start:?} to {end:?}"
        );
    }
}

#[tokio::test]
async fn events_emitted_afterwards_stay() {
    let node = Node::start().await;
    let (source, _) = emitted(&node).await;
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    node.run(&source, json!({"emits": [["f", {}]]})).await;
    assert_eq!(payloads(&node.events(&source).await), ["f"]);
}

#[tokio::test]
async fn the_range_may_be_in_the_body() {
    let node = Node::start().await;
    let (source, ids) = emitted(&node).await;
    let body = json!({"start_id": ids[1], "end_id": ids[3]});
    let request = node
        .request(Method::DELETE, &format!("{}/events", source.path()))
        .json(&body);
    node.send(request).await.is(202);
    assert_eq!(payloads(&node.events(&source).await), ["a", "e"]);
}

#[tokio::test]
async fn only_ordinary_channels_are_emptied_unless_another_is_named() {
    let node = Node::start().await;
    let (source, _) = emitted(&node).await;
    node.run(&source, json!({"emits": [["n", {"name": "news"}]]}))
        .await;
    node.run(&source, json!({"emits": null})).await;
    assert_eq!(node.channel(&source, "$errors").await.len(), 1);

    node.delete(&format!("{}/events?event_name=news", source.path()))
        .await
        .is(202);
    assert_eq!(
        payloads(&node.events(&source).await),
        ["a", "b", "c", "d", "e"]
    );
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    assert_eq!(node.events(&source).await, [Value::Null; 0]);
    assert_eq!(node.channel(&source, "$errors").await.len(), 1);
    node.delete(&format!("{}/events?event_name=$errors", source.path()))
        .await
        .is(202);
    assert_eq!(node.channel(&source, "$errors").await, [Value::Null; 0]);
}

#[tokio::test]
async fn deleting_does_not_let_an_id_be_emitted_again() {
    let node = Node::start().await;
    let source = node
        .deploy(&crate::code::emitter("unique"), json!({}))
        .await;
    node.run(&source, json!({"emits": [["a", {"id": 1}]]}))
        .await;
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    node.run(
        &source,
        json!({"emits": [["again", {"id": 1}], ["b", {"id": 2}]]}),
    )
    .await;
    assert_eq!(payloads(&node.events(&source).await), ["b"]);
}

#[tokio::test]
async fn a_scheduled_event_is_cancelled_by_deleting_it() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let at = |after: Duration| u64::try_from((now + after).as_millis()).unwrap();
    let (soon, late) = (at(Duration::from_secs(5)), at(Duration::from_secs(6)));
    let emits = json!([["cancelled", {"delivery_ts": soon}], ["due", {"delivery_ts": late}]]);
    node.run(&source, json!({"emits": emits})).await;
    assert_eq!(node.events(&source).await, [Value::Null; 0]);
    let waiting = node.channel(&source, "$in").await;
    assert_eq!(payloads(&waiting), ["cancelled", "due"]);
    let id = waiting[0]["id"].as_str().unwrap();
    let query = [("start_id", id), ("end_id", id), ("event_name", "$in")];
    let request = node
        .request(Method::DELETE, &format!("{}/events", source.path()))
        .query(&query);
    node.send(request).await.is(202);
    assert_eq!(payloads(&node.channel(&source, "$in").await), ["due"]);
    // The later one comes, so the earlier one's time has passed.
    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(payloads(&events), ["due"]);
}

#[tokio::test]
async fn a_wrong_id_is_told_and_an_unknown_source_not_found() {
    let node = Node::start().await;
    let (source, _) = emitted(&node).await;
    for param in ["start_id", "end_id"] {
        let error = node
            .delete(&format!("{}/events?{param}=nonsense", source.path()))
            .await
            .is(400)
            .error();
        assert_eq!(error["param"], param);
    }
    assert_eq!(node.events(&source).await.len(), 5);
    node.delete(&format!("/sources/{}/events", unknown("dc_")))
        .await
        .is(404);
}
