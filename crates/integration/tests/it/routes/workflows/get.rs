//! `GET /workflows` and `GET /workflows/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP},
};

#[tokio::test]
async fn workflows_are_listed_and_shown_as_they_were_deployed() {
    let node = Node::start().await;
    let mut deployed = Vec::new();
    for _ in 0..3 {
        let folder = Folder::new(HTTP, &[("one", "return 1;")]);
        let mut record = folder.deployed(&node).await.record;
        let fields = record.as_object_mut().unwrap();
        fields.retain(|name, _| !matches!(name.as_str(), "state_file" | "findings"));
        deployed.push(record);
    }
    for workflow in &deployed {
        let path = format!("/workflows/{}", workflow["id"].as_str().unwrap());
        assert_eq!(&node.get(&path).await.is(200).data(), workflow);
    }
    let page = node.get("/workflows?limit=2").await.is(200);
    assert_eq!(page.items(), deployed[..2]);
    assert_eq!(page.json()["page_info"]["total_count"], 3);
    let after = page.json()["page_info"]["end_cursor"].clone();
    let rest = format!("/workflows?after={}", after.as_str().unwrap());
    assert_eq!(node.get(&rest).await.is(200).items(), deployed[2..]);
    let chosen = node
        .get("/workflows?limit=1&include=name,triggers.type")
        .await;
    let expected = json!([{"name": "Orders", "triggers": [{"type": "http"}]}]);
    assert_eq!(json!(chosen.is(200).items()), expected);
}

#[tokio::test]
async fn an_unknown_workflow_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("p_"), "nonsense".to_owned()] {
        let error = node.get(&format!("/workflows/{id}")).await.is(404).error();
        assert_eq!(error["message"], format!("there is no workflow `{id}`"));
    }
}
