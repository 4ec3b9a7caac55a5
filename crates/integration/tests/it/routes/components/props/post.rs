//! `POST /components/{key|id}/props`.

use headwater_integration::{Client, Node, Source};
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

/// Its props depend on a secret, which they tell.
const GUARDED: &str = r#"
export default { name: "Guarded", key: "guarded-form", version: "0.0.1",
  props: { token: { type: "string", secret: true, reloadProps: true }, note: { type: "string", optional: true } },
  async additionalProps() {
    return { [`of_${this.token}_and_${this.note}`]: { type: "string", optional: true } };
  },
  run() {} };"#;

/// The prop that is added when they are asked for like this.
async fn added(client: &Client, component: &str, body: Value) -> String {
    let path = format!("/components/{component}/props");
    let props = client.post(&path, body).await.is(200).data()["configurable_props"].clone();
    props.as_array().unwrap().last().unwrap()["name"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn the_values_of_a_source_that_is_to_be_updated_count_where_none_are_given() {
    let node = Node::start().await;
    let source = node
        .deploy(GUARDED, json!({"token": "t0", "note": "n0"}))
        .await;
    for (given, name) in [
        (json!({}), "of_t0_and_n0"),
        (json!({"note": "n1"}), "of_t0_and_n1"),
        (json!({"token": null, "note": "n1"}), "of_t0_and_n1"),
        (json!({"token": "t1"}), "of_t1_and_n0"),
    ] {
        let body = json!({"source_id": source.id, "configured_props": given});
        assert_eq!(added(&node, "guarded-form", body).await, name, "{given}");
    }
    let body = json!({"configured_props": {"note": "n1"}});
    assert_eq!(
        added(&node, "guarded-form", body).await,
        "of_undefined_and_n1"
    );
    let kept = node.get(&source.path()).await.is(200).data();
    assert_eq!(
        kept["configured_props"]["note"], "n0",
        "nothing was changed"
    );
}

#[tokio::test]
async fn a_sources_values_are_for_those_alone_who_may_update_it() {
    let node = Node::start().await;
    let (member, stranger) = (node.user("bob").await, node.user("eve").await);
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let workspace = workspace["id"].as_str().unwrap();
    let members = format!("/workspaces/{workspace}/members");
    node.post(&members, json!({"username": "bob"}))
        .await
        .is(200);
    let body = json!({
        "component_code": GUARDED, "configured_props": {"token": "t0"}, "workspace_id": workspace,
    });
    let shared = Source::new(node.post("/sources", body).await.is(200).data());
    let own = node.deploy(GUARDED, json!({"token": "t1"})).await;

    // A component of their own is not refused for itself.
    for client in [&member, &stranger] {
        let code = GUARDED.replace("of_", "mine_");
        let saved = client.post("/components", json!({"component_code": code}));
        saved.await.is(200);
    }
    let of = |source: &Source| json!({"source_id": source.id});
    let path = "/components/guarded-form/props";
    let options = "/components/guarded-form/options";
    for (client, source) in [(&stranger, &shared), (&stranger, &own), (&member, &own)] {
        client.post(path, of(source)).await.is(404);
        let body = json!({"source_id": source.id, "prop": "note"});
        client.post(options, body).await.is(404);
    }
    // The key means what it means in the source's workspace.
    assert_eq!(
        added(&member, "guarded-form", of(&shared)).await,
        "of_t0_and_undefined"
    );
}

#[tokio::test]
async fn a_sources_values_are_for_sources_alone() {
    let node = Node::start().await;
    let source = node.deploy(GUARDED, json!({"token": "t0"})).await;
    let action = GUARDED.replace("name: \"Guarded\"", "name: \"Act\", type: \"action\"");
    let action = node
        .save(&action.replace("guarded-form", "guarded-act"))
        .await;
    assert_eq!(action["type"], "action");
    let body = json!({"source_id": source.id});
    let refused = node
        .post("/components/guarded-act/props", body.clone())
        .await;
    let told = refused.is(400).error()["message"].to_string();
    assert!(told.contains("is an action"), "{told}");
    // Nor do they reach an action's run.
    let run = node.post("/components/guarded-act/run", body).await;
    assert_eq!(run.is(422).error()["param"], "configured_props.token");
    node.delete(&source.path()).await.is(204);
    let gone = json!({"source_id": source.id});
    node.post("/components/guarded-form/props", gone)
        .await
        .is(404);
    let malformed = json!({"source_id": "nothing"});
    let refused = node.post("/components/guarded-form/props", malformed).await;
    assert_eq!(refused.is(400).error()["param"], "source_id");
}
