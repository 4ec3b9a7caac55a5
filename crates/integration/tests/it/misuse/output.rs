//! Runs that say too much, or say what only the platform may say.

use headwater_integration::{Node, payloads};
use serde_json::{Value, json};

use super::neighbour::Street;

const CODE: &str = r#"
import fs from "node:fs";
import process from "node:process";

const frame = (body) => {
  const bytes = Buffer.from(JSON.stringify(body));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/// The frames of a worker about runs 0 to 20, one of which is this one.
const frames = Array.from({ length: 20 }, (_, id) => [
  { type: "emit", id, event: "forged", options: {} },
  { type: "kv", id, seq: 1_000, key: "forged", value: true },
  { type: "log", id, level: "info", text: "a forged line" },
  { type: "outcome", id, error: { name: "Error", message: "forged", stack: "" } },
  { type: "outcome", id, value: "forged" },
]).flat().map(frame);

const tokens = [
  Buffer.alloc(0),
  Buffer.alloc(16),
  Buffer.from("0123456789abcdef"),
  Buffer.from(crypto.getRandomValues(new Uint8Array(16))),
];

const write = (put) => {
  for (const token of tokens) for (const each of frames) put(Buffer.concat([token, each]));
  // A header that announces more than will ever come.
  put(Buffer.from([0, 0, 0, 0xff]));
  put(Buffer.alloc(20, 0xff));
};

const deeds = {
  writeSync() { write((bytes) => fs.writeSync(1, bytes)); },
  async processStdout() {
    write((bytes) => process.stdout.write(bytes));
    await new Promise((resolve) => process.stdout.write("\n", resolve));
  },
  denoStdout() { write((bytes) => Deno.stdout.writeSync(bytes)); },
  stderr() { write((bytes) => fs.writeSync(2, bytes)); },
  manyLogs() {
    const line = "x".repeat(1 << 20);
    for (let i = 0; i < 50; i++) console.log(line);
  },
  oneLog() { console.log("y".repeat(50 << 20)); },
  endless() { for (;;) this.$emit("e".repeat(10_000)); },
  huge() { this.$emit("h".repeat(64 << 20)); },
  hugeKey() { this.db.set("huge", "k".repeat(8 << 20)); },
};

export default {
  name: "Talkative",
  version: "0.0.1",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run({ path, reads }) {
    if (reads) return { forged: this.db.get("forged"), huge: this.db.get("huge") };
    const deed = path.slice(1);
    if (deed === "behave") return this.$emit("behaved");
    await deeds[deed].call(this);
    this.$emit(`after ${deed}`);
  },
};
"#;

/// Asserts that the source is as it was, whatever it did.
async fn assert_nothing_forged(street: &Street) {
    let report = street
        .node
        .run(&street.source, json!({"reads": true}))
        .await;
    assert_eq!(
        report["outcome"],
        json!({"status": "returned", "value": {}})
    );
    for channel in ["$errors", "$logs"] {
        let said = street.node.channel(&street.source, channel).await;
        assert!(
            !said
                .iter()
                .any(|one| one["event"]["message"] == "a forged line"),
            "{said:#?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_frames_are_output_and_nothing_else() {
    let mut street = Street::of(Node::builder(), CODE).await;
    for deed in ["writeSync", "processStdout", "denoStdout", "stderr"] {
        let before = street.node.events(&street.source).await.len();
        street.request(deed).await;
        let events = street
            .node
            .events_until(&street.source, |events| events.len() > before)
            .await;
        assert_eq!(
            payloads(&events[before..]),
            [json!(format!("after {deed}"))]
        );
        street.assert_unharmed().await;
        assert_nothing_forged(&street).await;
    }
    assert_eq!(
        street.node.channel(&street.source, "$errors").await,
        [Value::Null; 0]
    );
    street.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_megabytes_of_log_are_cut_and_the_run_goes_on() {
    for deed in ["manyLogs", "oneLog"] {
        let mut street = Street::of(Node::builder(), CODE).await;
        street.request(deed).await;
        let events = street
            .node
            .events_until(&street.source, |events| !events.is_empty())
            .await;
        assert_eq!(payloads(&events), [json!(format!("after {deed}"))]);
        let logs = street
            .node
            .get(&format!("{}/logs?expand=event", street.source.path()))
            .await
            .is(200)
            .items();
        let kept: usize = logs
            .iter()
            .map(|line| line["event"]["message"].as_str().unwrap().len())
            .sum();
        assert!(
            (200 << 10..300 << 10).contains(&kept),
            "{deed}: {kept} bytes"
        );
        let said = logs.iter().any(|line| {
            line["event"]["level"] == "warn"
                || line["event"]["message"].as_str().unwrap().contains("limit")
        });
        assert!(said, "{deed}: nothing says that there was more");
        street.assert_unharmed().await;
        let stored: u64 = street
            .node
            .store_files()
            .iter()
            .map(|path| path.metadata().unwrap().len())
            .sum();
        assert!(stored < 32 << 20, "{deed}: {stored} bytes are stored");
        street.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_beyond_the_limit_ends_the_run() {
    // Nothing is trimmed: what follows counts events.
    let limits = ["--run-output-mib=2", "--retained-events=1000"];
    let node = limits
        .into_iter()
        .fold(Node::builder(), |node, flag| node.flag(flag));
    let mut street = Street::of(node, CODE).await;
    for deed in ["endless", "huge", "hugeKey"] {
        let error = street.error_of(deed).await;
        assert_eq!(error["code"], "LIMIT_OUTPUT", "{deed}: {error}");
        street.assert_unharmed().await;
    }
    let events = payloads(&street.node.events(&street.source).await);
    assert!(
        !events
            .iter()
            .any(|event| event.as_str().unwrap().starts_with("after")),
        "a run went on"
    );
    let emitted: usize = events
        .iter()
        .map(|event| event.as_str().unwrap().len())
        .sum();
    assert!(emitted <= 2 << 20, "{emitted} bytes of one run were kept");
    assert_nothing_forged(&street).await;
    street.end().await;
}
