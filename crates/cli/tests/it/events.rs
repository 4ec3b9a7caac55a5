//! `events` and `logs`, once and followed: order, paging, nothing twice and nothing left out.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::node::{Node, Received};

const EVENTS: &str = "GET /v1/sources/dc_1/event_summaries";

/// The numbers of the events emitted so far, oldest first, paged as the API pages.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<usize>>>);

impl Log {
    fn emit(&self, count: usize) {
        let mut log = self.0.lock().unwrap();
        let next = log.len();
        log.extend(next..next + count);
    }

    fn serve(&self, node: &Node) {
        let log = self.clone();
        node.on(EVENTS, move |request| (200, log.page(request)));
    }

    fn page(&self, request: &Received) -> Value {
        let cursor = |name: &str| -> Option<usize> { request.query.get(name)?.parse().ok() };
        let limit = cursor("limit").unwrap_or(10);
        assert!((1..=100).contains(&limit));
        let mut newest_first = self.0.lock().unwrap().clone();
        newest_first.reverse();
        if let Some(after) = cursor("after") {
            newest_first.retain(|number| *number < after);
        }
        if let Some(before) = cursor("before") {
            newest_first.retain(|number| *number > before);
            let adjacent = newest_first.len().saturating_sub(limit);
            newest_first.drain(..adjacent);
        }
        newest_first.truncate(limit);
        let events: Vec<_> = newest_first.iter().map(|number| event(*number)).collect();
        let cursor = |number: Option<&usize>| number.map(ToString::to_string);
        json!({
            "page_info": {
                "start_cursor": cursor(newest_first.first()),
                "end_cursor": cursor(newest_first.last()),
            },
            "data": events,
        })
    }
}

fn event(number: usize) -> Value {
    json!({
        "id": format!("0-{number}"), "indexed_at_ms": number, "event": {"number": number},
        "metadata": {"name": "", "emit_id": "e", "emitter_id": "dc_1"},
    })
}

struct Following {
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Following {
    fn start(node: &Node, arguments: &[&str]) -> Self {
        let mut command = node.command(arguments);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        Self {
            lines: BufReader::new(stdout).lines(),
            _child: child,
        }
    }

    async fn numbers(&mut self, count: usize) -> Vec<usize> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let line = tokio::time::timeout(Duration::from_secs(30), self.lines.next_line());
            let line = line.await.unwrap().unwrap().unwrap();
            let event: Value = serde_json::from_str(&line).unwrap();
            numbers.push(event["event"]["number"].as_u64().unwrap() as usize);
        }
        numbers
    }
}

#[tokio::test]
async fn people_read_the_latest_events_oldest_first() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(5);
    let seen = node
        .run(&["events", "dc_1", "-n", "2", "--channel", "$errors"])
        .await;
    assert_eq!(
        seen.stdout,
        "1970-01-01T00:00:00.003Z  -  {\"number\":3}\n\
         1970-01-01T00:00:00.004Z  -  {\"number\":4}\n"
    );
    assert_eq!(node.received(EVENTS)[0].query["event_name"], "$errors");
}

#[tokio::test]
async fn more_than_a_page_is_read_over_several() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(300);
    let seen = node.run(&["events", "dc_1", "-n", "250", "--json"]).await;
    let events = seen.json();
    let events = events.as_array().unwrap();
    assert_eq!(events.len(), 250);
    // As the API lists them: newest first.
    assert_eq!(events[0]["event"]["number"], 299);
    assert_eq!(events[249]["event"]["number"], 50);
    assert_eq!(node.received(EVENTS)[0].query["expand"], "event");
}

#[tokio::test]
async fn following_hands_out_every_event_once_and_in_order() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(5);
    let mut following = Following::start(&node, &["events", "dc_1", "-f", "--json", "-n", "2"]);
    assert_eq!(following.numbers(2).await, [3, 4]);
    // More than a page between two polls.
    log.emit(250);
    let numbers = following.numbers(250).await;
    assert_eq!(numbers, (5..255).collect::<Vec<_>>());
}

#[tokio::test]
async fn following_starts_before_the_first_event_and_survives_a_failing_node() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    let mut following = Following::start(&node, &["events", "dc_1", "-f", "--json"]);
    while node.received(EVENTS).is_empty() {
        tokio::task::yield_now().await;
    }
    node.on(EVENTS, |_| {
        (503, json!({"error": {"message": "restarting"}}))
    });
    log.emit(150);
    let failed_from = node.received(EVENTS).len();
    while node.received(EVENTS).len() == failed_from {
        tokio::task::yield_now().await;
    }
    log.serve(&node);
    let numbers = following.numbers(150).await;
    assert_eq!(numbers, (0..150).collect::<Vec<_>>());
}

#[tokio::test]
async fn following_from_now_on_shows_nothing_older() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(5);
    let mut following = Following::start(&node, &["events", "dc_1", "-f", "--json", "-n", "0"]);
    while node.received(EVENTS).is_empty() {
        tokio::task::yield_now().await;
    }
    // The second poll proves that the first was answered before the next event.
    while node.received(EVENTS).len() < 2 {
        tokio::task::yield_now().await;
    }
    log.emit(1);
    assert_eq!(following.numbers(1).await, [5]);
}

#[tokio::test]
async fn following_ends_when_the_source_is_gone() {
    let node = Node::start().await;
    let seen = node.run(&["events", "dc_1", "-f"]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.contains("hint: `headwater list`"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn logs_are_lines_of_time_level_and_message() {
    let node = Node::start().await;
    let log = json!({"level": "info", "message": "hello", "ts": 1, "invocation_id": "i_1"});
    let summary = json!({"id": "1-0", "indexed_at_ms": 1, "event": log});
    node.list("GET /v1/sources/dc_1/logs", json!([summary]));
    let seen = node.run(&["logs", "dc_1"]).await;
    assert_eq!(seen.stdout, "1970-01-01T00:00:00.001Z  info   hello\n");
}
