//! `headwater update --refresh-deps`, and the lock as `headwater describe` shows it.

use headwater_integration::{Node, NpmRegistry, Source, payloads};
use serde_json::json;

const CODE: &str = r#"
import words from "@local/words@^1.0.0";
export default { key: "words-words", name: "Words", version: "0.0.1", run() { this.$emit(words); } };"#;

fn words(version: &str) -> String {
    format!("export default \"{version}\";\n")
}

async fn versions(node: &Node, source: &Source) -> serde_json::Value {
    let source = node.get(&source.path()).await.is(200).data();
    let path = format!("/components/{}", source["component_id"].as_str().unwrap());
    node.get(&path).await.is(200).data()["packages"].clone()
}

#[tokio::test]
async fn packages_move_to_the_latest_allowed_and_only_when_asked() {
    let registry = NpmRegistry::start().await;
    for version in ["1.0.0", "2.0.0"] {
        registry.publish("words", version, &words(version));
    }
    let node = Node::builder().env("HOME", registry.home()).start().await;
    let source = node.deploy(CODE, json!({})).await;
    let locked =
        |version: &str| json!([{"name": "@local/words", "version": version, "range": "1"}]);
    assert_eq!(versions(&node, &source).await, locked("1.0.0"));
    registry.publish("words", "1.4.0", &words("1.4.0"));

    // An update of something else leaves them.
    node.cli(&["update", &source.id, "--name", "Other"])
        .await
        .ok();
    assert_eq!(versions(&node, &source).await, locked("1.0.0"));

    let seen = node
        .cli(&["update", &source.id, "--refresh-deps"])
        .await
        .ok();
    assert!(
        seen.stderr.contains("@local/words: 1.0.0 -> 1.4.0"),
        "{}",
        seen.stderr
    );
    assert_eq!(versions(&node, &source).await, locked("1.4.0"));
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), ["1.4.0"]);
    let seen = node.cli(&["describe", &source.id]).await.ok();
    assert!(
        seen.stdout.contains("@local/words   1       1.4.0"),
        "{}",
        seen.stdout
    );

    // The key is of what was saved under it, not of the source's copy.
    let of_key = node.get("/components/words-words").await.is(200).data();
    assert_eq!(of_key["packages"], locked("1.0.0"));

    let before = node.get(&source.path()).await.is(200).data();
    let seen = node
        .cli(&["update", &source.id, "--refresh-deps"])
        .await
        .ok();
    assert!(
        seen.stderr
            .contains("already have their latest allowed versions"),
        "{}",
        seen.stderr
    );
    assert_eq!(node.get(&source.path()).await.is(200).data(), before);
}

#[tokio::test]
async fn a_package_that_breaks_the_component_changes_nothing() {
    let registry = NpmRegistry::start().await;
    registry.publish("words", "1.0.0", &words("1.0.0"));
    let node = Node::builder().env("HOME", registry.home()).start().await;
    let source = node.deploy(CODE, json!({})).await;
    registry.publish(
        "words",
        "1.1.0",
        "throw new Error(\"broken release\");\nexport default 1;",
    );
    let seen = node.cli(&["update", &source.id, "--refresh-deps"]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("broken release"), "{}", seen.stderr);
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), ["1.0.0"]);
}

#[tokio::test]
async fn refreshing_goes_without_new_code() {
    let node = Node::start().await;
    let code = "export default { name: \"A\", version: \"0.0.1\", run() {} };";
    let source = node.deploy(code, json!({})).await;
    let body = json!({"refresh_deps": true, "component_code": code});
    let error = node.put(&source.path(), body).await.is(400).error();
    assert_eq!(error["param"], "refresh_deps");
}

#[tokio::test]
async fn a_file_gets_the_versions_of_the_nearest_package_json() {
    let registry = NpmRegistry::start().await;
    for version in ["1.0.0", "2.0.0"] {
        registry.publish("words", version, &words(version));
    }
    let node = Node::builder().env("HOME", registry.home()).start().await;
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("sources");
    std::fs::create_dir(&sources).unwrap();
    let manifest = r#"{"dependencies": {"@local/words": "^1.0.0"}}"#;
    std::fs::write(folder.path().join("package.json"), manifest).unwrap();
    let code = CODE.replace("@local/words@^1.0.0", "@local/words");
    std::fs::write(sources.join("words.mjs"), &code).unwrap();

    let seen = node
        .cli_in(folder.path(), &["deploy", "sources/words.mjs", "--json"])
        .await
        .ok();
    let deployed = seen.json();
    let path = format!("/components/{}", deployed["component_id"].as_str().unwrap());
    let packages = async |path: &str| node.get(path).await.is(200).data()["packages"].clone();
    let locked =
        |version: &str| json!([{"name": "@local/words", "version": version, "range": "1"}]);
    assert_eq!(packages(&path).await, locked("1.0.0"));

    // The range outlives the folder: newer packages are those that it allows.
    registry.publish("words", "1.4.0", &words("1.4.0"));
    let id = deployed["id"].as_str().unwrap();
    node.cli(&["update", id, "--refresh-deps"]).await.ok();
    let source = node.get(&format!("/sources/{id}")).await.is(200).data();
    let path = format!("/components/{}", source["component_id"].as_str().unwrap());
    assert_eq!(packages(&path).await, locked("1.4.0"));

    // Every command that takes a file sends them.
    let published = node
        .cli_in(folder.path(), &["publish", "sources/words.mjs", "--json"])
        .await;
    assert_eq!(published.code, 0, "{}", published.stderr);
    let key = node
        .get("/components/registry/words-words")
        .await
        .is(200)
        .data();
    assert_eq!(key["packages"], locked("1.4.0"));
}

#[tokio::test]
async fn versions_that_are_none_are_refused_by_name() {
    let node = Node::start().await;
    let code = "export default { name: \"A\", version: \"0.0.1\", run() {} };";
    for dependencies in [
        json!({"a": "file:../x"}),
        json!({"../a": "1"}),
        json!({"a": "1/../../x"}),
        json!({"a": "1\n2"}),
    ] {
        let body = json!({"component_code": code, "component_dependencies": dependencies});
        let error = node.post("/components", body).await.is(400).error();
        assert_eq!(error["param"], "component_dependencies");
    }
}
