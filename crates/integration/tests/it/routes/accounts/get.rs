//! `GET /accounts` and `GET /accounts/{id}`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::unknown;

#[tokio::test]
async fn accounts_are_listed_in_pages_without_their_credentials() {
    let node = Node::start().await;
    let mut made = Vec::new();
    for name in ["a", "b", "c"] {
        let body = json!({"app": "shop", "name": name, "fields": {"api_key": "sesame-open-up"}});
        made.push(node.post("/accounts", body).await.is(200).data());
    }
    let all = node.get("/accounts").await.is(200);
    assert_eq!(all.items(), made);
    assert!(!all.text.contains("sesame"), "{}", all.text);
    let page = node.get("/accounts?limit=2").await.is(200);
    assert_eq!(page.items(), made[..2]);
    let cursor = page.json()["page_info"]["end_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        node.get(&format!("/accounts?after={cursor}"))
            .await
            .is(200)
            .items(),
        made[2..]
    );
    node.get("/accounts?limit=0").await.is(400);
}

#[tokio::test]
async fn accounts_are_filtered_by_app_and_health() {
    let node = Node::start().await;
    let shop = node.account("shop", json!({"api_key": "k"})).await;
    let bank = node.account("bank", json!({"api_key": "k"})).await;
    let found = async |query: &str| {
        let accounts = node.get(&format!("/accounts?{query}")).await.is(200);
        let ids = accounts.items().into_iter().map(|one| one["id"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(found("app=shop").await, [json!(shop)]);
    assert_eq!(found("health=unknown").await, [json!(shop), json!(bank)]);
    assert_eq!(found("health=unknown&app=bank").await, [json!(bank)]);
    assert_eq!(found("health=refused").await, [Value::Null; 0]);
    let page = node.get("/accounts?health=unknown&limit=1").await.is(200);
    let cursor = page.json()["page_info"]["end_cursor"].clone();
    let rest = format!("health=unknown&after={}", cursor.as_str().unwrap());
    assert_eq!(found(&rest).await, [json!(bank)]);
    let wrong = node.get("/accounts?health=ill").await.is(400);
    assert!(wrong.text.contains("health"), "{}", wrong.text);
    let listed = node.cli(&["accounts", "list", "bank"]).await.ok();
    assert!(listed.stdout.contains(&bank) && !listed.stdout.contains(&shop));
}

#[tokio::test]
async fn an_account_is_shown_with_its_health() {
    let node = Node::start().await;
    let id = node
        .account("shop", json!({"api_key": "sesame-open-up"}))
        .await;
    let answer = node.get(&format!("/accounts/{id}")).await.is(200);
    let health = json!({"status": "unknown", "checked_at": Value::Null});
    assert_eq!(answer.data()["health"], health);
    assert!(!answer.text.contains("sesame"), "{}", answer.text);
    node.get(&format!("/accounts/{}", unknown("apn_")))
        .await
        .is(404);
    let ann = node.user("ann").await;
    ann.get(&format!("/accounts/{id}")).await.is(404);
}
