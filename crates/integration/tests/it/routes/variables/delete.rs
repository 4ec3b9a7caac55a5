//! `DELETE /variables/{name}`.

use headwater_integration::Node;
use serde_json::json;

use crate::workflows::{Folder, HTTP, step};

#[tokio::test]
async fn a_deleted_variable_is_there_for_no_step() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[("tell", "return 'GONE' in process.env;")]);
    let workflow = folder.deployed(&node).await;
    node.put("/variables/GONE", json!({"value": "1"}))
        .await
        .is(200);
    let run = workflow.run(&node, json!({}), "succeeded").await;
    assert_eq!(step(&run, "tell")["return_value"], true);
    node.delete("/variables/GONE").await.is(204);
    let run = workflow.run(&node, json!({}), "succeeded").await;
    assert_eq!(step(&run, "tell")["return_value"], false);
    let error = node.delete("/variables/GONE").await.is(404).error();
    assert_eq!(error["message"], "there is no variable `GONE`");
}
