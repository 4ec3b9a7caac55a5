//! `GET /data_stores/{name}/records`.

use headwater_integration::Node;
use serde_json::json;

use super::super::get::write;

#[tokio::test]
async fn records_are_listed_by_key_in_pages() {
    let node = Node::start().await;
    write(
        &node,
        "my orders",
        None,
        json!({"b": {"n": 2}, "a": 1, "c": null}),
    )
    .await;
    let path = "/data_stores/my%20orders/records";
    let all = node.get(path).await.is(200).items();
    let shown: Vec<_> = all
        .iter()
        .map(|record| (record["key"].clone(), record["value"].clone()))
        .collect();
    assert_eq!(
        shown,
        [
            (json!("a"), json!(1)),
            (json!("b"), json!({"n": 2})),
            (json!("c"), json!(null))
        ]
    );
    assert_eq!(all[0]["expires_at_ms"], json!(null));
    assert!(all[0]["updated_at_ms"].is_u64());
    let page = node.get(&format!("{path}?limit=1")).await.is(200).json();
    assert_eq!(page["page_info"]["total_count"], 3);
    let cursor = page["page_info"]["end_cursor"].as_str().unwrap();
    let rest = node.get(&format!("{path}?after={cursor}")).await.is(200);
    assert_eq!(rest.items(), all[1..]);
    let stranger = node.user("stranger").await;
    stranger.get(path).await.is(404);
    node.get("/data_stores/others/records").await.is(404);
}

#[tokio::test]
async fn a_workspaces_stores_are_shown_to_its_members() {
    let node = Node::start().await;
    let team = json!({"orgname": "team"});
    let team = node.post("/workspaces", team).await.is(200).data();
    let id = team["id"].as_str().unwrap();
    write(&node, "shared", Some(id), json!({"k": 1})).await;
    let path = format!("/data_stores/shared/records?workspace_id={id}");
    assert_eq!(node.get(&path).await.is(200).items()[0]["key"], "k");
    node.get("/data_stores/shared/records").await.is(404);
    let stranger = node.user("stranger").await;
    stranger.get(&path).await.is(403);
}

#[tokio::test]
async fn records_are_listed_by_the_beginning_of_their_keys() {
    let node = Node::start().await;
    for key in ["a/1", "a/2", "a/3", "a%", "b"] {
        let body = json!({"key": key, "value": 1});
        node.put("/data_stores/s/record", body).await.is(200);
    }
    let path = "/data_stores/s/records?prefix=a%2F";
    let page = node.get(&format!("{path}&limit=2")).await.is(200);
    let info = page.json()["page_info"].clone();
    assert_eq!(
        (&info["total_count"], &info["count"]),
        (&json!(3), &json!(2))
    );
    let cursor = info["end_cursor"].as_str().unwrap();
    let rest = node.get(&format!("{path}&after={cursor}")).await.is(200);
    let rest = rest.items();
    assert_eq!((rest.len(), &rest[0]["key"]), (1, &json!("a/3")));
}
