//! The refusals of a node with quotas: invocations per day, requests per second.

use headwater_integration::Node;
use serde_json::json;

use crate::code::INBOX;

#[tokio::test]
async fn an_endpoint_over_the_quota_answers_429_until_midnight() {
    let node = Node::builder()
        .flag("--daily-invocations-quota=2")
        .start()
        .await;
    let source = node.deploy(INBOX, json!({})).await;
    let user = node.get("/users/me").await.is(200).data();
    assert_eq!(user["daily_invocations_quota"], 2);
    for number in 0..2 {
        let answer = node.post(source.endpoint(), json!(number)).await;
        answer.is(200);
    }
    let refused = node.post(source.endpoint(), json!(2)).await.is(429);
    assert_eq!(refused.error()["code"], "quota_exceeded");
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=86_400).contains(&seconds), "{seconds}");
    let run = format!("{}/run", source.path());
    let by_hand = node.post(&run, json!({})).await;
    assert_eq!(by_hand.is(429).error()["code"], "quota_exceeded");
    let events = node.events_until(&source, |events| events.len() == 2).await;
    assert_eq!(events.len(), 2);
}

#[tokio::test]
async fn a_key_over_the_rate_limit_gets_429_and_others_do_not() {
    let node = Node::builder().flag("--rate-limit=1").start().await;
    let mut refused = None;
    // A node answers more than one request a second; when it does not, the next one is refused.
    for _ in 0..1_000 {
        let answer = node.get("/users/me").await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        answer.is(200);
    }
    let refused = refused.expect("some of a thousand requests are refused");
    assert_eq!(refused.error()["code"], "rate_limited");
    assert_eq!(refused.header("retry-after"), "1");
    node.with_key(Some("hw_nobody"))
        .get("/users/me")
        .await
        .is(401);
    node.get("//healthz").await.is(200);
}
