//! `GET /users/me/webhooks`.

use headwater_integration::Node;

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
}
