//! `headwater deploy` and `headwater update`.

use std::path::Path;

use headwater_integration::{Node, Source, payloads};
use serde_json::json;

use crate::code::{EMITTER, INBOX};

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_file_is_deployed_and_shown() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "inbox.mjs", INBOX);
    let seen = node.cli(&["deploy", &file]).await.ok();
    let source = Source::new(
        node.get("/users/me/sources")
            .await
            .is(200)
            .items()
            .remove(0),
    );
    let expected = format!(
        "ID         {}\nNAME       inbox\nACTIVE     yes\nENDPOINT   {}\n",
        source.id,
        source.endpoint()
    );
    assert_eq!(seen.stdout, expected);
    let curl = format!("curl {} -H", source.endpoint());
    for next in [curl.as_str(), "headwater events inbox -f"] {
        assert!(seen.stderr.contains(next), "{}", seen.stderr);
    }
}

#[tokio::test]
async fn json_is_the_apis_record() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "inbox.mjs", INBOX);
    let seen = node
        .cli(&["deploy", &file, "--name", "Mine", "--json"])
        .await
        .ok();
    let source = Source::new(seen.json());
    assert_eq!(source.record["name"], "Mine");
    assert_eq!(node.get(&source.path()).await.is(200).data(), source.record);
}

#[tokio::test]
async fn local_imports_are_bundled_and_packages_left_to_the_node() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "shared/shop.mjs",
        "import ms from \"ms@2.1.3\";\nexport const minute = () => ms(\"1m\");\n",
    );
    write(
        folder.path(),
        "shared/city.ts",
        "export const city: string = \"Wien\";\n",
    );
    let main = r#"
import { minute } from "../shared/shop.mjs";
import { city } from "../shared/city.ts";
export default {
  name: "Bundled",
  version: "0.0.1",
  run() { this.$emit({ city, minute: minute() }); },
};
"#;
    write(folder.path(), "sources/main.mjs", main);
    let seen = node
        .cli_in(folder.path(), &["deploy", "sources/main.mjs", "--json"])
        .await
        .ok();
    let source = Source::new(seen.json());
    node.run(&source, json!({})).await;
    assert_eq!(
        payloads(&node.events(&source).await),
        [json!({"city": "Wien", "minute": 60_000})]
    );
}

#[tokio::test]
async fn props_come_from_flags_and_a_file() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let code = r#"
export default {
  name: "Props",
  version: "0.0.1",
  props: {
    shop: { type: "app", app: "shop" },
    timer: "$.interface.timer",
    city: { type: "string" },
    tags: { type: "string[]" },
    count: { type: "integer", default: 1 },
  },
  run() {},
};
"#;
    let file = write(folder.path(), "props.mjs", code);
    let props = write(
        folder.path(),
        "props.json",
        &json!({"city": "Graz", "tags": ["a"]}).to_string(),
    );
    node.cli(&[
        "accounts", "add", "shop", "--field", "key=k", "--name", "mine",
    ])
    .await
    .ok();
    let arguments = [
        "deploy",
        &file,
        "--props-file",
        &props,
        "--prop",
        "city=Wien",
        "--prop",
        "timer=1h",
        "--prop",
        "shop=mine",
        "--prop",
        "count=5",
        "--json",
    ];
    let shown = node.cli(&arguments).await.ok().json()["configured_props"].take();
    assert_eq!(
        (&shown["city"], &shown["tags"], &shown["count"]),
        (&json!("Wien"), &json!(["a"]), &json!(5))
    );
    assert_eq!(shown["timer"]["interval_seconds"], 3600);
    assert!(shown["shop"]["authProvisionId"].is_string(), "{shown}");
}

#[tokio::test]
async fn what_is_missing_is_named_and_nothing_deployed() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let code =
        "export default { name: \"N\", version: \"0.0.1\", props: { url: \"string\" }, run() {} };";
    let file = write(folder.path(), "needs.mjs", code);
    let seen = node.cli(&["deploy", &file]).await;
    assert_eq!(
        (seen.code, seen.stdout.as_str()),
        (2, ""),
        "{}",
        seen.stderr
    );
    assert!(seen.stderr.contains("url"), "{}", seen.stderr);
    let seen = node.cli(&["deploy", "no-such-file.mjs"]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    assert!(seen.stderr.contains("no-such-file.mjs"), "{}", seen.stderr);
    assert_eq!(node.get("/users/me/sources").await.is(200).items().len(), 0);
}

#[tokio::test]
async fn a_component_that_throws_is_told_with_its_stack() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let code = "export default { name: \"T\", version: \"0.0.1\", \
                hooks: { activate() { throw new Error(\"not today\"); } }, run() {} };";
    let file = write(folder.path(), "throws.mjs", code);
    let seen = node.cli(&["deploy", &file]).await;
    assert_eq!(
        (seen.code, seen.stdout.as_str()),
        (1, ""),
        "{}",
        seen.stderr
    );
    assert!(
        seen.stderr.contains("not today") && seen.stderr.contains("activate"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn a_package_is_deployed_from_npm() {
    let node = Node::start().await;
    let reference =
        "npm:@pipedream/pipedream@0.4.2/sources/new-scheduled-tasks/new-scheduled-tasks.mjs";
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
    let seen = node
        .cli(&["deploy", reference, "--prop", "pipedream=mine", "--json"])
        .await
        .ok();
    assert_eq!(seen.json()["name"], "new-scheduled-tasks");
}

#[tokio::test]
async fn an_update_changes_code_and_keeps_the_rest() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let source = node.deploy(EMITTER, json!({})).await;
    node.cli(&["pause", &source.id]).await.ok();
    let file = write(folder.path(), "inbox.mjs", INBOX);
    let updated = node
        .cli(&["update", "emitter", &file, "--json"])
        .await
        .ok()
        .json();
    assert_eq!(updated["id"], json!(source.id));
    assert_eq!(updated["active"], false);
    assert_ne!(updated["component_id"], source.record["component_id"]);
    assert_eq!(node.cli(&["update", "emitter"]).await.code, 2);
}

const NEEDS_CITY: &str = r#"
export default {
  name: "Weather", key: "weather-of-city", version: "0.0.1",
  props: { city: { type: "string" } },
  hooks: { async activate() { if (this.city === "Atlantis") throw new Error("no such city"); } },
  run() {},
};
"#;
const NEVER_FIRES: &str = r#"
export default {
  name: "App hook", key: "hook-of-app", version: "0.0.1",
  props: { app: { type: "app", app: "shop" }, hook: { type: "$.interface.apphook", appProp: "app" } },
  run() {},
};
"#;

#[tokio::test]
async fn a_refused_deployment_leaves_no_component_and_the_same_code_is_one() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "weather.mjs", NEEDS_CITY);
    let hook = write(folder.path(), "hook.mjs", NEVER_FIRES);
    let (file, hook) = (file.as_str(), hook.as_str());
    let components = async || node.get("/components").await.is(200).items().len();
    let refusals = [
        vec!["deploy", file],
        vec!["deploy", file, "--prop", "city=Atlantis"],
        vec!["deploy", file, "--prop", "town=Graz"],
        vec!["deploy", hook],
    ];
    for arguments in &refusals {
        let seen = node.cli(arguments).await;
        assert_ne!(seen.code, 0, "{arguments:?}");
        assert_eq!(components().await, 0, "{arguments:?}: {}", seen.stderr);
    }
    let atlantis = json!({
        "component_code": NEEDS_CITY, "configured_props": {"city": "Atlantis"},
    });
    node.post("/sources", atlantis).await.is(422);
    assert_eq!(components().await, 0);

    let graz = ["deploy", file, "--prop", "city=Graz", "--json"];
    let first = node.cli(&graz).await.ok().json();
    let second = node.cli(&graz).await.ok().json();
    assert_eq!(first["component_id"], second["component_id"]);
    // What was there before a refusal stays.
    node.cli(&["deploy", file, "--prop", "city=Atlantis"]).await;
    assert_eq!(components().await, 1);

    // An update that is refused leaves none either.
    let changed = write(
        folder.path(),
        "weather.mjs",
        &NEEDS_CITY.replace("0.0.1", "0.0.2"),
    );
    let id = first["id"].as_str().unwrap();
    let refused = node
        .cli(&["update", id, &changed, "--prop", "city=Atlantis"])
        .await;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let now = node.get("/components/weather-of-city").await.is(200).data();
    assert_eq!(now["id"], first["component_id"]);
}
