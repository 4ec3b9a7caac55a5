//! `GET /workflows/{id}/deployments/{deployment_id}/files`.

use headwater_integration::Node;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP},
};

const YAML: &str = r#"name: Orders
triggers:
- type: http
  auth: { bearer: hidden-token } # of the shop
steps:
- namespace: one
  props: { who: "{{steps.trigger.event.name}}", password: hidden-word }
- namespace: off
  uses: ./one/entry.js
  disabled: true
  props: { password: hidden-too }
"#;
const CODE: &str = "export default { props: { who: { type: 'string' }, \
    password: { type: 'string', secret: true } }, run() {} };";

#[tokio::test]
async fn files_of_a_deployment_are_shown_without_secrets() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[])
        .with("workflow.yaml", YAML)
        .with("one/entry.js", CODE)
        .with("README.md", "# <i>Orders</i>\n");
    let workflow = folder.deployed(&node).await;
    let current = workflow.record["deployment_id"].as_str().unwrap();
    let id = workflow.id();
    let of_one = format!("/workflows/{id}/deployments/{current}/files");
    let files = node.get(&of_one).await.is(200).data();
    let shown = YAML
        .replace("hidden-token", "(secret)")
        .replace("hidden-word", "(secret)")
        .replace("hidden-too", "(secret)");
    assert_eq!(files["workflow.yaml"], shown);
    assert_eq!(files["one/entry.js"], CODE);
    assert_eq!(files["README.md"], "# <i>Orders</i>\n");
    assert_eq!(files.as_object().unwrap().len(), 3);
    let other = Folder::new(HTTP, &[]).deployed(&node).await;
    let foreign = other.record["deployment_id"].as_str().unwrap();
    for deployment in [foreign.to_owned(), unknown("d_"), "nonsense".to_owned()] {
        let path = format!("/workflows/{id}/deployments/{deployment}/files");
        node.get(&path).await.is(404);
    }
    let bob = node.user("bob").await;
    bob.get(&of_one).await.is(404);
}
