//! `POST /accounts/{id}/check`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::json;

use crate::code::unknown;

#[tokio::test]
async fn the_app_is_asked_now() {
    let receiver = Receiver::start().await;
    let apps = format!(
        "[acme]\nname = \"Acme\"\nauth = \"fields\"\nfields = [{{ name = \"key\" }}]\n[acme.probe]\nurl = \"{}\"\n\
         headers = {{ X-Key = \"{{key}}\" }}\n",
        receiver.url()
    );
    let node = Node::builder().file("apps/own.toml", &apps).start().await;
    let id = node.account("acme", json!({"key": "sesame"})).await;
    let check = async || {
        node.post(&format!("/accounts/{id}/check"), json!({}))
            .await
            .is(200)
            .data()
    };

    receiver.answer(|_| Reply::status(200));
    let account = check().await;
    assert_eq!(account["health"]["status"], "healthy", "{account}");
    assert!(account["health"]["checked_at"].is_u64());
    receiver.answer(|_| Reply::status(401));
    let account = check().await;
    assert_eq!(account["health"]["status"], "refused", "{account}");
    let reason = account["health"]["reason"].as_str().unwrap();
    assert!(
        reason.contains(&format!("accounts reconnect {id}")),
        "{reason}"
    );
    receiver.answer(|_| Reply::status(500));
    assert_eq!(check().await["health"]["status"], "unknown");
    let shown = node.get(&format!("/accounts/{id}")).await.is(200).data();
    assert_eq!(shown["health"]["status"], "unknown");
    let asked = receiver.received();
    assert!(
        asked
            .iter()
            .all(|request| request.headers["x-key"] == "sesame")
    );
}

#[tokio::test]
async fn of_an_app_that_cannot_be_asked_nothing_is_known() {
    let node = Node::start().await;
    let id = node.account("shop", json!({"k": "v"})).await;
    let account = node
        .post(&format!("/accounts/{id}/check"), json!({}))
        .await
        .is(200)
        .data();
    assert_eq!(account["health"]["status"], "unknown");
    let health = &account["health"];
    assert!(health["reason"].is_string(), "{account}");
    assert!(health["checked_at"].is_null(), "nothing was asked");
    node.post(&format!("/accounts/{}/check", unknown("apn_")), json!({}))
        .await
        .is(404);
}
