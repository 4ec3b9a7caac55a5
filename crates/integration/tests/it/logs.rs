//! The log of a node as programs read it: one JSON object per line, which says what it is about.

use headwater_integration::{Method, Node};
use serde_json::{Value, json};

use crate::code::INBOX;

/// Throws what it is asked to, from `run` and from a hook.
const THROWING: &str = r#"
export default {
  name: "Throwing",
  version: "0.0.1",
  props: { http: "$.interface.http", fails: { type: "boolean", optional: true } },
  hooks: {
    activate() {
      if (this.fails) throw new Error("not today");
    },
  },
  run({ body }) {
    throw new TypeError(`cannot ${body}`);
  },
};
"#;

async fn node(level: &str) -> Node {
    let node = Node::builder()
        .flag("--log-json")
        .env("HEADWATER_LOG", level);
    node.start().await
}

/// Every line that the node has written.
#[track_caller]
fn lines(node: &Node) -> Vec<Value> {
    let output = node.output();
    let parsed = output.lines().map(|line| {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    });
    parsed.collect()
}

/// The lines of a request.
fn of_request(node: &Node, request_id: &str) -> Vec<Value> {
    let mut lines = lines(node);
    lines.retain(|line| line["request_id"] == request_id);
    lines
}

fn messages(lines: &[Value]) -> Vec<&str> {
    let messages = lines.iter().map(|line| line["message"].as_str().unwrap());
    messages.collect()
}

#[tokio::test]
async fn every_line_of_a_run_names_source_invocation_and_request() {
    let mut node = node("info,headwater_platform=debug,headwater_api=debug").await;
    let source = node.deploy(INBOX, json!({})).await;
    let request = node.request(Method::POST, source.endpoint());
    let request = request.header("x-request-id", "mine-7").body("hello");
    node.send(request).await.is(200);
    node.events_until(&source, |events| events.len() == 1).await;
    assert!(node.terminate().await.success());
    let lines = of_request(&node, "mine-7");
    let mut said = messages(&lines);
    said.sort_unstable();
    assert_eq!(said, ["a run begins", "a run returned", "answered"]);
    let runs: Vec<_> = lines
        .iter()
        .filter(|line| line["message"] != "answered")
        .collect();
    let invocation_id = runs[0]["invocation_id"].as_str().unwrap();
    assert!(!invocation_id.is_empty());
    for line in runs {
        assert_eq!(line["level"], "DEBUG", "{line}");
        assert_eq!(line["trigger"], "http", "{line}");
        assert_eq!(line["source_id"], json!(source.id), "{line}");
        assert_eq!(line["invocation_id"], json!(invocation_id), "{line}");
    }
}

#[tokio::test]
async fn a_failed_run_is_told_without_asking_for_more() {
    let node = node("info").await;
    let source = node.deploy(THROWING, json!({})).await;
    let request = node.request(Method::POST, source.endpoint());
    let request = request.header("x-request-id", "mine-8").body("do it");
    node.send(request).await.is(200);
    let errors = format!("{}/event_summaries?event_name=$errors", source.path());
    while node.get(&errors).await.is(200).items().is_empty() {}
    node.output_with("a run failed");
    let lines = of_request(&node, "mine-8");
    assert_eq!(messages(&lines), ["a run failed"]);
    let line = &lines[0];
    assert_eq!(line["level"], "INFO", "{line}");
    assert_eq!(line["source_id"], json!(source.id), "{line}");
    assert_eq!(line["outcome"], "threw", "{line}");
    assert_eq!(line["error"], "cannot do it", "{line}");
    assert!(line["invocation_id"].is_string(), "{line}");
}

#[tokio::test]
async fn a_hook_names_the_request_that_deploys() {
    let node = node("info,headwater_platform=debug").await;
    let deploy = json!({"component_code": THROWING, "configured_props": {"fails": true}});
    let request = node.request(Method::POST, "/sources").json(&deploy);
    let request = request.header("x-request-id", "mine-9");
    node.send(request).await.is(422);
    node.output_with("a run failed");
    let lines = of_request(&node, "mine-9");
    assert_eq!(messages(&lines), ["a hook begins", "a run failed"]);
    assert_eq!(lines[0]["hook"], "activate", "{}", lines[0]);
    assert_eq!(lines[1]["trigger"], "hook", "{}", lines[1]);
    assert_eq!(lines[0]["invocation_id"], lines[1]["invocation_id"]);
    assert_eq!(lines[0]["source_id"], lines[1]["source_id"]);
}

#[tokio::test]
async fn the_first_key_is_in_no_log() {
    let node = Node::builder().flag("--log-json").without_key();
    let node = node.start().await;
    let output = node.output_with("API key of the first user");
    assert!(!output.contains(node.api_key()), "{output}");
}
