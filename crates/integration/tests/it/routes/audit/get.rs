//! `GET /audit`.

use headwater_integration::Node;
use serde_json::json;

use crate::code::EMITTER;

#[tokio::test]
async fn records_are_filtered_and_paged() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    for _ in 0..3 {
        node.run(&source, json!({"emits": []})).await;
    }
    node.put("/variables/TOKEN", json!({"value": "v"}))
        .await
        .is(200);
    let me = node.get("/users/me").await.is(200).data();
    let (user_id, username) = (me["id"].as_str().unwrap(), me["username"].as_str().unwrap());
    for (query, count) in [
        ("action=source".to_owned(), 4),
        ("action=source.run".to_owned(), 3),
        ("action=source.r".to_owned(), 0),
        (format!("target_id={}", source.id), 4),
        ("target_id=TOKEN&action=variable.set".to_owned(), 1),
        (format!("actor={user_id}&action=source"), 4),
        (format!("actor={username}&action=source"), 4),
        ("actor=nobody-here".to_owned(), 0),
        ("since=2000-01-01&action=source".to_owned(), 4),
        ("until=2000-01-01".to_owned(), 0),
    ] {
        let found = node.get(&format!("/audit?{query}")).await.is(200);
        assert_eq!(found.json()["page_info"]["total_count"], count, "{query}");
        assert_eq!(found.items().len() as u64, count, "{query}");
    }
    let path = format!("/audit?target_id={}&limit=3", source.id);
    let first = node.get(&path).await.is(200);
    let cursor = first.json()["page_info"]["end_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let rest = node
        .get(&format!("{path}&after={cursor}"))
        .await
        .is(200)
        .items();
    let actions: Vec<_> = rest
        .iter()
        .map(|one| one["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["source.deploy"]);
    let before = rest[0]["id"].as_str().unwrap();
    let back = node
        .get(&format!("{path}&before={before}"))
        .await
        .is(200)
        .items();
    assert_eq!(back, first.items());
    for (query, param) in [
        ("since=yesterday", "since"),
        ("since=2&until=1", "until"),
        ("after=x", "after"),
    ] {
        let error = node.get(&format!("/audit?{query}")).await.is(400).error();
        assert_eq!(error["param"], param, "{query}: {error}");
    }
}

#[tokio::test]
async fn each_reads_its_own_and_what_concerns_its_things() {
    let node = Node::start().await;
    let [ada, bob] = [node.user("ada").await, node.user("bob").await];
    let team = json!({"orgname": "team"});
    let team = ada.post("/workspaces", team).await.is(200).data();
    let team = team["id"].as_str().unwrap();
    ada.put("/variables/MINE", json!({"value": "v"}))
        .await
        .is(200);
    let shared = json!({"value": "v", "workspace_id": team});
    ada.put("/variables/OURS", shared).await.is(200);
    let targets = |records: Vec<serde_json::Value>| -> Vec<String> {
        let named = records
            .iter()
            .map(|one| one["target"]["id"].as_str().unwrap().to_owned());
        named
            .filter(|id| id.bytes().all(|byte| byte.is_ascii_uppercase()))
            .collect()
    };
    let of_ada = ada.get("/audit?action=variable").await.is(200).items();
    assert_eq!(targets(of_ada), ["OURS", "MINE"]);
    // The administrator reads what it cannot see otherwise.
    let of_all = node.get("/audit?action=variable").await.is(200).items();
    assert_eq!(targets(of_all), ["OURS", "MINE"]);
    for path in [
        "/audit?action=variable",
        "/audit?target_id=MINE",
        "/audit?actor=ada",
    ] {
        let of_bob = bob.get(path).await.is(200).items();
        assert_eq!(targets(of_bob), Vec::<String>::new(), "{path}");
    }
    let in_team = format!("/audit?workspace_id={team}");
    bob.get(&in_team).await.is(403);
    let members = format!("/workspaces/{team}/members");
    ada.post(&members, json!({"username": "bob"})).await.is(200);
    let of_bob = bob.get("/audit?action=variable").await.is(200).items();
    assert_eq!(targets(of_bob), ["OURS"]);
    let in_team = bob.get(&in_team).await.is(200).items();
    let actions: Vec<_> = in_team
        .iter()
        .map(|one| one["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions,
        ["workspace.add_member", "variable.set", "workspace.create"]
    );
}
