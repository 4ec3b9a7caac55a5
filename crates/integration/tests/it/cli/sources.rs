//! `headwater list`, `describe`, `pause`, `resume` and `delete`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::{EMITTER, INBOX, answering};

#[tokio::test]
async fn sources_are_listed_as_a_table_or_json() {
    let node = Node::start().await;
    let seen = node.cli(&["list"]).await.ok();
    assert_eq!(seen.stdout, "");
    assert!(seen.stderr.contains("headwater deploy"), "{}", seen.stderr);
    let inbox = node.deploy(INBOX, json!({})).await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let table = node.cli(&["list"]).await.ok().stdout;
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(
        lines[1].contains(&inbox.id) && lines[1].contains(inbox.endpoint()),
        "{table}"
    );
    assert!(lines[2].contains(&emitter.id), "{table}");
    let listed = node.cli(&["list", "--json"]).await.ok().json();
    let path = "/users/me/sources?expand=health";
    assert_eq!(listed, json!(node.get(path).await.is(200).items()));
}

#[tokio::test]
async fn a_source_and_a_component_are_described() {
    let node = Node::start().await;
    let source = node
        .deploy(
            &EMITTER.replace("version:", "key: \"test-emitter\", version:"),
            json!({}),
        )
        .await;
    let described = node
        .cli(&["describe", "emitter", "--json"])
        .await
        .ok()
        .json();
    let path = format!("{}?expand=health", source.path());
    assert_eq!(described, node.get(&path).await.is(200).data());
    let shown = node.cli(&["describe", &source.id]).await.ok().stdout;
    assert!(
        shown.contains(source.record["component_id"].as_str().unwrap()),
        "{shown}"
    );
    let component = node
        .cli(&["describe", "test-emitter", "--json"])
        .await
        .ok()
        .json();
    assert_eq!(component["id"], source.record["component_id"]);
    let seen = node.cli(&["describe", "nothing"]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("nothing"), "{}", seen.stderr);
}

#[tokio::test]
async fn pause_and_resume_switch_the_endpoint_off_and_on() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1"), json!({})).await;
    let paused = node.cli(&["pause", "answering"]).await.ok();
    assert!(paused.stdout.contains("ACTIVE     no"), "{}", paused.stdout);
    node.get(source.endpoint()).await.is(404);
    assert_eq!(
        node.cli(&["resume", "answering", "--json"])
            .await
            .ok()
            .json()["active"],
        true
    );
    node.get(source.endpoint()).await.is(200);
}

#[tokio::test]
async fn a_deleted_source_is_gone() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let seen = node.cli(&["delete", "emitter"]).await.ok();
    assert_eq!(seen.stdout, format!("{}\n", source.id));
    assert_eq!(
        node.get("/users/me/sources").await.is(200).items(),
        [Value::Null; 0]
    );
    let seen = node.cli(&["delete", "emitter"]).await;
    assert_eq!((seen.code, seen.stdout.as_str()), (1, ""));
}
