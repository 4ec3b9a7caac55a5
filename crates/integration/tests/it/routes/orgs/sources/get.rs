//! `GET /orgs/{workspace_id}/sources`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn a_workspace_lists_its_own_sources_only() {
    let node = Node::start().await;
    let user = node.get("/users/me").await.is(200).data();
    let workspace = user["orgs"][0]["id"].as_str().unwrap();
    let path = format!("/orgs/{workspace}/sources");
    node.deploy(EMITTER, json!({})).await;
    let empty = node.get(&path).await.is(200).json();
    assert_eq!(
        (&empty["data"], &empty["page_info"]["total_count"]),
        (&json!([]), &json!(0))
    );

    let mut made = Vec::new();
    for name in ["a", "b", "c"] {
        let body = json!({"component_code": EMITTER, "org_id": workspace, "name": name});
        made.push(node.post("/sources", body).await.is(200).data());
    }
    assert_eq!(node.get(&path).await.is(200).items(), made);
    let expanded = node.get(&format!("{path}?expand=health")).await.is(200);
    let mut healths = expanded.items();
    let recent = json!({"runs": 0, "failures": 0, "at_least": false});
    for source in &mut healths {
        let health = source.as_object_mut().unwrap().remove("health").unwrap();
        assert_eq!(health["last_24_hours"], recent);
    }
    assert_eq!(healths, made);
    let page = node.get(&format!("{path}?limit=2")).await.is(200);
    assert_eq!(page.items(), made[..2]);
    let cursor = page.json()["page_info"]["end_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        node.get(&format!("{path}?limit=2&after={cursor}"))
            .await
            .is(200)
            .items(),
        made[2..]
    );
}

#[tokio::test]
async fn a_workspace_of_others_is_closed() {
    let node = Node::start().await;
    let user = node.get("/users/me").await.is(200).data();
    let workspace = user["orgs"][0]["id"].as_str().unwrap();
    let bob = node.user("bob").await;
    let path = format!("/orgs/{workspace}/sources");
    assert_eq!(bob.get(&path).await.is(403).error()["code"], "forbidden");
    for none in [unknown("o_"), "nonsense".to_owned()] {
        let error = node.get(&format!("/orgs/{none}/sources")).await.is(404);
        assert_eq!(error.error()["param"], Value::Null);
    }
}
