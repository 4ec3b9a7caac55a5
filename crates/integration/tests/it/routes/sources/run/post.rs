//! `POST /sources/{id}/run`: a run by hand, answered when it is committed.

use headwater_integration::{Method, Node, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

const TALKING: &str = r#"
export default {
  name: "Talking",
  version: "0.0.1",
  run(event) {
    console.log("got", event);
    console.error("oh");
    this.$emit(event);
    if (event.fails) throw new RangeError("too far");
    return { seen: event.n };
  },
};
"#;

#[tokio::test]
async fn the_report_tells_outcome_events_and_logs() {
    let node = Node::start().await;
    let source = node.deploy(TALKING, json!({})).await;
    let report = node.run(&source, json!({"n": 7})).await;
    assert!(
        report["invocation_id"]
            .as_str()
            .unwrap()
            .starts_with("inv_"),
        "{report}"
    );
    assert_eq!(
        report["outcome"],
        json!({"status": "returned", "value": {"seen": 7}})
    );
    assert_eq!(report["events"], 1);
    let logs: Vec<_> = report["logs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|log| (&log["level"], &log["message"]))
        .collect();
    assert_eq!(logs[0].0, "info");
    assert!(logs[0].1.as_str().unwrap().starts_with("got "), "{report}");
    assert_eq!(logs[1], (&json!("error"), &json!("oh")));
    assert_eq!(payloads(&node.events(&source).await), [json!({"n": 7})]);
}

#[tokio::test]
async fn a_run_that_throws_is_a_report_and_keeps_what_it_emitted() {
    let node = Node::start().await;
    let source = node.deploy(TALKING, json!({})).await;
    let report = node.run(&source, json!({"fails": true})).await;
    assert_eq!(report["outcome"]["status"], "threw");
    assert_eq!(report["outcome"]["error"]["name"], "RangeError");
    assert_eq!(report["outcome"]["error"]["message"], "too far");
    assert_eq!(report["events"], 1);
    assert_eq!(node.events(&source).await.len(), 1);
    assert_eq!(node.channel(&source, "$errors").await.len(), 1);
}

#[tokio::test]
async fn duplicates_are_not_counted() {
    let node = Node::start().await;
    let source = node
        .deploy(&crate::code::emitter("unique"), json!({}))
        .await;
    let emits = json!({"emits": [["a", {"id": 1}], ["b", {"id": 1}], ["c", {"id": 2}]]});
    assert_eq!(node.run(&source, emits.clone()).await["events"], 2);
    assert_eq!(node.run(&source, emits).await["events"], 0);
}

#[tokio::test]
async fn without_an_event_the_code_gets_the_time() {
    let node = Node::start().await;
    let source = node.deploy(TALKING, json!({})).await;
    let request = node.request(Method::POST, &format!("{}/run", source.path()));
    node.send(request).await.is(200);
    let event = payloads(&node.events(&source).await).remove(0);
    assert!(event["timestamp"].is_u64(), "{event}");
}

#[tokio::test]
async fn an_inactive_source_does_not_run() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.put(&source.path(), json!({"active": false}))
        .await
        .is(200);
    let path = format!("{}/run", source.path());
    let error = node
        .post(&path, json!({"event": {"emits": []}}))
        .await
        .is(409)
        .error();
    assert_eq!(error["code"], "conflict");
    node.put(&source.path(), json!({"active": true}))
        .await
        .is(200);
    node.post(&path, json!({"event": {"emits": []}}))
        .await
        .is(200);
}

#[tokio::test]
async fn runs_by_hand_go_one_after_another() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Counting",
  version: "0.0.1",
  props: { db: "$.service.db" },
  async run() {
    const n = this.db.get("n") ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.db.set("n", n + 1);
    this.$emit(n + 1);
  },
};
"#;
    let source = node.deploy(code, json!({})).await;
    let runs = (0..8).map(|_| node.run(&source, json!({})));
    futures::future::join_all(runs).await;
    let expected: Vec<Value> = (1..=8).map(Value::from).collect();
    assert_eq!(payloads(&node.events(&source).await), expected);
}

#[tokio::test]
async fn what_is_not_there_cannot_run() {
    let node = Node::start().await;
    node.post(&format!("/sources/{}/run", unknown("dc_")), json!({}))
        .await
        .is(404);
}
