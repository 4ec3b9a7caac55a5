//! `headwater deployments` and `headwater roll-back`, of sources and of workflows.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::answering,
    workflows::{Folder, HTTP},
};

#[tokio::test]
async fn a_source_is_rolled_back_by_its_name() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1.0.0"), json!({})).await;
    let body = json!({"component_code": answering("2.0.0")});
    node.put(&source.path(), body).await.is(200);
    let seen = node.cli(&["deployments", "answering"]).await.ok();
    let lines: Vec<_> = seen.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", seen.stdout);
    for (line, parts) in [
        (1, ["Answering 2.0.0", "running"]),
        (2, ["Answering 1.0.0", "former"]),
    ] {
        assert!(
            parts.iter().all(|part| lines[line].contains(part)),
            "{}",
            seen.stdout
        );
    }
    let first = source.record["deployment_id"].as_str().unwrap();
    let describe = ["deployments", "describe", "answering", first];
    let seen = node.cli(&describe).await.ok();
    assert!(seen.stdout.contains("Answering 1.0.0"), "{}", seen.stdout);
    let code = node
        .cli(&["deployments", "describe", "answering", first, "--code"])
        .await
        .ok();
    assert_eq!(code.stdout.trim(), answering("1.0.0").trim());

    node.cli(&["roll-back", "answering", first]).await.ok();
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "1.0.0");
    let listed = node.cli(&["deployments", "answering", "--json"]).await.ok();
    assert_eq!(listed.json()[0]["restores"], first);
    let refused = node
        .cli(&["roll-back", "answering", "d_0000000000000000000000"])
        .await;
    assert!(
        refused.stderr.contains("there is no deployment"),
        "{}",
        refused.stderr
    );
}

#[tokio::test]
async fn a_workflow_is_rolled_back_by_its_name() {
    let node = Node::start().await;
    let first = Folder::new(HTTP, &[("one", "return 1;")])
        .deployed(&node)
        .await;
    let state = first.record["state_file"].as_str().unwrap();
    let next = Folder::new(HTTP, &[("one", "return 2;")]).with(".workflow.state", state);
    next.deployed(&node).await;
    let former = first.record["deployment_id"].as_str().unwrap();
    let listed = node.cli(&["deployments", "orders"]).await.ok();
    let lines: Vec<_> = listed.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", listed.stdout);
    assert!(lines[1].contains("running"), "{}", listed.stdout);
    assert!(
        lines[2].contains("former") && lines[2].contains(former),
        "{}",
        listed.stdout
    );
    let describe = ["deployments", "describe", "orders", former];
    let card = node.cli(&describe).await.ok().stdout;
    assert!(card.contains("one/entry.js"), "{card}");
    let code = node
        .cli(&["deployments", "describe", "orders", former, "--code"])
        .await
        .ok();
    for shown in ["==> workflow.yaml <==", "return 1;"] {
        assert!(code.stdout.contains(shown), "{}", code.stdout);
    }
    let back = node.cli(&["roll-back", "orders", former]).await.ok();
    assert!(back.stdout.contains(first.id()), "{}", back.stdout);
    assert!(back.stderr.contains("folder"), "{}", back.stderr);
    let listed = node.cli(&["deployments", "orders", "--json"]).await.ok();
    assert_eq!(listed.json()[0]["restores"], former);
}
