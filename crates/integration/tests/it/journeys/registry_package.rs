//! The published `@pipedream/pipedream`, unchanged, fills a node's registry; then its components are
//! found, described and deployed by their keys. And a folder of one's own, with what it shares.

use headwater_integration::{Node, payloads};
use serde_json::json;

const KEY: &str = "pipedream-new-scheduled-tasks";

#[tokio::test]
async fn a_package_fills_the_registry_and_is_deployed_by_key() {
    let node = Node::start().await;
    let package = "npm:@pipedream/pipedream@0.4.2";
    let seen = node.cli(&["publish", package]).await.ok();
    assert!(seen.stderr.contains("[5/5] published"), "{}", seen.stderr);
    let again = node.cli(&["publish", package]).await.ok();
    assert!(again.stderr.contains("[5/5] unchanged"), "{}", again.stderr);

    let found = [
        "list",
        "components",
        "scheduled",
        "--app",
        "pipedream",
        "--json",
    ];
    let found = node.cli(&found).await.ok().json();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(
        (&found[0]["key"], &found[0]["published"]),
        (&json!(KEY), &json!(true))
    );

    let described = node.cli(&["describe", KEY]).await.ok();
    assert!(described.stdout.contains(KEY), "{}", described.stdout);

    node.cli(&[
        "accounts",
        "add",
        "pipedream",
        "--field",
        "api_key=k",
        "--name",
        "mine",
    ])
    .await
    .ok();
    let deploy = ["deploy", KEY, "--prop", "pipedream=mine", "--json"];
    let source = node.cli(&deploy).await.ok().json();
    assert_eq!(source["component_id"], found[0]["id"]);
    assert_eq!(source["active"], true);
}

#[tokio::test]
async fn a_folder_is_published_with_what_its_components_share() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let shared = "export default { greet: (name) => `hello ${name}` };";
    let component = r#"
import shop from "../../shop.app.mjs";
export default {
  name: "Greeting", key: "shop-greeting", version: "1.0.0",
  run(event) { this.$emit(shop.greet(event.name)); },
};
"#;
    let broken = "export default { key: \"shop-broken\", version: \"1.0.0\", name: nobody };";
    for (path, code) in [
        ("shop.app.mjs", shared),
        ("sources/greeting/greeting.mjs", component),
        ("sources/broken/broken.mjs", broken),
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, code).unwrap();
    }
    let seen = node.cli_in(folder.path(), &["publish", "."]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    assert!(
        seen.stderr.contains("failed ./sources/broken/broken.mjs"),
        "{}",
        seen.stderr
    );
    assert!(
        seen.stderr.contains("nobody is not defined"),
        "{}",
        seen.stderr
    );

    let source = node
        .cli(&["deploy", "shop-greeting", "--json"])
        .await
        .ok()
        .json();
    let id = source["id"].as_str().unwrap();
    node.cli(&["run", id, "--event", r#"{"name": "you"}"#])
        .await
        .ok();
    let path = format!("/sources/{id}/event_summaries?expand=event");
    let events = node.get(&path).await.is(200).items();
    assert_eq!(payloads(&events), ["hello you"]);
}
