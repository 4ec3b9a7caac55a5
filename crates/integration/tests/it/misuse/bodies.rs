//! Bodies that nobody wants, that do not end, or that are too many at once.

use futures::{StreamExt as _, stream::FuturesUnordered};
use headwater_integration::{Method, Node, Raw, Source};
use serde_json::{Value, json};

use super::connections::metric;
use crate::code::INBOX;

const MIB: usize = 1024 * 1024;
/// As much as a body at an endpoint may have.
const BODY_BYTES: usize = 10 * MIB;
const CLIENTS: usize = 100;
/// As much as a body at the API may have.
const API_BODY_BYTES: usize = 20 * MIB;
/// As little room as a node may have.
const LEAST_ROOM: &str = "--bodies-memory-mib=112";
/// One user's large bodies: half of three quarters of it.
const SHARE: usize = 42 * MIB;
/// The largest bodies at endpoints that one user's share of that room has place for.
const FIT: usize = 4;
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

/// Waits until the bodies in the node's memory have so many bytes.
async fn taken_until(node: &Node, wanted: usize) {
    while metric(node, "headwater_http_bodies_bytes").await != wanted as u64 {}
}

/// Connections that have each sent all of a body but its last byte, to a node that has read all of it.
async fn holding(node: &Node, path: &str, bytes: usize, count: usize) -> Vec<Raw> {
    let unfinished = vec![b'x'; bytes - 1];
    let mut clients = Vec::new();
    for number in 1..=count {
        let mut client = announced(node, path, bytes).await;
        client.send(&unfinished).await.unwrap();
        clients.push(client);
        taken_until(node, number * unfinished.len()).await;
    }
    clients
}

/// Sends a body up to the byte for which there is no room, and checks the answer.
async fn refused_at(node: &Node, path: &str, bytes: usize) {
    let mut client = announced(node, path, BODY_BYTES).await;
    client.send(&vec![b'x'; bytes]).await.unwrap();
    let answer = client.rest().await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{path}: {answer}");
    assert!(answer.contains("retry-after: 1\r\n"), "{path}: {answer}");
    assert_eq!(error(&answer)["code"], "unavailable", "{path}");
}

#[tokio::test]
async fn unfinished_bodies_take_a_bounded_memory_and_small_ones_come_first() {
    let node = Node::builder().flag(LEAST_ROOM).start().await;
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
    // A quarter of the share is for small bodies, and in the rest a few of these have their place.
    for _ in FIT..CLIENTS {
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
async fn one_users_bodies_leave_room_for_those_of_others() {
    let node = Node::builder().flag(LEAST_ROOM).start().await;
    let mine = node.deploy(INBOX, json!({})).await;
    let bob = node.user("bob").await;
    let workspace = bob.post("/workspaces", json!({"orgname": "bobs"}));
    let workspace = workspace.await.is(200).data();
    let mut paths = Vec::new();
    for workspace in [&Value::Null, &workspace["id"]] {
        let body = json!({"component_code": INBOX, "workspace_id": workspace});
        let source = bob.post("/sources", body).await.is(200).data();
        paths.push(path(&node, &Source::new(source)));
    }
    let held = holding(&node, &paths[0], BODY_BYTES, FIT).await;
    // A workspace has no share of its own: anybody may make one.
    for path in &paths {
        refused_at(&node, path, SHARE - FIT * (BODY_BYTES - 1) + 1).await;
    }
    let large = json!({"large": "x".repeat(BODY_BYTES - 100)});
    node.post(mine.endpoint(), large).await.is(200);
    drop(held);
}

#[tokio::test]
async fn a_body_without_room_is_told_to_come_again() {
    let node = Node::builder().flag(LEAST_ROOM).start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let held = holding(&node, "/v1/components", API_BODY_BYTES, 2).await;
    for path in [path(&node, &source).as_str(), "/v1/components"] {
        refused_at(&node, path, SHARE - 2 * (API_BODY_BYTES - 1) + 1).await;
    }
    drop(held);
    taken_until(&node, 0).await;
    let large = json!({"large": "x".repeat(5 * MIB)});
    node.post(source.endpoint(), large).await.is(200);
}

#[tokio::test]
async fn the_event_that_a_body_becomes_has_a_bound_too() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    // Twelve bytes of the event each: six in the body, six in its raw text.
    for (characters, status) in [(2 * MIB, 200), (BODY_BYTES, 413)] {
        let request = node.request(Method::POST, source.endpoint());
        let request = request.header("content-type", "text/plain");
        let answer = node.send(request.body("\x01".repeat(characters))).await;
        let answer = answer.is(status);
        assert!(
            status == 200 || answer.error()["code"] == "payload_too_large",
            "{}",
            answer.text
        );
    }
    taken_until(&node, 0).await;
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
