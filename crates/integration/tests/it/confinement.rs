//! Confinement on the binary: what is saved reads nothing of the node, and a node ends no process of another's.

use headwater_integration::{Node, Receiver, Reply, payloads};
use serde_json::json;

/// Says which process it runs in, until it is let go, and emits that.
const WAITING: &str = r#"
const life = crypto.randomUUID();
export default {
  name: "Waiting",
  version: "0.0.1",
  props: { url: "string" },
  async run() {
    while (!(await fetch(this.url, { method: "POST", body: life })).ok) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.$emit(life);
  },
};
"#;

#[tokio::test]
async fn saving_a_component_reads_no_file_of_the_node() {
    let node = Node::start().await;
    let key = node.data_dir().join("api-key").display().to_string();
    let up = "../../../../../../";
    let described = "version: '1', description: new TextDecoder().decode(y), run() {}";
    let mut codes = Vec::new();
    for file in ["api-key", "secret-key", "headwater.db"] {
        codes.push(format!(
            "import y from 'npm:ms@2.1.3/{up}{file}' with {{type: 'bytes'}};\nexport default {{name: 'X', {described}}};"
        ));
        codes.push(format!(
            "const {{default: y}} = await import('../../../../' + '{file}', {{with: {{type: 'bytes'}}}});\nexport default {{name: 'X', {described}}};"
        ));
    }
    for path in [
        &*key,
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/1/cmdline",
    ] {
        codes.push(format!(
            "const {{default: y}} = await import('/' + '{path}', {{with: {{type: 'bytes'}}}});\nexport default {{name: 'X', {described}}};"
        ));
    }
    for code in codes {
        let answer = node
            .post("/components", json!({ "component_code": code }))
            .await
            .is(422);
        for secret in [node.api_key(), "root:", "HOME=", "SQLite format"] {
            assert!(!answer.text.contains(secret), "{code}\n{}", answer.text);
        }
    }
}

#[tokio::test]
async fn components_and_builds_are_confined_and_the_node_says_so() {
    let node = Node::start().await;
    let ready = node.get("//readyz").await.is(200).json();
    assert_eq!(ready["checks"]["sandbox"]["confined"], true, "{ready}");
}

#[tokio::test]
async fn a_node_on_a_copy_of_a_data_folder_leaves_the_originals_workers_alone() {
    let node = Node::builder().private_network().start().await;
    let gate = Receiver::start().await;
    gate.answer(|_| Reply::status(503));
    let source = node.deploy(WAITING, json!({"url": gate.url()})).await;
    let request = node.request(reqwest::Method::POST, &format!("{}/run", source.path()));
    let run = tokio::spawn(request.json(&json!({"event": {}})).send());
    let calls = gate.until(|calls| !calls.is_empty()).await;
    let life = calls[0].text();
    let copy = Node::builder()
        .private_network()
        .copy_of(&node)
        .start()
        .await;
    gate.answer(|_| Reply::status(200));
    assert!(run.await.unwrap().unwrap().status().is_success());
    assert_eq!(payloads(&node.events(&source).await), [json!(life)]);
    assert!(copy.get("/users/me").await.is(200).data().is_object());
}
