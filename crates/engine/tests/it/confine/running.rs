//! Doors out of a running component: sockets of the machine, storage that others use, the machine's drivers.

use std::os::{
    linux::net::SocketAddrExt as _,
    unix::net::{SocketAddr, UnixListener},
};

use headwater_engine::network::Route;
use serde_json::{Value, json};

use super::building::has_landlock;
use crate::{
    harness::{Node, Source},
    support,
};

async fn attempts(node: &Node, source: &Source, event: Value) -> Vec<Value> {
    let messages = node.run(source, event).await;
    let Value::Array(attempts) = messages.returned() else {
        panic!("{messages:?}")
    };
    attempts
}

async fn all_refused(node: &Node, event: Value) {
    let attempts = attempts(node, &Source::named("confined"), event.clone()).await;
    assert!(!attempts.is_empty());
    let got: Vec<_> = attempts
        .iter()
        .filter(|one| one.get("got").is_some())
        .collect();
    assert!(got.is_empty(), "{event}: {got:?}");
}

/// A socket that every process of the machine can reach, as service buses have one.
fn abstract_socket() -> (UnixListener, String) {
    // Of this test alone: tests have threads of their own, and runs processes.
    let (process, thread) = (std::process::id(), std::thread::current().id());
    let name = format!("headwater-test-{process}-{thread:?}");
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    (UnixListener::bind_addr(&address).unwrap(), name)
}

#[tokio::test(flavor = "multi_thread")]
async fn abstract_sockets_are_out_of_reach() {
    let (_listener, name) = abstract_socket();
    let node = Node::start().await;
    assert!(node.engine.status().sandbox["abstract_sockets"]);
    all_refused(&node, json!({"deed": "connect", "name": name})).await;
    let own = format!("{name}-own");
    all_refused(&node, json!({"deed": "listen", "name": own})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_the_nodes_own_socket_no_other_is_reached_where_the_kernel_can_tell() {
    let (_listener, name) = abstract_socket();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("api.sock");
    let _api = tokio::net::UnixListener::bind(&socket).unwrap();
    let node = Node::with(|config| {
        config.routes = vec![Route::to_this_node("api.headwater.test")];
        config.api_socket = Some(socket);
    })
    .await;
    // A node on another kernel says so, and warns at the start.
    if node.engine.status().sandbox["abstract_sockets"] {
        all_refused(&node, json!({"deed": "connect", "name": name})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_source_keeps_no_other_finds() {
    let node = Node::start().await;
    let (alice, bob) = (Source::named("confined"), Source::named("confined"));
    let kept = attempts(&node, &alice, json!({"deed": "keep", "text": "alices"})).await;
    let found = attempts(&node, &bob, json!({"deed": "find"})).await;
    for (kept, found) in kept.iter().zip(&found) {
        assert!(
            kept.get("refused").is_some() && found.get("refused").is_some(),
            "{kept} {found}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_machines_graphics_driver_is_not_loaded() {
    let node = Node::start().await;
    all_refused(&node, json!({"deed": "graphics"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_tell_nothing_of_the_machine() {
    let node = Node::start().await;
    if !node.engine.status().sandbox["own_root"] {
        return;
    }
    let source = Source::named("confined");
    let paths = attempts(&node, &source, json!({"deed": "paths"})).await;
    let got: Vec<_> = paths
        .iter()
        .map(|path| path["got"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        got[..4],
        ["/tmp", "/tmp", "/code", "file:///code/component.mjs"],
        "{paths:?}"
    );
    assert!(got[4].starts_with("/tmp/a-"), "{paths:?}");
    assert_eq!(got[5], "true", "{paths:?}");
    let facts = attempts(&node, &source, json!({"deed": "identity"})).await;
    assert_ne!(facts[0]["got"], "0", "a component is never root: {facts:?}");
    assert_eq!(
        facts[1..3],
        [json!({"got": "true"}), json!({"got": "true"})]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_component_is_read_where_only_landlock_confines() {
    if !has_landlock().await {
        return;
    }
    let node = Node::sharing(|config| {
        config.confinement = support::confinement_without("Namespaces");
    })
    .await;
    for _ in 0..2 {
        let mut source = Source::named("files");
        source.spec.tenant = "one".into();
        let read = node.run(&source, Value::Null).await;
        assert_eq!(read.returned(), "linked");
    }
    assert_eq!(node.engine.status().source_workers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn components_run_where_only_landlock_confines() {
    if !has_landlock().await {
        return;
    }
    let (_listener, name) = abstract_socket();
    let node = Node::with(|config| {
        config.confinement = support::confinement_without("Namespaces");
    })
    .await;
    let layers = node.engine.status().sandbox;
    assert_eq!((layers["own_root"], layers["confined"]), (false, true));
    all_refused(&node, json!({"deed": "connect", "name": name})).await;
    let escape = Source::named("escape");
    for deed in ["files", "processes"] {
        let attempts = attempts(&node, &escape, json!({"deed": deed, "port": 1})).await;
        let got: Vec<_> = attempts
            .iter()
            .filter(|one| one.get("got").is_some())
            .collect();
        assert!(got.is_empty(), "{deed}: {got:?}");
    }
    let echo = Source::named("steer");
    let echoed = node.run(&echo, json!({"deed": "echo", "value": 1})).await;
    assert_eq!(echoed.returned(), 1);
}
