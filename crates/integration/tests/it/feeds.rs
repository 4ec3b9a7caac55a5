//! Streams of events over the life of a node: restarts, slow readers, and a client of somebody else's.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
};

use headwater_integration::{Node, Source};
use serde_json::{Value, json};

use crate::code::EMITTER;

fn path(source: &Source) -> String {
    format!("{}/sse", source.path())
}

async fn emit(node: &Node, source: &Source, numbers: std::ops::Range<u64>) {
    let emits: Vec<_> = numbers.map(|number| json!([number, {}])).collect();
    node.run(source, json!({"emits": emits})).await;
}

#[tokio::test]
async fn a_reader_comes_again_after_kill_9_without_gap_or_repeat() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let mut last = "0-0".to_owned();
    for life in 0..3 {
        let mut following = node.follow(&path(&source), Some(&last)).await;
        emit(&node, &source, life * 10..life * 10 + 10).await;
        // Half of them are read when the node dies; the rest is replayed by the next one.
        let from = if life == 0 { 0 } else { life * 10 - 5 };
        for number in from..life * 10 + 5 {
            let message = following.next().await.unwrap();
            assert_eq!(message.data["event"], number);
            last = message.id;
        }
        drop(following);
        node.kill_9();
        node.restart().await;
    }
    let mut following = node.follow(&path(&source), Some(&last)).await;
    assert_eq!(following.payloads(5).await, [25, 26, 27, 28, 29]);
}

#[tokio::test]
async fn a_burst_over_retention_is_read_whole() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let mut following = node.follow(&path(&source), None).await;
    for burst in 0..3 {
        emit(&node, &source, burst * 1000..(burst + 1) * 1000).await;
    }
    let expected: Vec<_> = (0..3000).map(Value::from).collect();
    assert_eq!(following.payloads(3000).await, expected);
}

#[tokio::test]
async fn streams_end_when_the_node_is_asked_to_stop() {
    let mut node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let mut following = node.follow(&path(&source), None).await;
    node.ask_to_stop();
    assert_eq!(following.next().await, None);
    assert!(node.wait().await.success());
}

#[tokio::test]
async fn a_reader_that_never_reads_loses_its_place_and_the_others_go_on() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Large",
  version: "0.0.1",
  run({ n }) { this.$emit({ n, data: "x".repeat(1 << 20) }); },
};
"#;
    let source = node.deploy(code, json!({})).await;
    let mut hanging = TcpStream::connect(node.url().strip_prefix("http://").unwrap()).unwrap();
    write!(
        hanging,
        "GET /v1{} HTTP/1.1\r\nhost: node\r\nauthorization: Bearer {}\r\n\r\n",
        path(&source),
        node.api_key()
    )
    .unwrap();
    let mut hanging = BufReader::new(hanging);
    let mut line = String::new();
    while line != ":sse-handshake\n" {
        line.clear();
        hanging.read_line(&mut line).unwrap();
    }
    let mut following = node.follow(&path(&source), None).await;
    for number in 0..40 {
        node.run(&source, json!({"n": number})).await;
        let message = following.next().await.unwrap();
        assert_eq!(message.data["event"]["n"], number);
    }
    // The chunked body ends in good order once what the sockets held is read.
    let messages = tokio::task::spawn_blocking(move || {
        let mut messages = 0;
        let mut line = String::new();
        while line != "0\r\n" {
            line.clear();
            assert!(hanging.read_line(&mut line).unwrap() > 0, "cut off");
            messages += usize::from(line.starts_with("id: "));
        }
        messages
    });
    assert!(messages.await.unwrap() < 40);
}

/// The npm package that brings `EventSource` to where it is not built in.
#[tokio::test]
async fn a_clients_library_reads_across_a_restart() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    emit(&node, &source, 0..3).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/feeds/event_source.ts");
    let deno = std::env::var("HEADWATER_DENO").unwrap_or_else(|_| "deno".to_owned());
    let mut client = Command::new(deno)
        .args(["run", "--quiet", "--no-config", "--no-lock", "-A"])
        .arg(script)
        .arg(format!("{}/v1{}", node.url(), path(&source)))
        .env("API_KEY", node.api_key())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut expect = |number: u64| {
        let line = lines.next().expect("the client goes on").unwrap();
        assert_eq!(line, format!("message {number}"));
    };
    (0..3).for_each(&mut expect);
    emit(&node, &source, 3..5).await;
    (3..5).for_each(&mut expect);
    node.restart().await;
    emit(&node, &source, 5..8).await;
    (5..8).for_each(&mut expect);
    let news = json!([[8, {"name": "news"}]]);
    node.run(&source, json!({"emits": news})).await;
    assert_eq!(lines.next().unwrap().unwrap(), "news 8");
    client.kill().unwrap();
    client.wait().unwrap();
}
