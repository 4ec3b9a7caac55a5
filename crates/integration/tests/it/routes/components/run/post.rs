//! `POST /components/{key|id}/run`.

use headwater_integration::Node;
use serde_json::json;

const CODE: &str = r#"
export default { name: "Greet", key: "greetings-greet", version: "0.0.1", type: "action",
  props: { name: { type: "string" }, mark: { type: "string", default: "!" } },
  async run({ steps, $ }) {
    console.log("greeting");
    if (this.name === "nobody") return $.flow.exit("nobody to greet");
    if (this.name === "error") throw new Error("cannot greet an error");
    if (this.name === "send") $.send.http({ method: "GET", url: "https://example.com" });
    $.export("length", this.name.length);
    $.export("$summary", `Greeted ${this.name}`);
    return { text: `Hello ${this.name}${this.mark}`, steps, owner: typeof $.context.owner_id };
  } };"#;

#[tokio::test]
async fn an_action_runs_once_and_tells_what_came_of_it() {
    let node = Node::start().await;
    let saved = node.save(CODE).await;
    for reference in ["greetings-greet", saved["id"].as_str().unwrap()] {
        let body = json!({"configured_props": {"name": "you"}});
        let path = format!("/components/{reference}/run");
        let report = node.post(&path, body).await.is(200).data();
        let value = json!({"text": "Hello you!", "steps": {}, "owner": "string"});
        assert_eq!(
            report["outcome"],
            json!({"status": "returned", "value": value})
        );
        assert_eq!(report["exports"], json!({"length": 3}));
        assert_eq!(report["summary"], "Greeted you");
        assert_eq!(report["logs"][0]["message"], "greeting");
        assert!(
            report["invocation_id"]
                .as_str()
                .unwrap()
                .starts_with("inv_"),
            "{report}"
        );
    }
}

#[tokio::test]
async fn exits_and_errors_are_outcomes() {
    let node = Node::start().await;
    node.save(CODE).await;
    let run = |name: &str| {
        let body = json!({"configured_props": {"name": name}});
        let node = &node;
        async move {
            let answer = node.post("/components/greetings-greet/run", body).await;
            answer.is(200).data()
        }
    };
    let exited = run("nobody").await;
    assert_eq!(exited["exit"], "nobody to greet");
    assert_eq!(exited["outcome"]["status"], "returned");
    let threw = run("error").await;
    assert_eq!(
        threw["outcome"]["error"]["message"],
        "cannot greet an error"
    );
    let stack = threw["outcome"]["error"]["stack"].as_str().unwrap();
    assert!(stack.contains("component.mjs:7:"), "{stack}");
    let sent = run("send").await;
    let message = sent["outcome"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("works in workflows only"), "{message}");
}

#[tokio::test]
async fn missing_props_sources_and_unknown_actions_are_refused() {
    let node = Node::start().await;
    node.save(CODE).await;
    let path = "/components/greetings-greet/run";
    let error = node.post(path, json!({})).await.is(422).error();
    assert_eq!(error["param"], "configured_props.name");
    let source = r#"export default { name: "S", key: "s-s", version: "0.0.1", run() {} };"#;
    node.save(source).await;
    let error = node
        .post("/components/s-s/run", json!({}))
        .await
        .is(400)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("is a source"),
        "{error}"
    );
    node.post("/components/nobodys-key/run", json!({}))
        .await
        .is(404);
}
