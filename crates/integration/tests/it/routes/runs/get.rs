//! `GET /runs/{id}` and `GET /runs`.

use headwater_integration::{Method, Node, Receiver};
use serde_json::{Value, json};

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, waiting},
};

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

/// Throws what it is told to, or emits once.
pub(crate) const TOLD: &str = "export default { name: 'Told', version: '0.0.1', \
    run(event) { if (event.throws) throw new RangeError(event.throws); this.$emit(1); } }";

/// Waits for an answer.
const WAITS: &str = "$.flow.suspend();";

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

fn ids(runs: &[Value]) -> Vec<&str> {
    let ids = runs.iter().map(|run| run["id"].as_str().unwrap());
    ids.collect()
}

#[tokio::test]
async fn runs_of_sources_and_workflows_are_listed_together() {
    let node = Node::start().await;
    let source = node.deploy(TOLD, json!({})).await;
    let good = node.run(&source, json!({})).await;
    let bad = node.run(&source, json!({"throws": "out of range"})).await;
    let workflow = Folder::new(HTTP, &[("wait", WAITS)]).deployed(&node).await;
    let open = workflow.start(&node, json!({})).await;
    waiting(&node, &open).await;
    let [good, bad] = [&good, &bad].map(|run| run["invocation_id"].as_str().unwrap());
    let open = open.strip_prefix("/runs/").unwrap();

    let runs = node.get("/runs").await.is(200).items();
    assert_eq!(ids(&runs), [open, bad, good]);
    for (run, field, expected) in [
        (&runs[0], "status", json!("waiting")),
        (&runs[0], "workflow_id", json!(workflow.id())),
        (&runs[0], "source_id", Value::Null),
        (&runs[0], "outcome", Value::Null),
        (&runs[1], "status", json!("failed")),
        (&runs[1], "outcome", json!("threw")),
        (&runs[1], "error", json!("RangeError: out of range")),
        (&runs[1], "source_id", json!(source.id)),
        (&runs[1], "name", json!("told")),
        (&runs[2], "status", json!("succeeded")),
        (&runs[2], "trigger", json!("manual")),
        (&runs[2], "emitted", json!(1)),
    ] {
        assert_eq!(run[field], expected, "{field}: {run}");
    }
    let at = runs[1]["queued_at_ms"].as_u64().unwrap();
    for (query, expected) in [
        ("status=open".to_owned(), vec![open]),
        ("status=open,failed".to_owned(), vec![open, bad]),
        ("status=threw".to_owned(), vec![bad]),
        ("status=succeeded".to_owned(), vec![good]),
        ("status=cancelled".to_owned(), vec![]),
        ("trigger=manual".to_owned(), vec![open, bad, good]),
        ("trigger=timer".to_owned(), vec![]),
        (format!("source_id={}", source.id), vec![bad, good]),
        (format!("workflow_id={}", workflow.id()), vec![open]),
        (format!("since={at}&status=failed"), vec![bad]),
        (
            format!("until={at}&trigger=manual&status=failed"),
            vec![bad],
        ),
        ("until=1".to_owned(), vec![]),
        ("min_ms=3600000".to_owned(), vec![]),
        ("q=OUT+OF".to_owned(), vec![bad]),
        ("limit=1".to_owned(), vec![open]),
        (format!("limit=1&after={open}"), vec![bad]),
        (format!("limit=1&before={good}"), vec![bad]),
    ] {
        let found = node.get(&format!("/runs?{query}")).await.is(200).items();
        assert_eq!(ids(&found), expected, "{query}");
    }
    let page = node.get("/runs?limit=1").await.is(200).json();
    assert_eq!(page["page_info"]["total_count"], 3, "{page}");
}

#[tokio::test]
async fn runs_of_others_are_not_there() {
    let node = Node::start().await;
    let source = node.deploy(TOLD, json!({})).await;
    node.run(&source, json!({})).await;
    let bob = node.user("bob").await;
    let found = bob.get("/runs").await.is(200).items();
    assert!(found.is_empty(), "{found:?}");
    let of_source = format!("/runs?source_id={}", source.id);
    bob.get(&of_source).await.is(404);
    let workspace = json!({"orgname": "acme", "name": "Acme", "email": "a@acme.example"});
    let workspace = node.post("/workspaces", workspace).await.is(200).data();
    let of_workspace = format!("workspace_id={}", workspace["id"].as_str().unwrap());
    for path in ["/runs", "/runs/counts", "/runs/hours"] {
        bob.get(&format!("{path}?{of_workspace}")).await.is(403);
        let unknown = format!("{path}?workspace_id={}", unknown("o_"));
        bob.get(&unknown).await.is(404);
    }
    let found = node.get(&format!("/runs?{of_workspace}")).await.is(200);
    assert!(
        found.items().is_empty(),
        "it lives outside of the workspace"
    );
}

#[tokio::test]
async fn wrong_filters_are_named() {
    let node = Node::start().await;
    let (source, workflow) = (unknown("dc_"), unknown("p_"));
    for (query, field, reason) in [
        ("status=sideways".to_owned(), "status", "`wall_limit`"),
        ("trigger=sideways".to_owned(), "trigger", "`deactivate`"),
        ("since=2&until=1".to_owned(), "until", "before `since`"),
        (
            format!("source_id={source}&workflow_id={workflow}"),
            "workflow_id",
            "not both",
        ),
    ] {
        let error = node.get(&format!("/runs?{query}")).await.is(400).error();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(reason), "{query}: {error}");
        assert_eq!(error["param"], field, "{query}: {error}");
    }
}
