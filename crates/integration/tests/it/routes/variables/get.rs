//! `GET /variables`.

use headwater_integration::Node;
use serde_json::{Value, json};

#[tokio::test]
async fn variables_are_listed_by_name_without_their_values() {
    let node = Node::start().await;
    assert_eq!(
        node.get("/variables").await.is(200).items(),
        [Value::Null; 0]
    );
    for name in ["ZULU", "ALPHA"] {
        let body = json!({"value": "not to be seen"});
        node.put(&format!("/variables/{name}"), body).await.is(200);
    }
    let answer = node.get("/variables").await.is(200);
    let listed = answer.items();
    let names: Vec<_> = listed.iter().map(|variable| &variable["name"]).collect();
    assert_eq!(names, ["ALPHA", "ZULU"]);
    assert!(
        listed
            .iter()
            .all(|variable| variable["updated_at"].is_u64()),
        "{listed:?}"
    );
    assert!(!answer.text.contains("not to be seen"), "{}", answer.text);
}

#[tokio::test]
async fn a_workspace_has_variables_of_its_own() {
    let node = Node::start().await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let id = workspace["id"].as_str().unwrap();
    let body = json!({"value": "1", "workspace_id": id});
    node.put("/variables/SHARED", body).await.is(200);
    assert_eq!(
        node.get("/variables").await.is(200).items(),
        [Value::Null; 0]
    );
    let listed = node.get(&format!("/variables?org_id={id}")).await.is(200);
    assert_eq!(listed.items()[0]["name"], "SHARED");
}
