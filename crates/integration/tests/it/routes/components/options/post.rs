//! `POST /components/{key|id}/options`.

use headwater_integration::Node;
use serde_json::{Value, json};

const CODE: &str = r#"
const tracker = { type: "app", app: "tracker",
  propDefinitions: {
    task: { type: "string", useQuery: true, async options({ page, prevContext, query, board }) {
      const start = prevContext.next ?? 0;
      return {
        options: [`${board}-${start}`, { label: `${query}@${this.$auth.api_key}`, value: page }],
        context: { next: start + 1 },
      };
    } },
  } };
export default { name: "Tasks", key: "tracker-tasks", version: "0.0.1", type: "action",
  props: { tracker, board: { type: "string" },
    colour: { type: "string", options: ["red", "blue"] },
    broken: { type: "string", options() { throw new Error("the API says 401"); } },
    task: { propDefinition: [tracker, "task", ({ board }) => ({ board })] } },
  run() {} };"#;

async fn options(node: &Node, body: Value) -> Value {
    let path = "/components/tracker-tasks/options";
    node.post(path, body).await.is(200).data()
}

#[tokio::test]
async fn options_come_with_credentials_earlier_values_pages_and_queries() {
    let node = Node::start().await;
    node.save(CODE).await;
    let account = node.account("tracker", json!({"api_key": "k"})).await;
    let props = json!({"tracker": {"authProvisionId": account}, "board": "B"});
    let body = json!({"prop": "task", "configured_props": props, "page": 0, "query": "q"});
    let expected = json!({
        "options": [{"label": "B-0", "value": "B-0"}, {"label": "q@k", "value": 0}],
        "context": {"next": 1},
    });
    assert_eq!(options(&node, body).await, expected);
    let body = json!({
        "prop": "task", "configured_props": props, "page": 1, "query": "q", "prev_context": {"next": 1},
    });
    let second = options(&node, body).await;
    assert_eq!(second["options"][0]["value"], "B-1");
    assert_eq!(second["context"], json!({"next": 2}));
}

#[tokio::test]
async fn static_options_are_told_the_same_way() {
    let node = Node::start().await;
    node.save(CODE).await;
    let page = options(&node, json!({"prop": "colour"})).await;
    let expected = json!({
        "options": [{"label": "red", "value": "red"}, {"label": "blue", "value": "blue"}],
        "context": null,
    });
    assert_eq!(page, expected);
}

#[tokio::test]
async fn what_cannot_be_computed_says_why() {
    let node = Node::start().await;
    node.save(CODE).await;
    let path = "/components/tracker-tasks/options";
    for (body, status, param) in [
        (json!({}), 400, "prop"),
        (json!({"prop": "typo"}), 400, "prop"),
        (json!({"prop": "task", "page": "x"}), 400, "page"),
        (
            json!({"prop": "task", "configured_props": {"board": 7}}),
            422,
            "configured_props.board",
        ),
    ] {
        let error = node.post(path, body.clone()).await.is(status).error();
        assert_eq!(error["param"], param, "{body}");
    }
    let error = node
        .post(path, json!({"prop": "broken"}))
        .await
        .is(422)
        .error();
    assert_eq!(error["code"], "component_failed");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("`broken`") && message.contains("the API says 401"),
        "{message}"
    );
    node.post("/components/nobodys-key/options", json!({"prop": "a"}))
        .await
        .is(404);
}

#[tokio::test]
async fn options_are_computed_with_the_values_of_a_source_that_is_to_be_updated() {
    let node = Node::start().await;
    let code = r#"export default { name: "Lists", version: "0.0.1",
      props: { token: { type: "string", secret: true },
        list: { type: "string", optional: true, options() { return ["of " + this.token]; } } },
      run() {} };"#;
    let source = node.deploy(code, json!({"token": "hunter2"})).await;
    let component = source.record["component_id"].as_str().unwrap();
    let path = format!("/components/{component}/options");
    let body = json!({"prop": "list", "source_id": source.id});
    let page = node.post(&path, body).await.is(200).data();
    assert_eq!(page["options"][0]["value"], "of hunter2");
}

#[tokio::test]
async fn a_prop_that_is_not_computed_either_is_named() {
    let node = Node::start().await;
    let code = r#"export default { name: "Computed", key: "computed-props", version: "0.0.1", type: "action",
      props: { kind: { type: "string", reloadProps: true, options: ["a"] } },
      additionalProps() { return { more: { type: "string", options: ["b"] } }; },
      run() {} };"#;
    node.save(code).await;
    let path = "/components/computed-props/options";
    for prop in ["kind", "more"] {
        node.post(path, json!({"prop": prop})).await.is(200);
    }
    let error = node.post(path, json!({"prop": "typo"})).await.is(400);
    let error = error.error();
    assert_eq!(error["param"], "prop");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("it has: kind, more"), "{message}");
}
