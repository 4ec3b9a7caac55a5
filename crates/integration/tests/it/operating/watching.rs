//! The alerts and the dashboard: Prometheus understands them, and a node serves every metric that they name.

use std::{collections::BTreeSet, process::Command};

use headwater_integration::Node;
use serde_json::{Value, json};

use super::files;

const ALERTS: &str = "prometheus/alerts.yaml";
const DASHBOARD: &str = "grafana/headwater.json";

fn check_rules(path: &std::path::Path) {
    let mut check = Command::new("promtool");
    let checked = check.args(["check", "rules"]).arg(path).output().unwrap();
    let told = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{told}");
}

/// The expressions of the dashboard's panels.
fn expressions() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&files::text(DASHBOARD)).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let expressions = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    expressions.collect()
}

#[test]
fn prometheus_understands_the_alerts() {
    check_rules(&files::path(ALERTS));
}

/// Each of them as a rule, with values in place of Grafana's variables.
#[test]
fn prometheus_understands_the_dashboards_expressions() {
    let expressions = expressions();
    assert!(!expressions.is_empty());
    let rules = expressions.iter().map(|expression| {
        let plain = expression
            .replace("$__rate_interval", "5m")
            .replace("$instance", ".*")
            .replace("$job", "headwater");
        assert!(!plain.contains('$'), "{plain}");
        json!({"record": "of:the:dashboard", "expr": plain, "labels": {"panel": plain}})
    });
    let rules: Vec<_> = rules.collect();
    let folder = tempfile::tempdir().unwrap();
    // JSON is YAML.
    let path = folder.path().join("rules.yaml");
    let file = json!({"groups": [{"name": "dashboard", "rules": rules}]});
    std::fs::write(&path, file.to_string()).unwrap();
    check_rules(&path);
}

/// Names of metrics, without labels.
fn metrics(text: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let words = text.split(|letter| !is_part(letter));
    let named = words.filter(|word| word.starts_with("headwater_"));
    named.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_node_serves_every_metric_that_the_files_name() {
    let node = Node::start().await;
    // A family without labels yet has no line.
    node.get("/users/me").await.is(200);
    let served = node.get("//metrics").await.is(200).text;
    let served: BTreeSet<_> = served
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(metrics)
        .collect();
    for (file, named) in [
        (ALERTS, metrics(&files::text(ALERTS))),
        (DASHBOARD, metrics(&files::text(DASHBOARD))),
    ] {
        assert!(!named.is_empty(), "{file}");
        let missing: Vec<_> = named.difference(&served).collect();
        assert!(missing.is_empty(), "{file}: {missing:?}");
    }
}
