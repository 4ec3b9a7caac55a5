//! Bodies that nobody wants, that do not end, or that are too many at once.

use futures::{StreamExt as _, stream::FuturesUnordered};
use headwater_integration::{Node, Raw, Source};
use serde_json::{Value, json};

use crate::code::INBOX;

const MIB: usize = 1024 * 1024;
/// As much as a body at an endpoint may have.
const BODY_BYTES: usize = 10 * MIB;
const CLIENTS: usize = 100;
/// Far below what the bodies would take, far above what a node needs besides.
const GROWTH_KIB: u64 = 200 * 1024;

/// A connection on which a body of that size is announced.
async fn announced(node: &Node, path: &str, bytes: usize) -> Raw {
    let mut raw = node.raw().await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: node\r\nAuthorization: Bearer {}\r\nContent-Length: {bytes}\r\n\r\n",
        node.api_key()
    );
    raw.send(head.as_bytes()).await.unwrap();
    raw
}

fn path(node: &Node, source: &Source) -> String {
    source.endpoint().trim_start_matches(&node.url()).to_owned()
}

fn error(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<Value>(body).unwrap()["error"].take()
}

#[tokio::test]
async fn a_body_for_nobody_is_refused_before_it_is_read() {
    let node = Node::start().await;
    let before = node.resident_kib();
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(announced(&node, "/e/nosuchtoken", BODY_BYTES).await);
    }
    for client in &mut clients {
        let answer = client.answer().await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    }
    let unfinished = vec![b'x'; BODY_BYTES - 1];
    for client in &mut clients {
        // How much the system takes before the node's end of the connection shows is not said.
        let _ = client.send(&unfinished).await;
    }
    let growth = node.resident_kib().saturating_sub(before);
    assert!(growth < GROWTH_KIB, "grew by {growth} KiB");
}

#[tokio::test]
async fn a_form_for_no_link_is_refused_before_it_is_read() {
    let node = Node::start().await;
    let mut client = announced(&node, "/connect/apify?token=guess", 100_000).await;
    let answer = client.answer().await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test]
async fn unfinished_bodies_take_a_bounded_memory_and_small_ones_come_first() {
    let node = Node::builder().flag("--bodies-memory-mib=16").start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let path = path(&node, &source);
    let before = node.resident_kib();
    let unfinished = vec![b'x'; BODY_BYTES - 1];
    let mut refused = FuturesUnordered::new();
    for _ in 0..CLIENTS {
        let mut client = announced(&node, &path, BODY_BYTES).await;
        let unfinished = &unfinished;
        refused.push(async move {
            let _ = client.send(unfinished).await;
            client.rest().await
        });
    }
    // A quarter of the room is for small bodies, and in the rest one of these has its place.
    for _ in 1..CLIENTS {
        let answer = refused.next().await.unwrap();
        // A reset may overtake the answer.
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 503 "),
            "{answer}"
        );
    }
    let growth = node.resident_kib().saturating_sub(before);
    assert!(growth < GROWTH_KIB, "grew by {growth} KiB");
    node.post(source.endpoint(), json!({"small": true}))
        .await
        .is(200);
}

#[tokio::test]
async fn a_body_without_room_is_told_to_come_again() {
    let node = Node::builder().flag("--bodies-memory-mib=8").start().await;
    let source = node.deploy(INBOX, json!({})).await;
    for path in [path(&node, &source).as_str(), "/v1/components"] {
        let mut client = announced(&node, path, BODY_BYTES).await;
        // Three quarters of the room, and one byte.
        client.send(&vec![b'x'; 6 * MIB + 1]).await.unwrap();
        let answer = client.rest().await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "{path}: {answer}");
        assert!(answer.contains("retry-after: 1\r\n"), "{path}: {answer}");
        assert_eq!(error(&answer)["code"], "unavailable", "{path}");
    }
    // The room was given back.
    let large = json!({"large": "x".repeat(5 * MIB)});
    node.post(source.endpoint(), large).await.is(200);
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let node = Node::builder().flag("--body-timeout=1s").start().await;
    let source = node.deploy(INBOX, json!({})).await;
    for path in [path(&node, &source).as_str(), "/v1/components"] {
        let mut client = announced(&node, path, 100).await;
        client.send(b"{\"a\":").await.unwrap();
        let answer = client.rest().await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{path}: {answer}");
        assert_eq!(error(&answer)["code"], "request_timeout", "{path}");
    }
}
