//! The image and the Compose files, as far as they can be checked without a registry of images.

use std::collections::BTreeSet;

use headwater_integration::{Node, Python};
use serde_json::Value;

use super::files;

/// Variables that a node or its commands read besides the flags of `serve`.
const FURTHER: [&str; 4] = [
    "HEADWATER_API_KEY",
    "HEADWATER_CACHE_DIR",
    "HEADWATER_DATA_DIR",
    "HEADWATER_SECRET_KEY",
];
/// Variables of the Caddyfile.
const OF_THE_PROXY: [&str; 2] = ["HEADWATER_SITE", "HEADWATER_UPSTREAMS"];

#[tokio::test]
async fn the_health_check_of_the_image_tells_whether_the_node_answers() {
    let image = files::text("Dockerfile");
    let check = image.lines().find(|line| line.starts_with("HEALTHCHECK"));
    let (_, command) = check.unwrap().split_once(" CMD ").unwrap();
    let command: Vec<String> = serde_json::from_str(command).unwrap();
    assert_eq!(command[0], "headwater");
    let arguments: Vec<&str> = command[1..].iter().map(String::as_str).collect();
    let mut node = Node::start().await;
    node.cli(&arguments).await.ok();
    node.kill_9();
    assert_eq!(node.cli(&arguments).await.code, 1);
}

#[tokio::test]
async fn every_variable_that_the_files_set_is_read() {
    let node = Node::start().await;
    let help = node.cli(&["serve", "--help"]).await.ok().stdout;
    let mut known = variables(&help);
    known.extend(FURTHER.map(str::to_owned));
    known.extend(OF_THE_PROXY.map(str::to_owned));
    for file in [
        "Dockerfile",
        ".env.example",
        "compose.yaml",
        "compose.postgres.yaml",
        "caddy/Caddyfile",
        "helm/headwater/values.yaml",
        "helm/headwater/templates/secret.yaml",
        "helm/headwater/templates/statefulset.yaml",
    ] {
        let set = variables(&files::text(file));
        assert!(!set.is_empty(), "{file}");
        let unknown: Vec<_> = set.difference(&known).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
}

fn variables(text: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    let words = text.split(|letter| !is_part(letter));
    let named = words.filter(|word| word.starts_with("HEADWATER_"));
    named.map(str::to_owned).collect()
}

/// Also that no secret stands in them, and that the root of each container is read-only.
#[tokio::test]
async fn the_compose_files_harden_every_node() {
    let python = Python::new();
    for (file, nodes) in [
        ("compose.yaml", vec!["headwater"]),
        ("compose.postgres.yaml", vec!["node1", "node2", "node3"]),
    ] {
        let read = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), open('read.json', 'w'))";
        let path = files::path(file).display().to_string();
        python.run(&["-c", read, &path], &[]).await;
        let read = std::fs::read_to_string(python.folder().join("read.json")).unwrap();
        let read: Value = serde_json::from_str(&read).unwrap();
        for name in nodes {
            let node = &read["services"][name];
            assert_eq!(node["read_only"], true, "{name}");
            assert_eq!(node["cap_drop"], serde_json::json!(["ALL"]), "{name}");
            for (variable, value) in node["environment"].as_object().unwrap() {
                let is_secret = ["KEY", "SECRET", "DATABASE_URL"]
                    .iter()
                    .any(|part| variable.contains(part));
                let value = value.as_str().unwrap();
                assert!(!is_secret || value.contains("${"), "{variable}={value}");
            }
        }
    }
}
