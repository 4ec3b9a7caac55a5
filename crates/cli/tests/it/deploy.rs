//! `deploy`: what is saved, what is configured, what is shown.

use serde_json::json;

use crate::node::Node;

const COMPONENT: &str = "export default { name: \"a\", version: \"0.0.1\", run() {} };\n";

fn saved(node: &Node, props: serde_json::Value) {
    let component = json!({"id": "sc_1", "configurable_props": props});
    node.data("POST /v1/components", component);
    let source = json!({
        "id": "dc_1", "name": "a", "active": true,
        "configured_props": {
            "http": {"endpoint_url": "http://node/e/token"},
            "timer": {"cron": null, "interval_seconds": 900},
        },
    });
    node.data("POST /v1/sources", source);
}

#[tokio::test]
async fn a_file_is_saved_as_it_is_and_deployed_by_the_components_id() {
    let node = Node::start().await;
    saved(&node, json!([]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mjs");
    std::fs::write(&file, COMPONENT).unwrap();

    let seen = node.run(&["deploy", file.to_str().unwrap()]).await;

    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(
        seen.stdout,
        "ID         dc_1\nNAME       a\nACTIVE     yes\n\
         ENDPOINT   http://node/e/token\nTIMER      every 15 min\n"
    );
    assert_eq!(
        seen.stderr,
        "send it a request: curl http://node/e/token -H 'content-type: application/json' -d '{\"hello\": \"world\"}'\n\
         run it now: headwater run a\nsee its events: headwater events a -f\n"
    );
    let save = &node.received("POST /v1/components")[0];
    assert_eq!(save.body, json!({"component_code": COMPONENT}));
    assert_eq!(save.authorization.as_deref(), Some("Bearer secret"));
    let deploy = &node.received("POST /v1/sources")[0];
    assert_eq!(
        deploy.body,
        json!({"component_id": "sc_1", "configured_props": {}})
    );
}

#[tokio::test]
async fn a_source_is_run_once_when_that_is_asked_for() {
    let node = Node::start().await;
    saved(&node, json!([]));
    node.data(
        "POST /v1/sources/dc_1/run",
        json!({"events": 3, "outcome": {"status": "returned"}, "logs": []}),
    );
    let deploy = ["deploy", "https://example.com/a.mjs", "--run"];
    let seen = node.run(&deploy).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(
        seen.stdout.starts_with("ID         dc_1\n"),
        "{}",
        seen.stdout
    );
    assert!(
        seen.stderr.contains("it ran, and emitted 3 events"),
        "{}",
        seen.stderr
    );
    let threw = json!({"status": "threw", "error": {"name": "Error", "message": "boom"}});
    node.data(
        "POST /v1/sources/dc_1/run",
        json!({"events": 0, "outcome": threw, "logs": []}),
    );
    let seen = node.run(&deploy).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("boom"), "{}", seen.stderr);
}

#[tokio::test]
async fn a_source_that_can_never_fire_is_deployed_only_when_that_is_asked_for() {
    let node = Node::start().await;
    let hook = json!({"name": "hook", "type": "$.interface.apphook"});
    saved(&node, json!([hook]));
    let deploy = ["deploy", "https://example.com/a.mjs"];
    let seen = node.run(&deploy).await;
    assert_eq!(seen.code, 2);
    assert!(seen.stderr.contains("--anyway"), "{}", seen.stderr);
    assert!(node.received("POST /v1/sources").is_empty());
    let seen = node.run(&[&deploy[..], &["--anyway"]].concat()).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    saved(
        &node,
        json!([hook, {"name": "timer", "type": "$.interface.timer", "optional": true}]),
    );
    assert_eq!(node.run(&deploy).await.code, 0);
}

#[tokio::test]
async fn new_code_that_can_never_fire_is_refused_unless_the_former_could_not_either() {
    let node = Node::start().await;
    let hook = json!({"name": "hook", "type": "$.interface.apphook"});
    let timer = json!({"name": "timer", "type": "$.interface.timer"});
    saved(&node, json!([hook]));
    let source = json!({"id": "dc_1", "name": "a", "component_id": "sc_0", "active": true});
    node.data("GET /v1/sources/dc_1", source.clone());
    node.data("PUT /v1/sources/dc_1", source);
    let former = |props: serde_json::Value| json!({"id": "sc_0", "configurable_props": props});
    node.data("GET /v1/components/sc_0", former(json!([timer])));
    let update = ["update", "dc_1", "https://example.com/a.mjs"];
    let seen = node.run(&update).await;
    assert_eq!(seen.code, 2);
    assert!(seen.stderr.contains("--anyway"), "{}", seen.stderr);
    assert!(node.received("PUT /v1/sources/dc_1").is_empty());
    let anyway = [&update[..], &["--anyway"]].concat();
    assert_eq!(node.run(&anyway).await.code, 0);
    node.data("GET /v1/components/sc_0", former(json!([hook])));
    let seen = node.run(&update).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mjs");
    std::fs::write(&file, COMPONENT).unwrap();
    let seen = node.run(&["dev", file.to_str().unwrap()]).await;
    assert_eq!(seen.code, 2, "{}", seen.stderr);
    assert!(seen.stderr.contains("--anyway"), "{}", seen.stderr);
    assert!(node.received("POST /v1/sources").is_empty());
}

#[tokio::test]
async fn the_first_run_by_a_timer_is_told_with_the_command_that_runs_it_now() {
    let node = Node::start().await;
    saved(&node, json!([]));
    node.on("GET /v1/sources/dc_1", |request| {
        assert_eq!(request.query["expand"], "health");
        let now = std::time::SystemTime::now();
        let now_ms = now
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_millis();
        // Later than 15 minutes by more than a slow test takes, and not by half a minute.
        let next = u64::try_from(now_ms).unwrap() + 915_000;
        (
            200,
            json!({"data": {"id": "dc_1", "health": {"next_tick_at_ms": next}}}),
        )
    });
    let seen = node.run(&["deploy", "https://example.com/a.mjs"]).await;
    let told = "\nfirst run in 15 min; `headwater run a` runs it now\n";
    assert!(seen.stderr.contains(told), "{}", seen.stderr);
}

#[tokio::test]
async fn a_url_and_a_package_are_left_to_the_node() {
    let node = Node::start().await;
    saved(&node, json!([]));
    node.run(&["deploy", "https://example.com/a.mjs", "--name", "mine"])
        .await;
    node.run(&["deploy", "npm:@pipedream/rss@0.5/sources/a/a.mjs"])
        .await;
    let saves = node.received("POST /v1/components");
    assert_eq!(
        saves[0].body,
        json!({"component_url": "https://example.com/a.mjs"})
    );
    assert_eq!(
        saves[1].body["component_code"],
        "export { default } from \"@pipedream/rss@0.5/sources/a/a.mjs\";\n"
    );
    assert_eq!(node.received("POST /v1/sources")[0].body["name"], "mine");
}

#[tokio::test]
async fn json_is_the_apis_data() {
    let node = Node::start().await;
    saved(&node, json!([]));
    let seen = node
        .run(&["deploy", "https://example.com/a.mjs", "--json"])
        .await;
    assert_eq!(seen.json()["id"], "dc_1");
}

#[tokio::test]
async fn a_component_that_throws_shows_its_message_and_stack() {
    let node = Node::start().await;
    node.on("POST /v1/components", |_| {
        let error = json!({"code": "threw", "message": "boom", "stack": "Error: boom\n    at a"});
        (422, json!({"error": error}))
    });
    let seen = node.run(&["deploy", "https://example.com/a.mjs"]).await;
    assert_eq!(seen.code, 1);
    assert_eq!(seen.stdout, "");
    assert_eq!(
        seen.stderr,
        "error: boom\nError: boom\n    at a\n\
         hint: fix the component and try again\n"
    );
}

#[tokio::test]
async fn a_missing_file_and_a_bad_reference_are_told_apart_by_the_exit_code() {
    let node = Node::start().await;
    assert_eq!(node.run(&["deploy", "no-such-file.mjs"]).await.code, 1);
    assert_eq!(node.run(&["deploy", "npm:rss"]).await.code, 2);
    assert_eq!(node.run(&["deploy"]).await.code, 2);
}
