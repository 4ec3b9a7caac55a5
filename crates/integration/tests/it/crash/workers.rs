//! Workers that are killed from outside, as the kernel does when memory runs out: what was accepted
//! is run again, and not for ever.

use headwater_integration::{Node, Receiver, Reply, Source, payloads};
use serde_json::{Value, json};

/// Says that a run has begun, each with an id of its own, and waits until the receiver lets it go on.
const WAITING: &str = r#"
export default {
  name: "Waiting",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: CUSTOM }, url: "string" },
  async run({ path }) {
    const called = { method: "POST", body: crypto.randomUUID() };
    while (!(await fetch(this.url, called)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
    if (CUSTOM) this.http.respond({ status: 200, body: "at last" });
    this.$emit(path);
  },
};
"#;

struct Killing {
    node: Node,
    gate: Receiver,
    source: Source,
}

impl Killing {
    async fn start(is_custom: bool) -> Self {
        let node = Node::builder().private_network().start().await;
        let gate = Receiver::start().await;
        gate.answer(|_| Reply::status(503));
        let code = WAITING.replace("CUSTOM", &is_custom.to_string());
        let source = node.deploy(&code, json!({"url": gate.url()})).await;
        Self { node, gate, source }
    }

    async fn kill_begun_runs(&self, times: usize) {
        self.node.kill_begun(&self.gate, times).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_request_whose_worker_is_killed_is_run_again() {
    let killing = Killing::start(false).await;
    let Killing { node, gate, source } = &killing;
    node.get(&format!("{}/a", source.endpoint())).await.is(200);
    killing.kill_begun_runs(2).await;
    gate.answer(|_| Reply::status(200));
    let events = node.events_until(source, |events| !events.is_empty()).await;
    assert_eq!(payloads(&events), ["/a"]);
    assert_eq!(node.channel(source, "$errors").await, [Value::Null; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_worker_is_killed_each_time_is_given_up_and_reported() {
    let killing = Killing::start(false).await;
    let Killing { node, gate, source } = &killing;
    node.get(&format!("{}/a", source.endpoint())).await.is(200);
    killing.kill_begun_runs(3).await;
    let errors = node
        .channel_until(source, "$errors", |errors| !errors.is_empty())
        .await;
    let error = &errors[0]["event"]["error"];
    assert_eq!(error["code"], "WORKER_LOST");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("signal 9") && message.contains("started 3 times"),
        "{message}"
    );
    gate.answer(|_| Reply::status(200));
    node.get(&format!("{}/b", source.endpoint())).await.is(200);
    let events = node.events_until(source, |events| !events.is_empty()).await;
    assert_eq!(payloads(&events), ["/b"]);
    assert_eq!(node.channel(source, "$errors").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_response_gets_that_of_the_next_start_or_hears_that_there_is_none() {
    let killing = Killing::start(true).await;
    let Killing { node, gate, source } = &killing;
    let (answer, ()) = tokio::join!(node.get(source.endpoint()), killing.kill_begun_runs(3));
    answer.is(503);
    gate.clear();
    let (answer, ()) = tokio::join!(node.get(source.endpoint()), async {
        killing.kill_begun_runs(1).await;
        gate.answer(|_| Reply::status(200));
    });
    assert_eq!(answer.is(200).text, "at last");
}
