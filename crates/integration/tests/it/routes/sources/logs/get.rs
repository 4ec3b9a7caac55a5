//! `GET /sources/{id}/logs`: the channel `$logs`.

use headwater_integration::{Node, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

const LOGGING: &str = r#"
export default {
  name: "Logging",
  version: "0.0.1",
  run({ n }) {
    console.debug("debug", n);
    console.log("log", n);
    console.warn("warn", n);
    console.error("error", n);
  },
};
"#;

#[tokio::test]
async fn lines_are_listed_newest_first_with_level_and_run() {
    let node = Node::start().await;
    let source = node.deploy(LOGGING, json!({})).await;
    let first = node.run(&source, json!({"n": 1})).await;
    let second = node.run(&source, json!({"n": 2})).await;
    let items = node
        .get(&format!("{}/logs", source.path()))
        .await
        .is(200)
        .items();
    let lines: Vec<_> = payloads(&items);
    let shown: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["level"].as_str().unwrap(),
                line["message"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("error", "error 2"),
        ("warn", "warn 2"),
        ("info", "log 2"),
        ("debug", "debug 2"),
        ("error", "error 1"),
        ("warn", "warn 1"),
        ("info", "log 1"),
        ("debug", "debug 1"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(lines[0]["invocation_id"], second["invocation_id"]);
    assert_eq!(lines[7]["invocation_id"], first["invocation_id"]);
    assert!(lines[0]["ts"].is_u64(), "{}", lines[0]);
    assert_eq!(items[0]["metadata"]["name"], "$logs");
}

#[tokio::test]
async fn logs_are_paged_and_are_no_ordinary_events() {
    let node = Node::start().await;
    let source = node.deploy(LOGGING, json!({})).await;
    node.run(&source, json!({"n": 1})).await;
    let page = node
        .get(&format!("{}/logs?limit=3", source.path()))
        .await
        .is(200)
        .json();
    assert_eq!(page["page_info"]["total_count"], 4);
    assert_eq!(page["page_info"]["count"], 3);
    assert_eq!(node.events(&source).await, [Value::Null; 0]);
    assert_eq!(node.channel(&source, "$logs").await.len(), 4);
}

#[tokio::test]
async fn a_silent_source_has_no_logs_and_an_unknown_one_is_not_found() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    assert_eq!(
        node.get(&format!("{}/logs", source.path()))
            .await
            .is(200)
            .items(),
        [Value::Null; 0]
    );
    node.get(&format!("/sources/{}/logs", unknown("dc_")))
        .await
        .is(404);
}
