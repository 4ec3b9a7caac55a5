//! The reasons that empty lists give, each as it comes about.

use headwater_integration::{Node, Source};
use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::code::{COUNTING, EMITTER, INBOX, emitter};

/// The events of a source as its page shows them.
async fn events(node: &Node, source: &Source) -> String {
    let visitor = Visitor::of(node).await;
    let path = format!("/sources/{}/events", source.id);
    visitor.get(&path).await.is(200).text
}

fn assert_says(page: &str, reason: &str) {
    assert!(page.contains(reason), "{reason}: {page}");
    assert_eq!(page.matches("class=\"empty\"").count(), 1, "{page}");
}

#[tokio::test]
async fn a_source_that_never_ran_says_for_what_it_waits() {
    let node = Node::start().await;
    let by_hand = node.deploy(EMITTER, json!({})).await;
    let page = events(&node, &by_hand).await;
    assert_says(&page, "It has not run yet.");
    let next = format!("href=\"/webhooks/new?source={}\"", by_hand.id);
    assert!(page.contains(&next), "{page}");
    node.webhook_for(&by_hand.id, "https://receiver.example/in")
        .await;
    let page = events(&node, &by_hand).await;
    assert!(!page.contains(&next), "{page}");
    let inbox = node.deploy(INBOX, json!({})).await;
    let page = events(&node, &inbox).await;
    assert_says(&page, "Nothing was sent to its endpoint yet.");
    assert!(page.contains("It waits for a request"), "{page}");
    let active = json!({"active": false});
    node.patch(&inbox.path(), active).await.is(200);
    // The hook of pausing is not a run.
    assert_says(&events(&node, &inbox).await, "The source is paused");
}

#[tokio::test]
async fn runs_that_emitted_nothing_and_failures_are_reasons() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    for _ in 0..2 {
        node.run(&source, json!({"emits": []})).await;
    }
    assert_says(&events(&node, &source).await, "Its 2 runs emitted nothing.");
    node.run(&source, json!({"emits": "nothing of the kind".len()}))
        .await;
    assert_says(&events(&node, &source).await, "The last run failed: ");
}

#[tokio::test]
async fn dedupe_is_a_reason_as_long_as_nothing_else_is() {
    let node = Node::start().await;
    let source = node.deploy(&emitter("unique"), json!({})).await;
    let same = json!({"emits": [["one", {"id": 1}]]});
    node.run(&source, same.clone()).await;
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    node.events_until(&source, <[Value]>::is_empty).await;
    node.run(&source, same).await;
    // It did emit, and somebody has deleted it: that dedupe dropped the second one is not why.
    let page = events(&node, &source).await;
    assert_says(&page, "Nothing that it emitted is kept any more.");
    assert!(page.contains("emitted 1 event, which"), "{page}");
}

#[tokio::test]
async fn what_dedupe_dropped_is_told_when_nothing_was_ever_emitted_by_the_kept_runs() {
    let node = Node::builder().flag("--retained-runs=1").start().await;
    let source = node.deploy(&emitter("unique"), json!({})).await;
    let same = json!({"emits": [["one", {"id": 1}]]});
    for _ in 0..3 {
        node.run(&source, same.clone()).await;
    }
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    node.events_until(&source, <[Value]>::is_empty).await;
    let runs = format!("{}/runs", source.path());
    while node.get(&runs).await.is(200).items().len() > 1 {
        tokio::task::yield_now().await;
    }
    assert_says(&events(&node, &source).await, "Dedupe dropped all that its");
}

#[tokio::test]
async fn retention_is_a_reason_only_after_something_was_emitted() {
    let node = Node::start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    for _ in 0..2 {
        node.run(&source, json!({})).await;
    }
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    node.events_until(&source, <[Value]>::is_empty).await;
    let page = events(&node, &source).await;
    assert_says(&page, "Nothing that it emitted is kept any more.");
    assert!(page.contains("Its 2 runs emitted 2 events"), "{page}");
}

#[tokio::test]
async fn filters_are_named_as_the_reason_with_a_way_out() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [["one", {}]]})).await;
    let visitor = Visitor::of(&node).await;
    let base = format!("/sources/{}", source.id);
    for (path, reason, way) in [
        (
            format!("{base}/events?channel=other"),
            "The filter leaves out what its 1 run",
            "/events\"",
        ),
        (
            format!("{base}/events?channel=$errors"),
            "No error is kept",
            "/events\"",
        ),
        (
            format!("{base}/events?channel=$in"),
            "No event waits for its time",
            "/events\"",
        ),
        (
            format!("{base}/runs?outcome=failed"),
            "No run that is kept has failed",
            "Show all runs",
        ),
        (
            "/events?q=nothing-like-it".to_owned(),
            "The filter left out all 1 that it looked at",
            "Show all events",
        ),
        (
            "/deliveries?answer=5xx".to_owned(),
            "No delivery is like this",
            "Show all deliveries",
        ),
        (
            "/sources?q=nothing-like-it".to_owned(),
            "None of the sources is like this",
            "Show all sources",
        ),
        (
            "/runs?status=any&q=nothing-like-it".to_owned(),
            "No kept run is like this",
            "Show all runs in this state",
        ),
        (
            "/settings/audit?action=user.delete".to_owned(),
            "No act is like this",
            "Show all acts",
        ),
        (format!("{base}/errors"), "No error is kept", ""),
        (
            format!("{base}/logs"),
            "Its code wrote nothing that is kept",
            "",
        ),
    ] {
        let page = visitor.get(&path).await.is(200).text;
        assert!(
            page.contains(reason) && page.contains(way),
            "{path}: {reason}: {page}"
        );
    }
}

#[tokio::test]
async fn lists_of_a_new_node_say_how_to_begin() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    for (path, reason) in [
        ("/sources", "There are no sources here yet"),
        ("/workflows", "There are no workflows here yet"),
        ("/accounts", "There are no accounts here yet"),
        ("/data", "There are no data stores here yet"),
        ("/webhooks", "Nothing is sent anywhere yet"),
        ("/deliveries", "Nothing was sent to a webhook yet"),
        (
            "/events",
            "No source or workflow has emitted an event that is kept",
        ),
        ("/runs", "Nothing has run yet"),
    ] {
        let page = visitor.get(path).await.is(200).text;
        assert!(page.contains(reason), "{path}: {page}");
    }
}
