//! `POST /workflows/check`.

use headwater_integration::Node;
use serde_json::json;

use crate::workflows::Folder;

#[tokio::test]
async fn a_folder_is_told_what_the_node_lacks_and_is_not_deployed() {
    let node = Node::start().await;
    let folder = Folder::new("- type: email\n", &[("one", "return process.env.TOKEN;")]);
    let found = node.post("/workflows/check", folder.body()).await;
    let found = found.is(200).data();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 2, "{found:#?}");
    for text in ["--smtp-listen", "headwater variables set TOKEN"] {
        let told = |one: &&serde_json::Value| one["message"].as_str().unwrap().contains(text);
        let one = found.iter().find(told).expect(text);
        assert_eq!(one["severity"], "warning");
    }
    let workflows = node.get("/workflows").await.is(200).data();
    assert_eq!(workflows, json!([]));
    let components = node.get("/components").await.is(200).data();
    assert_eq!(components, json!([]));
}

#[tokio::test]
async fn a_step_whose_code_cannot_be_built_is_refused_by_name() {
    let node = Node::start().await;
    let broken = Folder::new("- type: http\n", &[("one", "return (;")]);
    let refused = node
        .post("/workflows/check", broken.body())
        .await
        .is(422)
        .error();
    assert_eq!(refused["code"], "component_failed");
    assert!(
        refused["message"].as_str().unwrap().contains("one"),
        "{refused}"
    );
}
