//! `GET /users/me/webhooks`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};

use crate::code::EMITTER;

#[tokio::test]
async fn webhooks_are_listed_in_pages_without_their_secrets() {
    let node = Node::start().await;
    let mut made = Vec::new();
    for name in ["a", "b", "c"] {
        let mut webhook = node.webhook(&format!("https://{name}.example")).await;
        webhook.as_object_mut().unwrap().remove("secret");
        made.push(webhook);
    }
    let all = node.get("/users/me/webhooks").await.is(200);
    assert_eq!(all.items(), made);
    assert_eq!(all.json()["page_info"]["total_count"], 3);
    let page = node.get("/users/me/webhooks?limit=2").await.is(200);
    assert_eq!(page.items(), made[..2]);
    let info = page.json()["page_info"].clone();
    let cursor = info["end_cursor"].as_str().unwrap();
    let rest = format!("/users/me/webhooks?after={cursor}");
    assert_eq!(node.get(&rest).await.is(200).items(), made[2..]);
    node.get("/users/me/webhooks?limit=0").await.is(400);
    let named = node.get("/users/me/webhooks?q=B.EX%20https").await.is(200);
    assert_eq!(named.items(), made[1..2], "by the URL, without a name");
}

#[tokio::test]
async fn webhooks_show_the_health_of_their_attempts_on_request() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    node.webhook("https://other.example").await;
    receiver.answer(|received| Reply::status(if received.text() == "2" { 500 } else { 200 }));
    let emits = json!({"emits": [[1, {}], [2, {}]]});
    node.run(&source, emits).await;
    let attempted =
        |all: &[Value]| all.len() == 2 && all.iter().all(|one| one["attempts"][0].is_object());
    node.deliveries_until(&id, attempted).await;
    let plain = node.get("/users/me/webhooks").await.is(200).items();
    assert!(plain[0].get("health").is_none());
    let shown = node.get("/users/me/webhooks?expand=health").await.is(200);
    let shown = shown.items();
    let recent = &shown[0]["health"]["last_24_hours"];
    assert_eq!(recent["attempts"], 2);
    assert_eq!(recent["failures"], 1);
    assert!(recent["p50_ms"].as_u64() <= recent["p95_ms"].as_u64());
    assert_eq!(recent["since_ms"], json!(null));
    let none =
        json!({"attempts": 0, "failures": 0, "p50_ms": null, "p95_ms": null, "since_ms": null});
    assert_eq!(shown[1]["health"]["last_24_hours"], none);
    let told = node.cli(&["webhooks", "describe", &id]).await.ok();
    assert!(
        told.stdout.contains("2 attempts, 1 failed"),
        "{}",
        told.stdout
    );
}
