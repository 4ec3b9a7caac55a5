//! `GET /users/me`.

use headwater_integration::{Node, Source};
use serde_json::{Value, json};

use crate::code::EMITTER;

#[tokio::test]
async fn the_first_user_has_a_workspace_and_quotas() {
    let node = Node::builder()
        .flag("--username=ada")
        .flag("--email=ada@example.com")
        .start()
        .await;
    let user = node.get("/users/me").await.is(200).data();
    assert!(user["id"].as_str().unwrap().starts_with("u_"), "{user}");
    assert_eq!(
        (&user["username"], &user["email"]),
        (&json!("ada"), &json!("ada@example.com"))
    );
    for field in ["daily_compute_time_used", "daily_invocations_used"] {
        assert!(user[field].is_u64(), "{field}: {user}");
    }
    // There are none, and that is said.
    for field in ["daily_compute_time_quota", "daily_invocations_quota"] {
        assert_eq!(user.get(field), Some(&Value::Null), "{field}: {user}");
    }
    let org = &user["orgs"][0];
    assert!(org["id"].as_str().unwrap().starts_with("o_"), "{user}");
    assert!(
        org["orgname"].is_string() && org["name"].is_string() && org["email"].is_string(),
        "{user}"
    );
    assert_eq!(org.get("daily_credits_quota"), Some(&Value::Null), "{user}");
    assert!(org["daily_credits_used"].is_u64(), "{user}");
    // The specification lets workspaces leave these out.
    for field in ["daily_compute_time_quota", "daily_invocations_quota"] {
        assert!(org.get(field).is_none(), "{field}: {user}");
    }
}

#[tokio::test]
async fn runs_are_counted() {
    let node = Node::start().await;
    let used = async || {
        node.get("/users/me").await.is(200).data()["daily_invocations_used"]
            .as_u64()
            .unwrap()
    };
    let source = node.deploy(EMITTER, json!({})).await;
    let before = used().await;
    for _ in 0..3 {
        node.run(&source, json!({"emits": [[1, {}]]})).await;
    }
    assert_eq!(used().await, before + 3);
}

#[tokio::test]
async fn the_key_is_never_shown() {
    let node = Node::start().await;
    let answer = node.get("/users/me").await.is(200);
    assert!(!answer.text.contains(node.api_key()), "{}", answer.text);
    assert_eq!(answer.data()["api_key"], Value::Null);
}

#[tokio::test]
async fn a_workspace_shows_what_ran_in_it() {
    let node = Node::start().await;
    let org = async || node.get("/users/me").await.is(200).data()["orgs"][0].take();
    let workspace = org().await["id"].as_str().unwrap().to_owned();
    let private = node.deploy(EMITTER, json!({})).await;
    node.run(&private, json!({"emits": []})).await;
    assert_eq!(org().await["daily_credits_used"], 0);
    let body = json!({"component_code": EMITTER, "org_id": workspace});
    let shared = Source::new(node.post("/sources", body).await.is(200).data());
    node.run(&shared, json!({"emits": []})).await;
    assert_eq!(org().await["daily_credits_used"], 1);
    assert_eq!(
        node.get(&format!("/workspaces/{workspace}"))
            .await
            .is(200)
            .data(),
        org().await
    );
}

#[tokio::test]
async fn a_paid_plan_shows_the_billing_period() {
    let node = Node::builder().flag("--plan=paid").start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": []})).await;
    let user = node.get("/users/me").await.is(200).data();
    let (start, end) = (
        user["billing_period_start_ts"].as_u64().unwrap(),
        user["billing_period_end_ts"].as_u64().unwrap(),
    );
    assert!(
        (28 * 86_400..=31 * 86_400).contains(&(end - start)),
        "{user}"
    );
    assert_eq!(user["billing_period_credits"], 1);
    let names: Vec<_> = user.as_object().unwrap().keys().collect();
    assert!(
        !names.iter().any(|name| name.starts_with("daily")),
        "{user}"
    );
    assert_eq!(user["orgs"], Value::Null);
}
