//! `GET /workflows` and `GET /workflows/{id}`.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::unknown,
    workflows::{Folder, HTTP, waiting},
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
    let found = node.get("/workflows?q=ORDER&state=active&limit=1").await;
    assert_eq!(found.is(200).items(), deployed[..1]);
    let none = node.get("/workflows?state=paused").await.is(200);
    assert_eq!(none.json()["page_info"]["total_count"], 0);
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

#[tokio::test]
async fn health_is_shown_where_it_is_asked_for() {
    let node = Node::start().await;
    let code = "if (steps.trigger.event === 'wait') $.flow.suspend(); else throw new Error('no');";
    let timer = "- type: schedule\n  interval_seconds: 3600\n";
    let workflow = Folder::new(timer, &[("one", code)]).deployed(&node).await;
    let failed = workflow.run(&node, json!("throw"), "failed").await;
    let open = workflow.start(&node, json!("wait")).await;
    waiting(&node, &open).await;
    let listed = node.get("/workflows?expand=health").await.is(200).items();
    let health = &listed[0]["health"];
    assert_eq!(health["last_run"]["id"], failed["id"]);
    assert_eq!(health["failing_since_ms"], failed["started_at_ms"]);
    assert_eq!(health["open_runs"], 1);
    assert!(health["next_tick_at_ms"].is_u64(), "{health}");
    let path = format!("{}?expand=health", workflow.path());
    assert_eq!(&node.get(&path).await.is(200).data()["health"], health);
    let plain = node.get(&workflow.path()).await.is(200).data();
    assert!(plain.get("health").is_none(), "{plain}");
}
