//! `headwater init`: what it writes runs, and its tests pass.

use std::{path::Path, process::Stdio};

use axum::{Json, Router, routing::get};
use headwater_integration::Node;
use serde_json::json;
use tokio::process::Command;

/// Runs the generated test with the runtime that Headwater has at hand.
async fn test(node: &Node, folder: &Path, file: &str) {
    let deno = node.cli(&["runtime"]).await.ok().stdout;
    let output = Command::new(deno.trim())
        .args(["test", "--allow-env", file])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{shown}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(shown.contains("0 failed"), "{shown}");
}

#[tokio::test]
async fn the_source_deploys_runs_and_passes_its_test() {
    let node = Node::builder()
        .flag("--allow-private-network")
        .start()
        .await;
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["init", "source", "New \"Items\""];
    let seen = node.cli_in(folder.path(), &arguments).await.ok();
    assert_eq!(seen.stdout, "new-items.mjs\nnew-items.test.mjs\n");
    assert!(
        seen.stderr.contains("headwater dev new-items.mjs"),
        "{}",
        seen.stderr
    );
    test(&node, folder.path(), "new-items.test.mjs").await;

    let items = Router::new().route(
        "/",
        get(|| async { Json(json!([{"id": 1, "title": "One"}])) }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("url=http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, items).await });
    let arguments = ["deploy", "new-items.mjs", "--prop", &url, "--json"];
    let source = node.cli_in(folder.path(), &arguments).await.ok().json();
    let component = format!("/components/{}", source["component_id"].as_str().unwrap());
    let component = node.get(&component).await.is(200).data();
    assert_eq!(component["name"], "New \"Items\"");
    let id = source["id"].as_str().unwrap();
    for events in ["1", "0"] {
        let seen = node.cli(&["run", id]).await.ok();
        assert!(
            seen.stdout.contains(&format!("EVENTS       {events}")),
            "{}",
            seen.stdout
        );
    }
}

#[tokio::test]
async fn the_action_runs_and_passes_its_test() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    node.cli_in(folder.path(), &["init", "action"]).await.ok();
    test(&node, folder.path(), "my-action.test.mjs").await;
    let arguments = [
        "run-action",
        "my-action.mjs",
        "--prop",
        "name=Ada",
        "--json",
    ];
    let report = node.cli_in(folder.path(), &arguments).await.ok().json();
    assert_eq!(report["summary"], "Greeted Ada");
    assert_eq!(report["outcome"]["value"]["text"], "Hello Ada!");
}

#[tokio::test]
async fn nothing_is_overwritten() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("mine.test.mjs");
    std::fs::write(&kept, "kept").unwrap();
    let seen = node
        .cli_in(folder.path(), &["init", "source", "mine"])
        .await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr.contains("mine.test.mjs exists already"),
        "{}",
        seen.stderr
    );
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "kept");
    assert!(!folder.path().join("mine.mjs").exists());
    let seen = node.cli_in(folder.path(), &["init", "source", "…"]).await;
    assert_eq!(seen.code, 2);
}
