//! `GET /runs/{id}`. `GET /runs` is in `all.rs`.

use headwater_integration::{Method, Node, Receiver};
use serde_json::{Value, json};

use crate::code::unknown;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const REPORTER: &str = r#"
export default {
  name: "Reporter",
  version: "0.0.1",
  dedupe: "unique",
  run() {
    console.warn("slow");
    this.$emit({ n: 1 }, { id: "one", summary: "One" });
    this.$emit({ n: 1 }, { id: "one" });
    this.$emit({ n: 2 }, { id: "two", name: "news" });
    throw new TypeError("boom");
  },
};
"#;

#[tokio::test]
async fn a_run_has_its_events_their_deliveries_its_log_and_its_errors() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(REPORTER, json!({})).await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    let run = node.request(Method::POST, &format!("{}/run", source.path()));
    let run = run.header("x-request-id", "req-of-the-test");
    let run = run.header("traceparent", TRACE).json(&json!({}));
    let report = node.send(run).await.is(200).data();
    let delivered = node.deliveries_in(&webhook, "delivered", 1).await.remove(0);

    let id = report["invocation_id"].as_str().unwrap();
    let run = node.get(&format!("/runs/{id}")).await.is(200).data();
    for (field, expected) in [
        ("id", json!(id)),
        ("source_id", json!(source.id)),
        ("trigger", json!("manual")),
        ("outcome", json!("threw")),
        ("error", json!("TypeError: boom")),
        ("emitted", json!(2)),
        ("dropped", json!(1)),
        ("dropped_ids", json!(["one"])),
        ("request_id", json!("req-of-the-test")),
        ("trace_id", json!("0af7651916cd43dd8448eb211c80319c")),
        ("has_more", json!(false)),
    ] {
        assert_eq!(run[field], expected, "{field}: {run}");
    }
    let events = node.events(&source).await;
    let delivery = json!({
        "id": delivered["id"], "webhook_id": webhook, "state": "delivered",
    });
    let expected = json!([
        {"id": events[0]["id"], "summary": "One", "deliveries": [delivery], "has_more_deliveries": false},
        {"id": events[1]["id"], "event_name": "news", "deliveries": [], "has_more_deliveries": false},
    ]);
    assert_eq!(run["events"], expected);
    assert_eq!(run["logs"][0]["level"], "warn");
    assert_eq!(run["logs"][0]["message"], "slow");
    assert!(run["logs"][0]["ts"].is_u64(), "{run}");
    let error = &node.channel(&source, "$errors").await[0];
    assert_eq!(run["errors"][0]["id"], error["id"]);
    for channel in ["errors", "logs"] {
        let event = &run[channel][0];
        assert_eq!(
            (&event["deliveries"], &event["has_more_deliveries"]),
            (&json!([]), &json!(false))
        );
    }
    assert_eq!(delivered["run_id"], id);
    let thrown = &run["errors"][0]["error"];
    assert_eq!(
        (&thrown["name"], &thrown["message"]),
        (&json!("TypeError"), &json!("boom"))
    );
    assert!(
        thrown["stack"].as_str().unwrap().contains("component.mjs"),
        "{thrown}"
    );
    let logs = node.channel(&source, "$logs").await;
    assert_eq!(run["logs"][0]["id"], logs[0]["id"]);
    for event in events.iter().chain(&logs).chain([error]) {
        assert_eq!(event["metadata"]["run_id"], id, "{event}");
    }
}

#[tokio::test]
async fn fields_of_a_run_can_be_chosen() {
    let node = Node::start().await;
    let source = node.deploy(REPORTER, json!({})).await;
    let report = node.run(&source, json!({})).await;
    let id = report["invocation_id"].as_str().unwrap();
    let path = format!("/runs/{id}?include=id,events.summary");
    let shown = node.get(&path).await.is(200).data();
    let expected: Value = json!({"id": id, "events": [{"summary": "One"}, {}]});
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_run_that_is_none_or_anothers_is_not_found() {
    let node = Node::start().await;
    let source = node.deploy(REPORTER, json!({})).await;
    let report = node.run(&source, json!({})).await;
    let mine = report["invocation_id"].as_str().unwrap();
    for id in [&unknown("inv_"), &unknown("dc_"), "nonsense"] {
        let error = node.get(&format!("/runs/{id}")).await.is(404).error();
        assert_eq!(error["message"], format!("there is no run `{id}`"));
    }
    let bob = node.user("bob").await;
    let error = bob.get(&format!("/runs/{mine}")).await.is(404).error();
    assert_eq!(error["message"], format!("there is no run `{mine}`"));
    node.get(&format!("/runs/{mine}")).await.is(200);
    node.delete(&source.path()).await.is(204);
    node.get(&format!("/runs/{mine}")).await.is(404);
}
