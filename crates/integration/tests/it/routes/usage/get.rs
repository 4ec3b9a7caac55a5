//! `GET /usage`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::EMITTER;

#[tokio::test]
async fn usage_is_shown_for_every_day_up_to_today() {
    let node = Node::start().await;
    let before = node.get("/usage").await.is(200).data();
    let days = before["days"].as_array().unwrap();
    assert_eq!(days.len(), 30);
    assert!(days.iter().all(|day| day["invocations"] == 0), "{before}");
    assert_eq!(before["daily_invocations_quota"], Value::Null);
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": []})).await;
    let usage = node.get("/usage?days=2").await.is(200).data();
    // The day may have ended since.
    let days = usage["days"].as_array().unwrap();
    let invocations: u64 = days
        .iter()
        .map(|day| day["invocations"].as_u64().unwrap())
        .sum();
    let me = node.get("/users/me").await.is(200).data();
    assert!(invocations >= 1 && days.len() == 2, "{usage}");
    assert_eq!(days[1]["invocations"], me["daily_invocations_used"]);
    assert_eq!(days[1]["compute_ms"], me["daily_compute_time_used"]);
    let today = days[1]["date"].as_str().unwrap();
    assert!(days[0]["date"].as_str().unwrap() < today, "{usage}");
    assert_eq!(usage.get("sources"), None);
    let by_source = node.get("/usage?days=2&by=source").await.is(200).data();
    let of_source = &by_source["sources"][0];
    assert_eq!(of_source["id"], source.id.as_str(), "{by_source}");
    assert_eq!(of_source["invocations"], invocations);
    assert_eq!(by_source["others"]["invocations"], 0);
    let told = of_source["days"].as_array().unwrap();
    assert_eq!(told.last().unwrap()["date"], today);
    let resets_at_ms = usage["resets_at_ms"].as_u64().unwrap();
    assert_eq!(resets_at_ms % (24 * 60 * 60 * 1_000), 0);
}

#[tokio::test]
async fn a_workspaces_usage_is_its_members_to_see() {
    let node = Node::start().await;
    let team = json!({"orgname": "team"});
    let team = node.post("/workspaces", team).await.is(200).data();
    let id = team["id"].as_str().unwrap();
    let body = json!({"component_code": EMITTER, "workspace_id": id});
    let source = node.post("/sources", body).await.is(200).data();
    let run = format!("/sources/{}/run", source["id"].as_str().unwrap());
    node.post(&run, json!({"event": {"emits": []}}))
        .await
        .is(200);
    let path = format!("/usage?days=1&workspace_id={id}");
    let usage = node.get(&path).await.is(200).data();
    assert_eq!(usage["days"].as_array().unwrap().len(), 1);
    let stranger = node.user("stranger").await;
    stranger.get(&path).await.is(403);
    let own = stranger.get("/usage?days=1").await.is(200).data();
    assert_eq!(own["days"][0]["invocations"], 0);
}

#[tokio::test]
async fn the_quota_is_shown_with_the_time_at_which_it_begins_anew() {
    let node = Node::builder()
        .flag("--daily-invocations-quota")
        .flag("500");
    let node = node.start().await;
    let usage = node.get("/usage").await.is(200).data();
    assert_eq!(usage["daily_invocations_quota"], 500);
}

#[tokio::test]
async fn a_wrong_number_of_days_is_told() {
    let node = Node::start().await;
    for days in ["0", "367", "-1", "x"] {
        let error = node.get(&format!("/usage?days={days}")).await.is(400);
        assert_eq!(error.error()["param"], "days", "{days}");
    }
    let error = node.get("/usage?by=day").await.is(400);
    assert_eq!(error.error()["param"], "by");
}
