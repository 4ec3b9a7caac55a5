//! `GET /event_views`.

use headwater_integration::Node;
use serde_json::json;

#[tokio::test]
async fn users_and_workspaces_have_views_of_their_own_by_name() {
    let node = Node::start().await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let id = workspace["id"].as_str().unwrap();
    for name in ["zulu", "alpha"] {
        node.put(&format!("/event_views/{name}"), json!({}))
            .await
            .is(200);
    }
    let body = json!({"q": "shared", "workspace_id": id});
    node.put("/event_views/ours", body).await.is(200);
    let names = |views: Vec<serde_json::Value>| -> Vec<String> {
        let names = views.iter().map(|view| view["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let own = node.get("/event_views").await.is(200).items();
    assert_eq!(names(own), ["alpha", "zulu"]);
    let path = format!("/event_views?workspace_id={id}");
    assert_eq!(names(node.get(&path).await.is(200).items()), ["ours"]);
    // Others have neither.
    let bob = node.user("bob").await;
    assert!(bob.get("/event_views").await.is(200).items().is_empty());
    bob.get(&path).await.is(403);
}
