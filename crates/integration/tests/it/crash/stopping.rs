//! Asking a node to stop while it has work, and starting one where another runs.

use headwater_integration::{Node, Receiver, Reply, Source, fields};
use serde_json::{Value, json};

/// Says that a run has begun, and waits until the receiver lets it go on.
const WAITING: &str = r#"
export default {
  name: "Waiting",
  version: "0.0.1",
  props: { http: "$.interface.http", url: "string" },
  async run({ path }) {
    const called = { method: "POST", body: path };
    while (!(await fetch(this.url, called)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
    this.$emit({ path });
  },
};
"#;

/// Calls the node's own API by the name that it has for components.
const CALLING_THE_NODE: &str = r#"
export default {
  name: "Calling the node",
  version: "0.0.1",
  async run({ key }) {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch("https://api.pipedream.com/v1/users/me", { headers })).status;
  },
};
"#;

struct Stopping {
    node: Node,
    gate: Receiver,
    source: Source,
}

impl Stopping {
    /// A node that runs one request at a time, with one that runs and others that are queued.
    async fn start(flag: &str, queued: usize) -> Self {
        let builder = Node::builder()
            .own_address()
            .private_network()
            .flag("--source-concurrency=1");
        let node = builder.flag(flag).start().await;
        let gate = Receiver::start().await;
        gate.answer(|_| Reply::status(503));
        let source = node.deploy(WAITING, json!({"url": gate.url()})).await;
        for n in 0..=queued {
            node.get(&format!("{}/{n}", source.endpoint()))
                .await
                .is(200);
        }
        gate.until(|received| !received.is_empty()).await;
        Self { node, gate, source }
    }

    /// Asks the node to stop, and returns when it takes no more connections.
    async fn ask_to_stop(&self) {
        self.node.ask_to_stop();
        let client = reqwest::Client::builder()
            .no_proxy()
            .pool_max_idle_per_host(0)
            .build()
            .unwrap();
        let healthz = format!("{}/healthz", self.node.url());
        while client.get(&healthz).send().await.is_ok() {}
    }

    async fn emitted(&self, count: usize) -> Vec<Value> {
        let events = self
            .node
            .events_until(&self.source, |events| events.len() >= count)
            .await;
        let mut paths = fields(&events, "path");
        paths.sort_by_key(ToString::to_string);
        paths
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_in_flight_finish_and_queued_work_is_done_after_the_next_start() {
    let mut stopping = Stopping::start("--shutdown-grace=60s", 4).await;
    stopping.ask_to_stop().await;
    // A run under way may finish; a queued one must not begin.
    let before = stopping.gate.received().len();
    stopping
        .gate
        .until(|received| received.len() > before)
        .await;
    stopping.gate.answer(|_| Reply::status(200));
    let status = stopping.node.wait().await;
    assert_eq!(status.code(), Some(0), "{}", stopping.node.output());
    let begun = stopping.gate.bodies();
    assert!(
        begun.iter().all(|path| path == "/0"),
        "began after the signal: {begun:?}"
    );
    stopping.gate.clear();
    stopping.node.restart().await;
    assert_eq!(stopping.emitted(5).await, ["/0", "/1", "/2", "/3", "/4"]);
    let mut begun = stopping.gate.bodies();
    begun.sort_unstable();
    assert_eq!(
        begun,
        ["/1", "/2", "/3", "/4"],
        "the run that had finished is not run again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_beyond_the_grace_is_ended_and_run_again() {
    let mut stopping = Stopping::start("--shutdown-grace=300ms", 2).await;
    let status = stopping.node.terminate().await;
    assert_eq!(status.code(), Some(0), "{}", stopping.node.output());
    stopping.gate.answer(|_| Reply::status(200));
    stopping.node.restart().await;
    assert_eq!(stopping.emitted(3).await, ["/0", "/1", "/2"]);
    assert_eq!(
        stopping.node.channel(&stopping.source, "$errors").await,
        [Value::Null; 0]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_stops_at_once_and_loses_nothing() {
    let mut stopping = Stopping::start("--shutdown-grace=600s", 2).await;
    stopping.ask_to_stop().await;
    let status = stopping.node.terminate().await;
    assert_eq!(status.code(), Some(0), "{}", stopping.node.output());
    stopping.gate.answer(|_| Reply::status(200));
    stopping.node.restart().await;
    assert_eq!(stopping.emitted(3).await, ["/0", "/1", "/2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_work_survives_any_number_of_kills() {
    // Beyond five starts an invocation waits before the next, longer each time.
    const KILLS: usize = 7;
    let mut stopping = Stopping::start("--shutdown-grace=1s", 3).await;
    for _ in 0..KILLS {
        stopping.node.kill_9();
        stopping.gate.clear();
        stopping.node.restart().await;
        stopping.gate.until(|received| !received.is_empty()).await;
    }
    stopping.gate.answer(|_| Reply::status(200));
    assert_eq!(stopping.emitted(4).await, ["/0", "/1", "/2", "/3"]);
    assert_eq!(
        stopping.node.channel(&stopping.source, "$errors").await,
        [Value::Null; 0]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_node_on_the_same_data_folder_says_who_has_it() {
    let node = Node::builder()
        .own_address()
        .flag("--self-alias=api.pipedream.com")
        .start()
        .await;
    let data_dir = node.data_dir().to_str().unwrap();
    let seen = node
        .cli(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir])
        .await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    let says = "another headwater is using this data folder";
    assert!(seen.stderr.contains(says), "{}", seen.stderr);
    assert!(seen.stderr.contains("--data-dir"), "{}", seen.stderr);
    // The first one is none the worse for it.
    node.get("/users/me").await.is(200);
    let source = node.deploy(CALLING_THE_NODE, json!({})).await;
    let report = node.run(&source, json!({"key": node.api_key()})).await;
    assert_eq!(
        report["outcome"],
        json!({"status": "returned", "value": 200})
    );
}
