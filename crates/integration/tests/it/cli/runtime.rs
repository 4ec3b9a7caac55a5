//! `headwater runtime install`, and nodes without a registry.

use headwater_integration::{Node, payloads};
use serde_json::json;

/// Nobody answers there.
const GONE: &str = "http://127.0.0.1:9/";
const CODE: &str = "export default { name: \"A\", version: \"0.0.1\", run() { this.$emit(1); } };";

#[tokio::test]
async fn what_was_installed_is_all_that_a_node_without_a_registry_needs() {
    let installing = Node::start().await;
    let cache = tempfile::tempdir().unwrap();
    let mut command = installing.command(&["runtime", "install"]);
    let output = command
        .env("HEADWATER_CACHE_DIR", cache.path())
        .output()
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let deno = String::from_utf8_lossy(&output.stdout);
    assert!(std::path::Path::new(deno.trim()).is_file(), "{deno}");

    let node = Node::builder()
        .env("HEADWATER_CACHE_DIR", cache.path().to_str().unwrap())
        .env("NPM_CONFIG_REGISTRY", GONE)
        .start()
        .await;
    let sources = futures::future::join_all((0..8).map(|_| node.deploy(CODE, json!({})))).await;
    for source in &sources {
        node.run(source, json!({})).await;
        assert_eq!(payloads(&node.events(source).await), [1]);
    }
    node.cli(&["doctor"]).await.ok();
}

#[tokio::test]
async fn a_node_that_cannot_build_says_so_and_blames_no_component() {
    let cache = tempfile::tempdir().unwrap();
    let node = Node::builder()
        .env("HEADWATER_CACHE_DIR", cache.path().to_str().unwrap())
        .env("NPM_CONFIG_REGISTRY", GONE)
        .start()
        .await;
    let refused = node.try_deploy(CODE, json!({})).await.is(503).error();
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("headwater runtime install"), "{message}");
    let data_dir = node.data_dir().display().to_string();
    assert!(!message.contains(&data_dir), "{message}");
    let ready = node.with_key(None).get("//readyz").await.is(200).json();
    assert_eq!(ready["checks"]["builder"]["status"], "unavailable");
    let seen = node.cli(&["doctor"]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stdout.contains("headwater runtime install"),
        "{}",
        seen.stdout
    );
}
