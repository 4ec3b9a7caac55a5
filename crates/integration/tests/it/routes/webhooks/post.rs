//! `POST /webhooks`.

use headwater_integration::{Method, Node};
use serde_json::{Value, json};

use crate::code::unknown;

#[tokio::test]
async fn a_webhook_is_made_and_its_secret_shown_this_once() {
    let node = Node::start().await;
    let user = node.get("/users/me").await.is(200).data();
    let body = json!({
        "url": "https://receiver.example:8443/events?team=a", "name": "Orders",
        "description": "for the warehouse",
    });
    let mut made = node.post("/webhooks", body.clone()).await.is(200).data();
    let id = made["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("wh_"), "{made}");
    for field in ["url", "name", "description"] {
        assert_eq!(made[field], body[field]);
    }
    assert_eq!(
        (&made["user_id"], &made["active"]),
        (&user["id"], &json!(true))
    );
    assert!(
        made["created_at"].is_u64() && made["updated_at"].is_u64(),
        "{made}"
    );
    let secret = made.as_object_mut().unwrap().remove("secret").unwrap();
    assert!(secret.as_str().unwrap().starts_with("whsec_"), "{secret}");
    let shown = node.get(&format!("/webhooks/{id}")).await.is(200).data();
    assert_eq!(shown, made);
}

#[tokio::test]
async fn parameters_may_be_in_the_query_and_names_left_out() {
    let node = Node::start().await;
    let query = [("url", "http://receiver.example"), ("name", "")];
    let request = node.request(Method::POST, "/webhooks").query(&query);
    let made = node.send(request).await.is(200).data();
    assert_eq!(made["url"], "http://receiver.example");
    assert_eq!(
        (&made["name"], &made["description"]),
        (&Value::Null, &Value::Null)
    );
}

#[tokio::test]
async fn an_address_that_is_none_is_refused() {
    let node = Node::start().await;
    for (url, reason) in [
        (json!(null), "required"),
        (json!(""), "required"),
        (json!(7), "string"),
        (json!("receiver.example/events"), "http"),
        (json!("ftp://receiver.example"), "http"),
        (json!("https://"), "host"),
        (
            json!("https://user:password@receiver.example"),
            "credentials",
        ),
        (json!("https://receiver.example/#here"), "fragment"),
        (json!("http://127.0.0.1:80/"), "--allow-private-network"),
        (json!("http://[::1]/"), "--allow-private-network"),
        (json!("http://169.254.169.254/"), "--allow-private-network"),
    ] {
        let error = node
            .post("/webhooks", json!({"url": url}))
            .await
            .is(400)
            .error();
        assert_eq!(error["param"], "url", "{url}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(reason), "{url}: {message}");
    }
    let none = node.get("/users/me/webhooks").await.is(200).items();
    assert_eq!(none, [Value::Null; 0]);
}

#[tokio::test]
async fn a_webhook_may_live_in_a_workspace_of_ones_own() {
    let node = Node::start().await;
    let user = node.get("/users/me").await.is(200).data();
    let workspace = &user["orgs"][0]["id"];
    for parameter in ["workspace_id", "org_id"] {
        let body = json!({"url": "https://receiver.example", parameter: workspace});
        let made = node.post("/webhooks", body).await.is(200).data();
        assert_eq!(made["workspace_id"], *workspace);
    }
    let body = json!({"url": "https://receiver.example", "workspace_id": unknown("o_")});
    node.post("/webhooks", body).await.is(404);
}
