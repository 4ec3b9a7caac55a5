//! `GET /runs`: the runs of all sources and workflows.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, waiting},
};

/// Throws what it is told to, or emits once.
pub(crate) const TOLD: &str = "export default { name: 'Told', version: '0.0.1', \
    run(event) { if (event.throws) throw new RangeError(event.throws); this.$emit(1); } }";

/// Waits for an answer.
const WAITS: &str = "$.flow.suspend();";

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
        ("trigger=manual".to_owned(), vec![bad, good]),
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
        assert_eq!(error["field"], field, "{query}: {error}");
    }
}
