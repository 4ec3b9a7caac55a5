//! The platform's own channels: `$errors`, `$logs`, `$in`.

use std::time::SystemTime;

use headwater_integration::{Node, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, emitter};

#[tokio::test]
async fn an_error_has_the_specified_shape() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Failing",
  version: "0.0.1",
  run(event) { this.$emit("before"); throw new RangeError("too far"); },
};
"#;
    let source = node.deploy(code, json!({})).await;
    let report = node.run(&source, json!({"n": 1})).await;
    let summary = node.channel(&source, "$errors").await.remove(0);
    assert_eq!(summary["metadata"]["name"], "$errors");
    assert_eq!(summary["metadata"]["emitter_id"], json!(source.id));
    assert_eq!(summary["metadata"]["summary"], "RangeError: too far");
    let event = &summary["event"];
    let error = &event["error"];
    assert_eq!(error["code"], "RangeError");
    assert_eq!(
        (&error["name"], &error["message"]),
        (&json!("RangeError"), &json!("too far"))
    );
    assert!(error["stack"].as_str().unwrap().contains("run"), "{error}");
    assert!(
        chrono::DateTime::parse_from_rfc3339(error["ts"].as_str().unwrap()).is_ok(),
        "{error}"
    );
    assert!(error["cellId"].is_string(), "{error}");
    assert_eq!(event["original_event"], json!({"n": 1}));
    let context = &event["original_context"];
    assert_eq!(context["id"], report["invocation_id"]);
    assert!(
        chrono::DateTime::parse_from_rfc3339(context["ts"].as_str().unwrap()).is_ok(),
        "{context}"
    );
    assert!(
        context["verified"].is_boolean() && context["owner_id"].is_string(),
        "{context}"
    );
    assert!(context["platform_version"].is_string(), "{context}");
    assert_eq!(payloads(&node.events(&source).await), ["before"]);
}

#[tokio::test]
async fn whatever_is_thrown_is_reported() {
    let node = Node::start().await;
    let code = r#"
class Limited extends Error { constructor() { super("slow down"); this.code = "E429"; } }
const thrown = { text: "just text", nothing: undefined, object: { reason: "object" }, coded: new Limited() };
export default {
  name: "Throwing",
  version: "0.0.1",
  run({ what }) { throw thrown[what]; },
};
"#;
    let source = node.deploy(code, json!({})).await;
    for what in ["text", "nothing", "object", "coded"] {
        node.run(&source, json!({"what": what})).await;
    }
    let errors: Vec<_> = payloads(&node.channel(&source, "$errors").await)
        .iter()
        .map(|event| event["error"].clone())
        .collect();
    assert_eq!(errors.len(), 4);
    assert!(
        errors[0]["message"].as_str().unwrap().contains("just text"),
        "{}",
        errors[0]
    );
    assert!(
        errors[2]["message"].as_str().unwrap().contains("object"),
        "{}",
        errors[2]
    );
    assert_eq!(
        (&errors[3]["code"], &errors[3]["message"]),
        (&json!("E429"), &json!("slow down"))
    );
}

#[tokio::test]
async fn a_failing_source_goes_on() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": null})).await;
    let report = node.run(&source, json!({"emits": [["after", {}]]})).await;
    assert_eq!(report["outcome"]["status"], "returned");
    assert_eq!(payloads(&node.events(&source).await), ["after"]);
}

#[tokio::test]
async fn components_cannot_emit_on_the_platforms_channels() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    for channel in ["$errors", "$logs", "$in"] {
        let report = node
            .run(&source, json!({"emits": [["forged", {"name": channel}]]}))
            .await;
        assert_eq!(report["outcome"]["status"], "threw", "{channel}: {report}");
        let message = report["outcome"]["error"]["message"].as_str().unwrap();
        assert!(message.contains(channel), "{message}");
        assert!(
            !payloads(&node.channel(&source, channel).await).contains(&json!("forged")),
            "{channel}"
        );
    }
}

#[tokio::test]
async fn an_emit_without_an_id_under_a_strategy_is_an_error_that_names_the_call() {
    let node = Node::start().await;
    let source = node.deploy(&emitter("unique"), json!({})).await;
    let emits = json!([["no id", {}], ["with id", {"id": 1}]]);
    let report = node.run(&source, json!({"emits": emits})).await;
    assert_eq!(report["outcome"]["status"], "threw", "{report}");
    assert!(
        report["outcome"]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("id"),
        "{report}"
    );
    assert_eq!(payloads(&node.events(&source).await), ["with id"]);
    assert_eq!(node.channel(&source, "$errors").await.len(), 1);
}

#[tokio::test]
async fn a_delayed_event_waits_and_is_emitted_on_its_channel() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let due = u64::try_from(now.as_millis()).unwrap() + 5_000;
    let options = json!({"delivery_ts": due, "name": "later", "id": "x", "summary": "Later"});
    node.run(&source, json!({"emits": [[{"n": 1}, options]]}))
        .await;
    assert_eq!(node.events(&source).await, [Value::Null; 0]);
    let waiting = node.channel(&source, "$in").await;
    assert_eq!(waiting[0]["metadata"]["id"], "x");

    let events = node
        .channel_until(&source, "later", |events| !events.is_empty())
        .await;
    assert_eq!(payloads(&events), [json!({"n": 1})]);
    assert!(
        events[0]["indexed_at_ms"].as_u64().unwrap() >= due,
        "{}",
        events[0]
    );
    assert_eq!(events[0]["metadata"]["summary"], "Later");
    assert_eq!(node.channel(&source, "$in").await, [Value::Null; 0]);
}

#[tokio::test]
async fn what_an_ended_run_still_prints_goes_to_the_one_in_flight() {
    let node = Node::start().await;
    let code = r#"
let release;
const released = new Promise((resolve) => { release = resolve; });
let printed;
export default {
  name: "Late",
  version: "0.0.1",
  async run({ step }) {
    if (step === 1) {
      printed = released.then(() => console.log("late"));
    } else {
      release();
      await printed;
    }
  },
};
"#;
    let source = node.deploy(code, json!({})).await;
    let first = node.run(&source, json!({"step": 1})).await;
    let second = node.run(&source, json!({"step": 2})).await;
    assert_eq!(first["logs"], json!([]));
    assert_eq!(second["logs"][0]["message"], "late");
}
