//! Answers to requests at the HTTP trigger of a workflow.

use headwater_integration::{Method, Node};
use serde_json::json;

use super::{Folder, HTTP, path_of, step, until};

/// A trigger whose requests wait for `$.respond`.
const RESPONDING: &str = "- type: http\n  respond: workflow\n";

#[tokio::test]
async fn a_request_starts_a_run_and_sees_a_page() {
    let node = Node::start().await;
    let double = "const { n } = steps.trigger.event.body; console.log(`doubling ${n}`); return { n: 2 * n };";
    let more = "$.export('$summary', 'one more'); return steps.double.$return_value.n + 1;";
    let folder = Folder::new(HTTP, &[("double", double), ("more", more)]);
    let workflow = folder.deployed(&node).await;
    let url = format!("{}/in/box?source=shop", workflow.endpoint());
    let answer = node.send(
        node.with_key(None)
            .request(Method::POST, &url)
            .json(&json!({"n": 20})),
    );
    let answer = answer.await.is(200);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(answer.text.contains("Success!"), "{}", answer.text);

    let listed = workflow.ended(&node, 1).await.remove(0);
    for (field, expected) in [
        ("status", json!("succeeded")),
        ("trigger", json!("http")),
        ("deployment_id", workflow.record["deployment_id"].clone()),
    ] {
        assert_eq!(listed[field], expected, "{field}: {listed}");
    }
    let run = node.get(&path_of(&listed)).await.is(200).data();
    assert_eq!(run["workflow_id"], workflow.id());
    assert_eq!(run["trace_id"], run["id"]);
    for (field, expected) in [
        ("method", json!("POST")),
        ("path", json!("/in/box")),
        ("query", json!({"source": "shop"})),
        ("body", json!({"n": 20})),
        ("client_ip", json!("127.0.0.1")),
    ] {
        assert_eq!(run["event"][field], expected, "{field}: {run:#}");
    }
    let double = step(&run, "double");
    assert_eq!(double["return_value"], json!({"n": 40}));
    assert_eq!(double["logs"][0]["message"], "doubling 20");
    let more = step(&run, "more");
    for (field, expected) in [
        ("namespace", json!("more")),
        ("status", json!("succeeded")),
        ("attempts", json!(1)),
        ("return_value", json!(41)),
        ("exports", json!({"$summary": "one more"})),
    ] {
        assert_eq!(more[field], expected, "{field}: {more}");
    }
    assert!(more["ended_at_ms"].as_u64() >= more["started_at_ms"].as_u64());
    assert_eq!((&run["waits"], &run["sends"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn a_workflow_may_answer_itself() {
    let node = Node::start().await;
    let respond = "await $.respond({ status: 201, headers: { 'x-order': '7' }, body: { got: steps.trigger.event.body } });";
    let folder = Folder::new(RESPONDING, &[("answer", respond)]);
    let workflow = folder.deployed(&node).await;
    let request = node.request(Method::PUT, workflow.endpoint()).body("tea");
    let answer = node.send(request).await.is(201);
    assert_eq!(answer.header("x-order"), "7");
    assert_eq!(answer.json(), json!({"got": "tea"}));
}

#[tokio::test]
async fn a_request_that_waits_in_vain_is_told_why() {
    let node = Node::start().await;
    for (code, told) in [
        ("return 1;", "No $.respond called in workflow"),
        (
            "throw new Error('early');",
            "No $.respond called in workflow",
        ),
        (
            "$.flow.suspend();",
            "$.respond() not called for this invocation",
        ),
    ] {
        let folder = Folder::new(RESPONDING, &[("silent", code)]);
        let workflow = folder.deployed(&node).await;
        let answer = node.get(workflow.endpoint()).await.is(400);
        assert_eq!(answer.text, told, "{code}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    }
}

#[tokio::test]
async fn a_trigger_may_ask_for_a_token() {
    let node = Node::start().await;
    let trigger = "- type: http\n  auth: { bearer: \"{{process.env.TOKEN}}\" }\n";
    let folder = Folder::new(trigger, &[("one", "return 1;")]);
    node.put("/variables/TOKEN", json!({"value": "open sesame"}))
        .await
        .is(200);
    let workflow = folder.deployed(&node).await;
    for token in [None, Some("open")] {
        let request = node
            .with_key(token)
            .request(Method::POST, workflow.endpoint());
        let refused = node.send(request).await.is(401);
        assert_eq!(refused.header("www-authenticate"), "Bearer");
        assert_eq!(refused.error()["code"], "unauthenticated");
    }
    let open = node.with_key(Some("open sesame"));
    open.post(workflow.endpoint(), json!({})).await.is(200);
    assert_eq!(workflow.ended(&node, 1).await.len(), 1);
}

#[tokio::test]
async fn a_workflow_without_triggers_has_no_endpoint_and_runs_by_hand() {
    let node = Node::start().await;
    let folder = Folder::new("[]\n", &[("one", "return steps.trigger.event;")]);
    let folder = folder.with(
        "workflow.yaml",
        "name: By hand\ntriggers: []\nsteps:\n- namespace: one\n",
    );
    let workflow = folder.deployed(&node).await;
    assert_eq!(workflow.record["triggers"], json!([]));
    let run = workflow.start(&node, json!([1, "two"])).await;
    let run = until(&node, &run, "succeeded").await;
    assert_eq!(step(&run, "one")["return_value"], json!([1, "two"]));
    assert_eq!(run["trigger"], "manual");
}
