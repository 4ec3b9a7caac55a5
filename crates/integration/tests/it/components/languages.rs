//! ES modules, CommonJS and TypeScript.

use headwater_integration::{Node, payloads};
use serde_json::json;

/// Deploys the code, runs it once and returns what it emitted.
async fn emitted(code: &str) -> serde_json::Value {
    let node = Node::start().await;
    let source = node.deploy(code, json!({})).await;
    let report = node.run(&source, json!({"n": 1})).await;
    assert_eq!(report["outcome"]["status"], "returned", "{report}");
    payloads(&node.events(&source).await).remove(0)
}

#[tokio::test]
async fn a_commonjs_module_is_a_component() {
    let code = r#"
const path = require("path");
const { createHash } = require("crypto");
module.exports = {
  name: "Common",
  version: "0.0.1",
  run({ n }) {
    this.$emit({ n, joined: path.join("a", "b"), hash: createHash("md5").update("x").digest("hex") });
  },
};
"#;
    let expected = json!({"n": 1, "joined": "a/b", "hash": "9dd4e461268c8034f5c8564e155c67a6"});
    assert_eq!(emitted(code).await, expected);
}

#[tokio::test]
async fn code_may_name_its_own_folder() {
    let code = "module.exports = { name: \"Placed\", version: \"0.0.1\", \
                run() { this.$emit(typeof __dirname); } };";
    assert_eq!(emitted(code).await, "string");
}

#[tokio::test]
async fn typescript_is_a_component() {
    let code = r#"
enum Colour { Red = "red" }
interface Event { n: number }
type Emitted = { double: number; colour: Colour };
const double = <T extends number>(value: T): number => value * 2;
export default {
  name: "Typed",
  version: "0.0.1",
  run(event: Event): void {
    const emitted = { double: double(event.n), colour: Colour.Red } satisfies Emitted;
    (this as any).$emit(emitted);
  },
} as const;
"#;
    assert_eq!(emitted(code).await, json!({"double": 2, "colour": "red"}));
}

#[tokio::test]
async fn modules_may_await_and_use_nodes_modules() {
    let code = r#"
import { setTimeout as pause } from "timers/promises";
import util from "node:util";
import { Readable } from "stream";
const ready = await pause(1, "ready");
export default {
  name: "Modern",
  version: "0.0.1",
  async run() {
    const chunks = [];
    for await (const chunk of Readable.from(["a", "b"])) chunks.push(chunk);
    this.$emit({ ready, chunks, shown: util.format("%s", 7) });
  },
};
"#;
    assert_eq!(
        emitted(code).await,
        json!({"ready": "ready", "chunks": ["a", "b"], "shown": "7"})
    );
}

#[tokio::test]
async fn files_may_be_written_under_tmp() {
    let code = r#"
import fs from "fs";
export default {
  name: "Filing",
  version: "0.0.1",
  run() {
    fs.writeFileSync("/tmp/note.txt", "hello");
    this.$emit(fs.readFileSync("/tmp/note.txt", "utf8"));
  },
};
"#;
    assert_eq!(emitted(code).await, "hello");
}

#[tokio::test]
async fn the_code_knows_its_own_source() {
    let node = Node::start().await;
    let code = "export default { name: \"Self\", version: \"0.0.1\", \
                run() { this.$emit(process.env.PD_COMPONENT); } };";
    let source = node.deploy(code, json!({})).await;
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), [source.id]);
}

#[tokio::test]
async fn the_keys_of_a_source_are_its_own_and_are_read_without_await() {
    let code = r#"
export default {
  name: "Keys",
  version: "0.0.1",
  props: { db: "$.service.db" },
  async run() {
    const missing = this.db.get("missing");
    this.db.set("a", { deep: [1, null] });
    const awaited = await this.db.get("a");
    this.db.set("a", undefined);
    this.$emit({ missing: missing === undefined, awaited, removed: this.db.get("a") === undefined });
  },
};
"#;
    let expected = json!({"missing": true, "awaited": {"deep": [1, null]}, "removed": true});
    assert_eq!(emitted(code).await, expected);
}
