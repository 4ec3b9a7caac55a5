//! `POST /components/{key|id}/props`.

use headwater_integration::Node;
use serde_json::{Value, json};

const CODE: &str = r#"
export default { name: "Form", key: "forms-submit", version: "0.0.1",
  props: { form: { type: "string", reloadProps: true }, http: "$.interface.http" },
  async additionalProps(previous) {
    if (!this.form) return {};
    previous.form.hidden = true;
    return { [`${this.form}_answer`]: { type: "string", label: "Answer", secret: true } };
  },
  run() { this.$emit({ answer: this.poll_answer }); } };"#;

async fn names(node: &Node, props: Value) -> Vec<String> {
    let body = json!({"configured_props": props});
    let answer = node.post("/components/forms-submit/props", body).await;
    let props = answer.is(200).data()["configurable_props"].clone();
    let names = props.as_array().unwrap().iter();
    names
        .map(|prop| prop["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn additional_props_are_merged_with_the_components_own_and_replaced_by_the_next() {
    let node = Node::start().await;
    node.save(CODE).await;
    assert_eq!(names(&node, json!({})).await, ["form", "http"]);
    assert_eq!(
        names(&node, json!({"form": "poll"})).await,
        ["form", "http", "poll_answer"]
    );
    assert_eq!(
        names(&node, json!({"form": "survey"})).await,
        ["form", "http", "survey_answer"]
    );
}

#[tokio::test]
async fn a_source_gets_values_of_additional_props_and_secrets_stay_secret() {
    let node = Node::start().await;
    let props = json!({"form": "poll", "poll_answer": "hunter2"});
    let deployed = node.try_deploy(CODE, props).await.is(200).data();
    assert_eq!(deployed["configured_props"]["poll_answer"], Value::Null);
    let source = headwater_integration::Source::new(deployed);
    let report = node.run(&source, json!({})).await;
    assert_eq!(report["events"], 1);
    let refused = node.try_deploy(CODE, json!({"form": "poll"})).await;
    assert_eq!(
        refused.is(422).error()["param"],
        "configured_props.poll_answer"
    );
}

#[tokio::test]
async fn an_unknown_component_is_not_found() {
    let node = Node::start().await;
    node.post("/components/nobodys-key/props", json!({}))
        .await
        .is(404);
}
