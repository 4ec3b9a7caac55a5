//! `headwater doctor`, and how commands find node and key.

use headwater_integration::Node;

#[tokio::test]
async fn a_node_in_order_passes_every_check() {
    let node = Node::start().await;
    let seen = node.cli(&["doctor", "--json"]).await.ok();
    let checks = seen.json();
    let failed: Vec<_> = checks
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["result"] == "failed")
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    let names: Vec<_> = checks
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["check"].as_str().unwrap())
        .collect();
    for name in ["node", "ready", "key", "data folder"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[tokio::test]
async fn a_wrong_key_and_a_missing_node_are_told() {
    let node = Node::start().await;
    let seen = node.cli(&["doctor", "--api-key", "hw_nobody"]).await;
    assert_eq!(seen.code, 1, "{}", seen.stdout);
    let seen = node.cli(&["list", "--url", "http://127.0.0.1:9"]).await;
    assert_eq!((seen.code, seen.stdout.as_str()), (1, ""));
    assert!(seen.stderr.contains("headwater serve"), "{}", seen.stderr);
}

#[tokio::test]
async fn the_key_is_found_in_the_nodes_data_folder() {
    let node = Node::builder().without_key().start().await;
    let mut command = node.command(&["list", "--json"]);
    let output = command
        .env_remove("HEADWATER_API_KEY")
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "[]");
}
