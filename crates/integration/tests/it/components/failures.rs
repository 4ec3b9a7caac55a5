//! The reports of errors that a component throws: in events, in answers and on the command line.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};

#[tokio::test]
async fn a_stack_leads_to_the_lines_as_they_were_written() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("orders.ts");
    let code = r#"import ms from "ms";
import { fetchRow } from "./rows.ts";

interface Row { id: number }

export default defineComponent({
  name: "Orders",
  version: "0.0.1",
  methods: {
    async row(id: number): Promise<Row> {
      return await fetchRow(id);
    },
  },
  async run(event: { id: number }) {
    await new Promise((done) => setTimeout(done, ms("1ms")));
    this.$emit(await this.row(event.id));
  },
});
"#;
    let rows = r#"type Id = number;

export async function fetchRow(id: Id): Promise<never> {
  await null;
  throw new TypeError(`no row ${id}`);
}
"#;
    std::fs::write(&entry, code).unwrap();
    std::fs::write(folder.path().join("rows.ts"), rows).unwrap();
    let entry = entry.to_str().unwrap();
    let deployed = node.cli(&["deploy", entry, "--json"]).await.ok().json();
    let source = headwater_integration::Source::new(deployed);
    let ran = node
        .cli(&["run", &source.id, "--event", r#"{"id": 7}"#])
        .await;
    let errors = node.channel(&source, "$errors").await;
    let stack = errors[0]["event"]["error"]["stack"].as_str().unwrap();
    for told in [stack, &ran.stderr] {
        assert!(told.contains("TypeError: no row 7"), "{told}");
        for frame in ["rows.ts:5:", "orders.ts:11:", "orders.ts:16:"] {
            assert!(told.contains(frame), "{frame} in {told}");
        }
    }
}

const CONFIGURED: &str = r#"
import { ConfigurationError } from "@pipedream/platform";
export default {
  name: "Chooser",
  version: "0.0.1",
  props: { channel: { type: "string", optional: true }, early: "boolean" },
  methods: {
    check() { if (!this.channel) throw new ConfigurationError("Choose a channel"); },
  },
  hooks: { activate() { if (this.early) this.check(); } },
  run() { this.check(); },
};
"#;

#[tokio::test]
async fn a_configuration_error_is_told_without_a_stack() {
    let node = Node::start().await;
    let refused = node.try_deploy(CONFIGURED, json!({"early": true})).await;
    let error = refused.is(422).error();
    assert_eq!(
        error["message"],
        "the `activate` hook threw: ConfigurationError: Choose a channel"
    );
    assert!(error.get("stack").is_none(), "{error}");
    let source = node.deploy(CONFIGURED, json!({"early": false})).await;
    let ran = node.cli(&["run", &source.id]).await;
    let lines: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(
        lines.last(),
        Some(&"error: the component's configuration is wrong: Choose a channel"),
        "{lines:?}"
    );
    let errors = node.channel(&source, "$errors").await;
    let error = &errors[0]["event"]["error"];
    assert_eq!(
        (&error["name"], &error["message"], &error["stack"]),
        (
            &json!("ConfigurationError"),
            &json!("Choose a channel"),
            &json!("")
        )
    );
}

#[tokio::test]
async fn the_credentials_of_a_failed_request_are_told_nowhere() {
    let api = Receiver::start().await;
    api.answer(|_| Reply::json(&json!({"why":"no scope"})).with_status(403));
    let node = Node::builder().private_network().start().await;
    let code = r#"
import axios from "axios";
export default {
  name: "Asker",
  version: "0.0.1",
  props: { url: "string" },
  async run(how) {
    try {
      await axios.get(this.url, { headers: { Authorization: "Bearer hunter2" } });
    } catch (error) {
      console.log(error);
      console.error("failed", error.response);
      throw how === "response" ? error.response : error;
    }
  },
};
"#;
    let source = node.deploy(code, json!({"url": api.url()})).await;
    for how in ["error", "response"] {
        node.run(&source, json!(how)).await;
    }
    assert_eq!(api.received()[0].headers["authorization"], "Bearer hunter2");
    let errors = node.channel(&source, "$errors").await;
    let logs = node.channel(&source, "$logs").await;
    let told = json!([errors, logs]).to_string();
    assert!(!told.contains("hunter2"), "{told}");
    assert_eq!(errors.len(), 2);
    let says_why = |event: &Value| event["event"].to_string().contains("no scope");
    assert!(
        told.contains("Request failed with status code 403"),
        "{told}"
    );
    assert!(logs.len() == 4 && logs.iter().all(says_why), "{told}");
    assert!(says_why(&errors[1]), "{told}");
}
