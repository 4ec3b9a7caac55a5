//! `GET /webhooks/{id}/deliveries`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn deliveries_are_listed_newest_first_by_state_and_in_pages() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|request| {
        let status = if request.text() == "\"bad\"" {
            500
        } else {
            200
        };
        Reply::status(status)
    });
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let emits = json!({"emits": [[1, {}], ["bad", {}], [3, {}], [4, {}]]});
    node.run(&source, emits).await;
    node.deliveries_until(&id, |all| {
        let attempted = |one: &Value| one["attempts"][0]["at_ms"].is_u64();
        all.len() == 4 && all.iter().all(attempted)
    })
    .await;

    let path = format!("/webhooks/{id}/deliveries");
    let all = node.get(&path).await.is(200);
    let events: Vec<_> = all.items().iter().map(|one| one["event"].clone()).collect();
    assert_eq!(events, [json!(4), json!(3), json!("bad"), json!(1)]);
    assert_eq!(all.json()["page_info"]["total_count"], 4);
    let pending = node.get(&format!("{path}?state=pending")).await.is(200);
    assert_eq!(pending.items(), all.items()[2..3]);
    assert_eq!(pending.json()["page_info"]["total_count"], 1);
    let dead = node.get(&format!("{path}?state=dead")).await.is(200);
    assert_eq!(dead.items(), [Value::Null; 0]);

    let page = node
        .get(&format!("{path}?state=delivered&limit=2"))
        .await
        .is(200);
    assert_eq!(page.items(), all.items()[..2]);
    let cursor = page.json()["page_info"]["end_cursor"].clone();
    let next = format!("{path}?state=delivered&after={}", cursor.as_str().unwrap());
    assert_eq!(node.get(&next).await.is(200).items(), all.items()[3..]);
}

#[tokio::test]
async fn large_events_are_previews_unless_expanded() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node
        .webhook_for(&source.id, "http://receiver.invalid")
        .await;
    let event = json!({"text": "x".repeat(2000)});
    node.run(&source, json!({"emits": [[event.clone(), {}]]}))
        .await;
    let whole = node.deliveries_until(&id, |all| all.len() == 1).await;
    assert_eq!(whole[0]["event"], event);
    let path = format!("/webhooks/{id}/deliveries");
    let preview = node.get(&path).await.is(200).items();
    assert_eq!(preview[0]["event"]["truncated"], true);
}

#[tokio::test]
async fn wrong_parameters_and_unknown_webhooks_are_told() {
    let node = Node::start().await;
    let webhook = node.webhook("https://receiver.example").await;
    let path = format!("/webhooks/{}/deliveries", webhook["id"].as_str().unwrap());
    assert_eq!(node.get(&path).await.is(200).items(), [Value::Null; 0]);
    for (query, param) in [
        ("state=lost", "state"),
        ("limit=0", "limit"),
        ("after=x", "after"),
    ] {
        let error = node.get(&format!("{path}?{query}")).await.is(400).error();
        assert_eq!(error["param"], param, "{query}");
    }
    let nobody = format!("/webhooks/{}/deliveries", unknown("wh_"));
    node.get(&nobody).await.is(404);
}
