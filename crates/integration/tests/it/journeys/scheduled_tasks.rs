//! The published `@pipedream/pipedream`, unchanged: its `new-scheduled-tasks` schedules an event
//! over its endpoint, emits it when it is due, and cancels another. It calls the public API's
//! host, which means this node.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use headwater_integration::{Node, Source, payloads};
use serde_json::{Value, json};

const TASKS: &str = r#"export { default } from "@pipedream/pipedream@0.4.2/sources/new-scheduled-tasks/new-scheduled-tasks.mjs";"#;

async fn deploy(node: &Node) -> Source {
    let account = node
        .account("pipedream", json!({"api_key": node.api_key()}))
        .await;
    node.deploy(TASKS, json!({"pipedream": {"authProvisionId": account}}))
        .await
}

async fn schedule(node: &Node, source: &Source, after: Duration, message: &str) -> String {
    let at = DateTime::<Utc>::from(SystemTime::now() + after);
    let task =
        json!({"timestamp": at.to_rfc3339_opts(SecondsFormat::Millis, true), "message": message});
    let answer = node
        .post(&format!("{}/schedule", source.endpoint()), task)
        .await
        .is(200)
        .json();
    assert_eq!(answer["msg"], "Successfully scheduled task");
    answer["id"].as_str().unwrap().to_owned()
}

fn messages(events: &[Value]) -> Vec<Value> {
    payloads(events)
        .iter()
        .map(|event| event["message"].clone())
        .collect()
}

#[tokio::test]
async fn a_task_is_emitted_at_its_time_and_another_is_cancelled() {
    let node = Node::builder()
        .flag("--self-alias=api.pipedream.com")
        .start()
        .await;
    let source = deploy(&node).await;

    let due = schedule(&node, &source, Duration::from_secs(2), "tea").await;
    let cancelled = schedule(&node, &source, Duration::from_secs(3600), "never").await;
    let waits = |events: &[Value]| {
        let mut ids = events.iter().map(|event| &event["metadata"]["id"]);
        ids.any(|id| *id == cancelled)
    };
    node.channel_until(&source, "$in", waits).await;

    let cancel = format!("{}/cancel", source.endpoint());
    node.post(&cancel, json!({"id": cancelled})).await.is(200);
    node.post(&cancel, json!({"id": cancelled})).await.is(404);

    // On the channel `self` first, then, received from there by the source itself, on the default one.
    let events = node
        .channel_until(&source, "", |events| !events.is_empty())
        .await;
    assert_eq!(messages(&events), ["tea"]);
    assert_eq!(events[0]["metadata"]["id"], json!(due));
    let due_at: DateTime<Utc> = events[0]["event"]["timestamp"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let indexed_at_ms = events[0]["indexed_at_ms"].as_i64().unwrap();
    assert!(
        indexed_at_ms >= due_at.timestamp_millis(),
        "emitted before it was due: {}",
        events[0]
    );
    node.channel_until(&source, "$in", <[Value]>::is_empty)
        .await;
    assert_eq!(node.channel(&source, "$errors").await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_scheduled_task_survives_a_kill() {
    let mut node = Node::builder()
        .own_address()
        .flag("--self-alias=api.pipedream.com")
        .start()
        .await;
    let source = deploy(&node).await;
    schedule(&node, &source, Duration::from_secs(2), "tea").await;
    node.kill_9();
    node.restart().await;
    let events = node
        .channel_until(&source, "", |events| !events.is_empty())
        .await;
    assert_eq!(messages(&events), ["tea"]);
}

#[tokio::test]
async fn a_task_without_a_time_is_refused_by_the_component() {
    let node = Node::builder()
        .flag("--self-alias=api.pipedream.com")
        .start()
        .await;
    let source = deploy(&node).await;
    let answer = node
        .post(
            &format!("{}/schedule", source.endpoint()),
            json!({"message": "tea"}),
        )
        .await
        .is(400);
    assert!(
        answer.text.contains("No timestamp included"),
        "{}",
        answer.text
    );
}
