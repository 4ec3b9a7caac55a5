//! Props given on the command line, as they reach the node.

use serde_json::{Value, json};

use crate::node::{Node, Seen};

async fn deploy(node: &Node, arguments: &[&str]) -> Seen {
    let component = json!({"id": "sc_1", "configurable_props": [
        {"name": "rss", "type": "app", "app": "rss"},
        {"name": "url", "type": "string", "label": "Feed URL"},
        {"name": "max", "type": "integer"},
        {"name": "tags", "type": "string[]", "optional": true},
        {"name": "all", "type": "boolean", "default": false},
        {"name": "timer", "type": "$.interface.timer", "default": {"intervalSeconds": 900}},
        {"name": "db", "type": "$.service.db"},
    ]});
    node.data("POST /v1/components", component);
    node.data("POST /v1/sources", json!({"id": "dc_1", "name": "a"}));
    let mut all = vec!["deploy", "https://example.com/a.mjs"];
    all.extend(arguments);
    node.run(&all).await
}

fn configured(node: &Node) -> Value {
    node.received("POST /v1/sources")[0].body["configured_props"].clone()
}

#[tokio::test]
async fn values_are_parsed_by_type_and_accounts_found_by_name() {
    let node = Node::start().await;
    let account = json!({"id": "apn_1", "app": "rss", "name": "mine"});
    node.list("GET /v1/accounts", json!([account]));
    let given = [
        "--prop",
        "rss=mine",
        "--prop",
        "url=https://x/?a=b",
        "--prop",
        "max=5",
        "--prop",
        "tags=a, b",
        "--prop",
        "timer=1h",
    ];
    let seen = deploy(&node, &given).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(
        configured(&node),
        json!({
            "rss": {"authProvisionId": "apn_1"},
            "url": "https://x/?a=b",
            "max": 5,
            "tags": ["a", "b"],
            "timer": {"intervalSeconds": 3600},
        })
    );
}

#[tokio::test]
async fn flags_win_over_the_file() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("props.json");
    let props = json!({"url": "a", "max": 1, "rss": "apn_9", "timer": "0 9 * * *"});
    std::fs::write(&file, props.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let seen = deploy(&node, &["--props-file", file, "--prop", "max=2"]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(
        configured(&node),
        json!({
            "url": "a",
            "max": 2,
            "rss": {"authProvisionId": "apn_9"},
            "timer": {"cron": "0 9 * * *"},
        })
    );
}

#[tokio::test]
async fn without_a_terminal_everything_missing_is_named_and_nothing_deployed() {
    let node = Node::start().await;
    node.list("GET /v1/accounts", json!([]));
    node.list("GET /v1/apps", json!([]));
    let seen = deploy(&node, &[]).await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr.contains("\n  url (string): Feed URL"),
        "{}",
        seen.stderr
    );
    assert!(seen.stderr.contains("\n  max (integer)"), "{}", seen.stderr);
    // One advice, the one that the app has.
    let advice = "\n  rss (app of rss: there is no account of rss; add one with `headwater accounts add rss --field KEY=VALUE`)";
    assert!(seen.stderr.contains(advice), "{}", seen.stderr);
    assert_eq!(seen.stderr.matches("headwater accounts").count(), 1);
    assert!(node.received("POST /v1/sources").is_empty());
}

#[tokio::test]
async fn an_account_that_is_missing_ends_a_deploy_unless_its_app_needs_none() {
    let node = Node::start().await;
    node.list("GET /v1/accounts", json!([]));
    let values = ["--prop", "url=x", "--prop", "max=1"];
    let app = |auth: &str| json!([{"name_slug": "rss", "auth_type": auth}, {"name_slug": "rss2", "auth_type": "none"}]);
    node.list("GET /v1/apps", app("oauth2"));
    let seen = deploy(&node, &values).await;
    assert_eq!(seen.code, 2);
    let advice = "connect one with `headwater accounts connect rss`";
    assert!(seen.stderr.contains(advice), "{}", seen.stderr);
    assert!(node.received("POST /v1/sources").is_empty());
    node.list("GET /v1/apps", app("none"));
    let seen = deploy(&node, &values).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(
        !seen.stderr.contains("headwater accounts"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn wrong_values_and_unknown_names_are_usage_errors() {
    let node = Node::start().await;
    for (arguments, told) in [
        (
            ["--prop", "max=many"],
            "prop max: \"many\" is not an integer",
        ),
        (["--prop", "ulr=x"], "the component has no prop ulr"),
        (["--prop", "url"], "write --prop NAME=VALUE"),
    ] {
        let seen = deploy(&node, &arguments).await;
        assert_eq!(seen.code, 2, "{told}");
        assert!(seen.stderr.contains(told), "{}", seen.stderr);
    }
    assert!(node.received("POST /v1/sources").is_empty());
}
