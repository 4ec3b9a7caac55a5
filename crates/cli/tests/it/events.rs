//! `events` and `logs`, once and followed: order, paging, nothing twice and nothing left out.

use std::convert::Infallible;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};
use tokio::sync::watch;

use crate::node::{Node, Received};

const EVENTS: &str = "GET /v1/sources/dc_1/event_summaries";
const FEED: &str = "GET /v1/sources/dc_1/sse";

#[derive(Clone, Default)]
struct State {
    emitted: usize,
    hung_up: usize,
}

/// Numbered events, of which so many were emitted so far; paged and streamed as the API does.
#[derive(Clone, Default)]
struct Log(Arc<watch::Sender<State>>);

impl Log {
    fn emit(&self, count: usize) {
        self.0.send_modify(|state| state.emitted += count);
    }

    /// Ends the streams.
    fn hang_up(&self) {
        self.0.send_modify(|state| state.hung_up += 1);
    }

    fn serve(&self, node: &Node) {
        let log = self.clone();
        node.on(EVENTS, move |request| (200, log.page(request)));
        let log = self.clone();
        node.stream(FEED, move |request| log.stream(request));
    }

    /// Messages cut into pieces, wherever that may be.
    fn stream(&self, request: &Received) -> impl Stream<Item = Result<String, Infallible>> + use<> {
        let last = request.last_event_id.as_deref().unwrap();
        let next: usize = last.split_once('-').unwrap().1.parse().unwrap();
        let state = self.0.subscribe();
        let hung_up = state.borrow().hung_up;
        let messages = stream::unfold((state, next), move |(mut state, next)| async move {
            let ready = |state: &State| state.hung_up > hung_up || state.emitted > next;
            let seen = state.wait_for(ready).await.ok()?.clone();
            if seen.hung_up > hung_up {
                return None;
            }
            let message = format!("id: {}\ndata: {}\n\n", number_id(next), event(next));
            let (one, two) = message.split_at(message.len() / 2);
            let pieces = [":sse-handshake\n\n", one, two].map(|piece| Ok(piece.to_owned()));
            Some((stream::iter(pieces), (state, next + 1)))
        });
        messages.flatten()
    }

    fn page(&self, request: &Received) -> Value {
        let cursor = |name: &str| -> Option<usize> { request.query.get(name)?.parse().ok() };
        let limit = cursor("limit").unwrap_or(10);
        assert!((1..=100).contains(&limit));
        let mut newest_first: Vec<usize> = (0..self.0.borrow().emitted).rev().collect();
        if let Some(after) = cursor("after") {
            newest_first.retain(|number| *number < after);
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

/// No event has the id that is before all of them.
fn number_id(number: usize) -> String {
    format!("0-{}", number + 1)
}

fn event(number: usize) -> Value {
    json!({
        "id": number_id(number), "indexed_at_ms": number, "event": {"number": number},
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

/// Waits until the stream was asked for so often.
async fn requested(node: &Node, count: usize) {
    while node.received(FEED).len() < count {
        tokio::task::yield_now().await;
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
    assert_eq!(events[0]["event"]["number"], 50);
    assert_eq!(events[249]["event"]["number"], 299);
    assert_eq!(node.received(EVENTS)[0].query["expand"], "event");
}

#[tokio::test]
async fn events_of_a_time_and_later_are_read_over_several_pages() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(300);
    let seen = node.run(&["events", "dc_1", "--since", "120"]).await;
    let first = "1970-01-01T00:00:00.120Z  -  {\"number\":120}\n";
    assert!(seen.stdout.starts_with(first), "{}", seen.stdout);
    assert_eq!(seen.stdout.lines().count(), 180);
    assert_eq!(node.received(EVENTS).len(), 2);
    let few = [
        "events",
        "dc_1",
        "--since",
        "1970-01-01T00:00:00.120Z",
        "-n",
        "3",
    ];
    assert_eq!(node.run(&few).await.stdout.lines().count(), 3);
    let wrong = node.run(&["events", "dc_1", "--since", "noon"]).await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("90s, 30m or 1h"), "{}", wrong.stderr);
    let both = ["events", "dc_1", "0-1", "--since", "1h"];
    assert_eq!(node.run(&both).await.code, 2);
}

#[tokio::test]
async fn following_since_a_time_goes_on_from_there() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(5);
    let follow = ["events", "dc_1", "-f", "--json", "--since", "3"];
    let mut following = Following::start(&node, &follow);
    assert_eq!(following.numbers(2).await, [3, 4]);
    log.emit(1);
    assert_eq!(following.numbers(1).await, [5]);
}

#[tokio::test]
async fn following_hands_out_every_event_once_and_in_order() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(5);
    let mut following = Following::start(&node, &["events", "dc_1", "-f", "--json", "-n", "2"]);
    assert_eq!(following.numbers(2).await, [3, 4]);
    log.emit(250);
    let numbers = following.numbers(250).await;
    assert_eq!(numbers, (5..255).collect::<Vec<_>>());
}

#[tokio::test]
async fn following_starts_before_the_first_event_and_survives_a_node_that_fails() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    let mut following = Following::start(&node, &["events", "dc_1", "-f", "--json"]);
    requested(&node, 1).await;
    node.on(FEED, |_| (503, json!({"error": {"message": "restarting"}})));
    log.hang_up();
    requested(&node, 2).await;
    log.emit(150);
    log.serve(&node);
    let numbers = following.numbers(150).await;
    assert_eq!(numbers, (0..150).collect::<Vec<_>>());
    // In the middle of things, and without a failure between.
    log.emit(3);
    following.numbers(1).await;
    log.hang_up();
    log.emit(3);
    let numbers = following.numbers(5).await;
    assert_eq!(numbers, (151..156).collect::<Vec<_>>());
}

#[tokio::test]
async fn following_from_now_on_shows_nothing_older() {
    let node = Node::start().await;
    let log = Log::default();
    log.serve(&node);
    log.emit(5);
    let mut following = Following::start(&node, &["events", "dc_1", "-f", "--json", "-n", "0"]);
    requested(&node, 1).await;
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

fn log(id: &str, ms: u64, message: &str) -> Value {
    json!({
        "id": id, "indexed_at_ms": ms, "metadata": {"name": "$logs"},
        "event": {"level": "info", "message": message, "ts": ms, "invocation_id": "i_1"},
    })
}

fn failure(id: &str, ms: u64) -> Value {
    json!({
        "id": id, "indexed_at_ms": ms, "metadata": {"name": "$errors"},
        "event": {"error": {"name": "Error", "message": "boom"}},
    })
}

#[tokio::test]
async fn followed_logs_are_the_channels_of_logs_and_errors() {
    let node = Node::start().await;
    node.list("GET /v1/sources/dc_1/logs", json!([]));
    node.list(EVENTS, json!([]));
    node.stream(FEED, |request| {
        let item = match request.query["event_name"].as_str() {
            "$logs" => log("1-0", 1, "hello"),
            _ => failure("1-1", 1),
        };
        let message = format!("id: {}\ndata: {item}\n\n", item["id"].as_str().unwrap());
        stream::iter([Ok(message)]).chain(stream::pending())
    });
    let mut following = Following::start(&node, &["logs", "dc_1", "-f"]);
    let mut lines = Vec::new();
    for _ in 0..2 {
        lines.push(following.lines.next_line().await.unwrap().unwrap());
    }
    lines.sort();
    assert_eq!(
        lines,
        [
            "1970-01-01T00:00:00.001Z  error  Error: boom",
            "1970-01-01T00:00:00.001Z  info   hello"
        ]
    );
    for request in node.received(FEED) {
        assert_eq!(request.last_event_id.as_deref(), Some("0-0"));
    }
    // A program follows one channel unless it asks for both.
    let asked = node.received(FEED).len();
    let mut following = Following::start(&node, &["logs", "dc_1", "-f", "--json"]);
    following.lines.next_line().await.unwrap().unwrap();
    let asked = node.received(FEED).split_off(asked);
    let channels: Vec<_> = asked.iter().map(|it| &it.query["event_name"]).collect();
    assert_eq!(channels, ["$logs"]);
}

#[tokio::test]
async fn logs_and_errors_are_lines_in_one_order() {
    let node = Node::start().await;
    let logs = json!([log("12-0", 12, "after"), log("9-0", 9, "before")]);
    node.list("GET /v1/sources/dc_1/logs", logs.clone());
    node.list(EVENTS, json!([failure("10-0", 10)]));
    let seen = node.run(&["logs", "dc_1"]).await;
    assert_eq!(
        seen.stdout,
        "1970-01-01T00:00:00.009Z  info   before\n\
         1970-01-01T00:00:00.010Z  error  Error: boom\n\
         1970-01-01T00:00:00.012Z  info   after\n"
    );
    assert_eq!(node.received(EVENTS)[0].query["event_name"], "$errors");
    let two = node.run(&["logs", "dc_1", "-n", "2"]).await;
    let two: Vec<_> = two.stdout.lines().collect();
    assert_eq!(two.len(), 2);
    assert!(two[0].ends_with("Error: boom"), "{two:?}");

    let plain = node.run(&["logs", "dc_1", "--json"]).await.json();
    assert_eq!(plain, json!([logs[1], logs[0]]));
    let both = node.run(&["logs", "dc_1", "--json", "--errors"]).await;
    assert_eq!(both.json(), json!([logs[1], failure("10-0", 10), logs[0]]));
}
