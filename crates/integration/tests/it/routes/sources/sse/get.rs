//! `GET /sources/{id}/sse`: a source's events as they come.

use headwater_integration::{Node, Source};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

fn path(source: &Source) -> String {
    format!("{}/sse", source.path())
}

async fn emit(node: &Node, source: &Source, emits: Value) {
    node.run(source, json!({"emits": emits})).await;
}

#[tokio::test]
async fn a_message_is_an_event_summary_named_by_its_channel() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    emit(&node, &source, json!([[0, {}]])).await;
    let mut following = node.follow(&path(&source), None).await;
    assert_eq!(following.header("content-type"), "text/event-stream");
    assert_eq!(following.header("cache-control"), "no-store");
    assert_eq!(following.header("x-accel-buffering"), "no");
    let large = "x".repeat(5000);
    let options = json!({"name": "news", "summary": "Two", "id": 7});
    emit(&node, &source, json!([[{"n": 1}, {}], [large, options]])).await;
    let messages = [
        following.next().await.unwrap(),
        following.next().await.unwrap(),
    ];
    assert_eq!(messages[0].event, None);
    assert_eq!(messages[1].event.as_deref(), Some("news"));
    // The same as the listing has, whole.
    let listed = node.events(&source).await;
    for (message, summary) in messages.iter().zip(&listed[1..]) {
        assert_eq!(&message.data, summary);
        assert_eq!(message.id, summary["id"].as_str().unwrap());
    }
}

#[tokio::test]
async fn a_reader_goes_on_behind_the_last_event_it_has() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    emit(&node, &source, json!([[1, {}], [2, {}], [3, {}]])).await;
    let first = node.events(&source).await[0]["id"].clone();
    let first = first.as_str().unwrap();
    let in_query = format!("{}?last_event_id=", path(&source));
    let mut readers = [
        node.follow(&path(&source), Some(first)).await,
        node.follow(&format!("{in_query}{first}"), None).await,
        // A client that comes again with the address of its first visit.
        node.follow(&format!("{in_query}0-0"), Some(first)).await,
    ];
    emit(&node, &source, json!([[4, {}]])).await;
    for reader in &mut readers {
        assert_eq!(reader.payloads(3).await, [2, 3, 4]);
    }
    let mut reader = node.follow(&format!("{in_query}0-0"), None).await;
    assert_eq!(reader.payloads(4).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn event_name_chooses_the_channels() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Chatty",
  version: "0.0.1",
  run() {
    this.$emit(1);
    this.$emit(2, { name: "news" });
    console.log("hello");
    throw new Error("boom");
  },
};
"#;
    let source = node.deploy(code, json!({})).await;
    let named = |name| format!("{}?event_name={name}", path(&source));
    let mut all = node.follow(&path(&source), None).await;
    let mut unnamed = node.follow(&named(""), None).await;
    let mut news = node.follow(&named("news"), None).await;
    let mut errors = node.follow(&named("$errors"), None).await;
    let mut logs = node.follow(&named("$logs"), None).await;
    for _ in 0..2 {
        node.run(&source, json!({})).await;
    }
    assert_eq!(all.payloads(4).await, [1, 2, 1, 2]);
    assert_eq!(unnamed.payloads(2).await, [1, 1]);
    assert_eq!(news.payloads(2).await, [2, 2]);
    for _ in 0..2 {
        let error = errors.next().await.unwrap();
        assert_eq!(error.event.as_deref(), Some("$errors"));
        assert!(error.data.to_string().contains("boom"), "{error:?}");
        let log = logs.next().await.unwrap();
        assert_eq!(log.data["event"]["message"], "hello");
    }
}

#[tokio::test]
async fn selected_fields_do_not_hold_back_a_stream() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let path = format!("{}?include=id&exclude=event", path(&source));
    let mut following = node.follow(&path, None).await;
    emit(&node, &source, json!([[1, {}]])).await;
    assert_eq!(following.payloads(1).await, [1]);
}

#[tokio::test]
async fn wrong_parameters_are_told() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let path = path(&source);
    for id in ["x", "1", "1-", "-1-0", "01-0", "1-0-0"] {
        let answer = node.get(&format!("{path}?last_event_id={id}")).await;
        assert_eq!(answer.is(400).error()["param"], "last_event_id", "{id}");
        let request = node.request(headwater_integration::Method::GET, &path);
        let answer = node.send(request.header("last-event-id", id)).await;
        assert_eq!(answer.is(400).error()["param"], "Last-Event-ID", "{id}");
    }
    let answer = node.get(&format!("{path}?event_name=$in")).await;
    assert_eq!(answer.is(400).error()["param"], "event_name");
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("dc_"), "nonsense".to_owned()] {
        let answer = node.get(&format!("/sources/{id}/sse")).await;
        assert_eq!(answer.is(404).error()["code"], "not_found");
    }
}

#[tokio::test]
async fn a_stream_ends_with_its_source() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let mut following = node.follow(&path(&source), None).await;
    emit(&node, &source, json!([[1, {}]])).await;
    assert_eq!(following.payloads(1).await, [1]);
    node.delete(&source.path()).await.is(204);
    assert_eq!(following.next().await, None);
}
