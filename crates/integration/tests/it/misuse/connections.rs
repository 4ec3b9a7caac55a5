//! Connections that nobody means to use, and long ones that somebody does.

use headwater_integration::{Node, Raw};
use serde_json::json;

use crate::code::{EMITTER, INBOX, answering};

const HALF_A_HEAD: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: no";
const WHOLE_HEAD: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: node\r\n\r\n";

/// Connections that begin a request and do not go on.
async fn half_heads(node: &Node, count: usize) -> Vec<Raw> {
    let mut connections = Vec::new();
    for _ in 0..count {
        let mut raw = node.raw().await;
        raw.send(HALF_A_HEAD).await.unwrap();
        connections.push(raw);
    }
    connections
}

/// The value of a metric as it is now.
pub(super) async fn metric(node: &Node, name: &str) -> u64 {
    let answer = node.get("//metrics").await.is(200);
    let mut lines = answer.text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value
        .unwrap_or_else(|| panic!("no {name} in {}", answer.text))
        .parse()
        .unwrap()
}

#[tokio::test]
async fn connections_without_a_request_keep_nobody_out() {
    let node = Node::builder().flag("--max-connections=50").start().await;
    let source = node.deploy(&answering("here"), json!({})).await;
    let held = half_heads(&node, 200).await;
    // Each on a connection of its own.
    for _ in 0..20 {
        let mut client = node.raw().await;
        client.send(WHOLE_HEAD).await.unwrap();
        let answer = client.answer().await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "here");
    assert!(metric(&node, "headwater_http_connections").await <= 50);
    assert_eq!(metric(&node, "headwater_http_connections_max").await, 50);
    let closed = r#"headwater_http_connections_closed_total{reason="room"}"#;
    assert!(metric(&node, closed).await >= 150);
    assert_eq!(
        metric(&node, "headwater_http_connections_refused_total").await,
        0
    );
    drop(held);
}

#[tokio::test]
async fn connections_leave_descriptors_to_the_node() {
    let node = Node::builder().open_files(300).start().await;
    assert_eq!(metric(&node, "headwater_http_connections_max").await, 150);
    let held = half_heads(&node, 400).await;
    // Needs files, processes and pipes.
    let source = node.deploy(INBOX, json!({})).await;
    node.post(source.endpoint(), json!({"n": 1})).await.is(200);
    node.events_until(&source, |events| !events.is_empty())
        .await;
    drop(held);
}

#[tokio::test]
async fn a_head_that_does_not_come_is_given_up() {
    let node = Node::builder().flag("--head-timeout=1s").start().await;
    let mut silent = node.raw().await;
    assert_eq!(silent.rest().await, "");
    let mut half = half_heads(&node, 1).await;
    assert_eq!(half[0].rest().await, "");
    let mut second = node.raw().await;
    second.send(WHOLE_HEAD).await.unwrap();
    assert!(second.answer().await.starts_with("HTTP/1.1 200 "));
    second.send(HALF_A_HEAD).await.unwrap();
    let rest = second.rest().await;
    assert!(!rest.contains("HTTP/1.1 200 "), "{rest}");
    let closed = r#"headwater_http_connections_closed_total{reason="head"}"#;
    assert!(metric(&node, closed).await >= 3);
}

#[tokio::test]
async fn streams_and_slow_answers_outlast_the_idle_time() {
    let node = Node::builder().flag("--idle-timeout=1s").start().await;
    let slow = r#"export default {
        name: "Slow", version: "0.0.1",
        props: { http: { type: "$.interface.http", customResponse: true } },
        async run() {
          await new Promise((resolve) => setTimeout(resolve, 3000));
          this.http.respond({ status: 200, body: "at last" });
        },
      };"#;
    let slow = node.deploy(slow, json!({})).await;
    let source = node.deploy(EMITTER, json!({})).await;
    let mut stream = node.follow(&format!("{}/sse", source.path()), None).await;
    let mut idle = node.raw().await;
    idle.send(WHOLE_HEAD).await.unwrap();
    let answering = node.get(slow.endpoint());
    let (ended, answer) = tokio::join!(idle.rest(), answering);
    assert!(ended.starts_with("HTTP/1.1 200 "), "{ended}");
    assert_eq!(answer.is(200).text, "at last");
    node.run(&source, json!({"emits": [["late", {}]]})).await;
    assert_eq!(stream.payloads(1).await, [json!("late")]);
}

#[tokio::test]
async fn http_2_is_spoken_with_whoever_begins_it() {
    let node = Node::start().await;
    let client = reqwest::Client::builder()
        .no_proxy()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    for _ in 0..2 {
        let request = client.get(format!("{}/healthz", node.url()));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.version(), reqwest::Version::HTTP_2);
        assert_eq!(answer.status(), 200);
    }
}

#[tokio::test]
async fn heads_have_one_bound_in_both_versions() {
    let node = Node::start().await;
    let client = || reqwest::Client::builder().no_proxy();
    for client in [client(), client().http2_prior_knowledge()] {
        let client = client.build().unwrap();
        for (header_kib, status) in [(60, 200), (68, 431)] {
            let request = client.get(format!("{}/healthz", node.url()));
            let request = request.header("x-large", "x".repeat(header_kib * 1024));
            let answer = request.send().await.unwrap();
            let version = answer.version();
            assert_eq!(answer.status(), status, "{version:?}, {header_kib} KiB");
        }
    }
}
