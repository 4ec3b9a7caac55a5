//! Runs that take too much, end their process, or fail.

use headwater_integration::{Node, payloads};
use serde_json::{Value, json};

use super::neighbour::Street;

const CODE: &str = r#"
import fs from "node:fs";
import process from "node:process";

const forever = () => new Promise((resolve) => setTimeout(resolve, 3_600_000));

const soon = () => new Promise((resolve) => setTimeout(resolve, 1));

const deeds = {
  loop() { for (;;); },
  hang: forever,
  hog() {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
  },
  hogBuffers() {
    const kept = [];
    return new Promise(() => setInterval(() => kept.push(Buffer.alloc(32 << 20, 1)), 10));
  },
  exit() { process.exit(3); },
  denoExit() { Deno.exit(0); },
  abort() { process.abort(); },
  killed() { process.kill(process.pid, "SIGKILL"); },
  async reject() {
    Promise.reject(new Error("nobody handles this"));
    await soon();
  },
  async stray() {
    setTimeout(() => { throw new Error("thrown outside"); }, 0);
    await soon();
  },
  throws() { throw new RangeError("too far"); },
  stack() { const deeper = () => deeper() + 1; return deeper(); },
  closes() { fs.closeSync(1); return forever(); },
};

export default {
  name: "Greedy",
  version: "0.0.1",
  props: { http: "$.interface.http", db: "$.service.db" },
  run({ path }) {
    const deed = path.slice(1);
    if (deed === "behave") return this.$emit("behaved");
    this.$emit(`before ${deed}`);
    return deeds[deed]();
  },
};
"#;

/// Does the deed and returns the error; what was emitted before it is kept.
async fn report(node: headwater_integration::NodeBuilder, deed: &str) -> Value {
    let mut street = Street::of(node, CODE).await;
    let error = street.error_of(deed).await;
    assert!(
        street.neighbours_answers() > 0,
        "nobody else was answered during `{deed}`"
    );
    street.assert_unharmed().await;
    let events = payloads(&street.node.events(&street.source).await);
    assert_eq!(events, [json!(format!("before {deed}")), json!("behaved")]);
    street.end().await;
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_is_ended_at_the_time_limit() {
    let error = report(Node::builder().flag("--run-timeout=2s"), "loop").await;
    assert_eq!(error["code"], "LIMIT_WALL", "{error}");
    assert!(
        error["message"].as_str().unwrap().contains("2 s"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_requests_of_the_same_source_are_run_all_the_same() {
    const OTHERS: usize = 5;
    let street = Street::of(Node::builder().flag("--run-timeout=2s"), CODE).await;
    street.request("loop").await;
    for _ in 0..OTHERS {
        street.request("behave").await;
    }
    let (node, source) = (&street.node, &street.source);
    node.channel_until(source, "$errors", |errors| !errors.is_empty())
        .await;
    let events = node
        .events_until(source, |events| events.len() > OTHERS)
        .await;
    let mut events = payloads(&events);
    events.sort_by_key(ToString::to_string);
    let mut expected = vec![json!("before loop")];
    expected.extend((0..OTHERS).map(|_| json!("behaved")));
    assert_eq!(events, expected);
    assert_eq!(node.channel(source, "$errors").await.len(), 1);
    street.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_never_ends_is_ended_at_the_time_limit() {
    let error = report(Node::builder().flag("--run-timeout=2s"), "hang").await;
    assert_eq!(error["code"], "LIMIT_WALL", "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hog_is_ended_at_the_heap_limit() {
    let error = report(Node::builder().flag("--worker-heap-mib=64"), "hog").await;
    assert_eq!(error["code"], "LIMIT_MEMORY", "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_outside_the_heap_is_limited_too() {
    let error = report(Node::builder().flag("--worker-heap-mib=64"), "hogBuffers").await;
    assert_eq!(error["code"], "LIMIT_MEMORY", "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_is_an_error_of_the_run() {
    let mut street = Street::of(Node::builder(), CODE).await;
    for deed in ["exit", "denoExit", "abort", "killed"] {
        let error = street.error_of(deed).await;
        assert!(
            error["message"].as_str().unwrap().len() > 3,
            "{deed}: {error}"
        );
        street.assert_unharmed().await;
    }
    street.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_throws_or_leaves_unhandled_is_its_error() {
    let mut street = Street::of(Node::builder(), CODE).await;
    let expected = [
        ("throws", "too far"),
        ("stack", "Maximum call stack"),
        ("reject", "nobody handles this"),
        ("stray", "thrown outside"),
    ];
    for (deed, message) in expected {
        let error = street.error_of(deed).await;
        let told = error["message"].as_str().unwrap();
        assert!(told.contains(message), "{deed}: {error}");
        street.assert_unharmed().await;
    }
    street.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_stops_talking_is_an_error_of_the_run() {
    let error = report(Node::builder().flag("--run-timeout=2s"), "closes").await;
    assert!(error["code"].is_string(), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_hangs_when_it_is_read_is_refused() {
    let node = Node::start().await;
    let code = "for (;;); export default { name: \"Hanging\", version: \"0.0.1\", run() {} };";
    let error = node.try_deploy(code, json!({})).await.is(422).error();
    assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
    node.get("/users/me").await.is(200);
}
