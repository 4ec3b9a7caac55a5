//! A timer source of ten lines polls a feed with a parser from npm and emits each item once.

use headwater_integration::{FeedServer, Node, fields};
use serde_json::json;

const RSS: &str = include_str!("../../../../../examples/rss-timer.mjs");

#[tokio::test]
async fn each_item_of_a_feed_is_emitted_once() {
    let feed = FeedServer::start(&["one", "two"]).await;
    let node = Node::builder().private_network().start().await;
    let props = json!({"url": feed.url(), "timer": {"intervalSeconds": 1}});
    let source = node.deploy(RSS, props).await;

    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(fields(&events, "title"), ["one", "two"]);

    feed.publish(&["one", "two", "three"]);
    node.events_until(&source, |events| events.len() > 2).await;
    feed.publish(&["one", "two", "three", "four"]);
    let events = node.events_until(&source, |events| events.len() > 3).await;
    assert_eq!(fields(&events, "title"), ["one", "two", "three", "four"]);
    assert_eq!(fields(&events, "link")[3], "https://news.example/four");
    assert_eq!(node.channel(&source, "$errors").await.len(), 0);
}
