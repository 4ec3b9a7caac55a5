//! `$.send.http`, as the other end and the run's owner see it.

use std::time::Duration;

use headwater_engine::network::NetworkPolicy;
use headwater_store::{SendState, SendWay};
use serde_json::json;

use super::{
    bench::{Bench, PATIENCE, T0, config},
    receiver::Receiver,
};

async fn get(bench: &Bench, url: &str) -> headwater_store::SendId {
    bench
        .queue(SendWay::Http, json!({"method": "GET", "url": url}))
        .await
}

#[tokio::test]
async fn a_request_arrives_with_its_name_and_its_answer_is_kept() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    let value = json!({
        "method": "PUT",
        "url": receiver.url("/orders?x=1"),
        "headers": {"x-one": "1"},
        "params": {"y": "2"},
        "data": {"n": [1]},
        "auth": {"username": "u", "password": "password-of-u"},
    });
    let id = bench.queue(SendWay::Http, value).await;
    let step = bench.step().await;
    assert_eq!((step.done, step.more), (1, false));
    let arrived = receiver.next().await;
    assert_eq!(
        (&*arrived.method, &*arrived.target),
        ("PUT", "/orders?x=1&y=2")
    );
    assert_eq!(arrived.text(), r#"{"n":[1]}"#);
    assert_eq!(arrived.header("content-type"), "application/json");
    assert_eq!(
        arrived.header("authorization"),
        "Basic dTpwYXNzd29yZC1vZi11"
    );
    assert_eq!(
        arrived.header("idempotency-key"),
        format!("{}/notify/0", id.run_id)
    );
    let echo = format!("got password-of-u and {}", "x".repeat(9_000));
    arrived.answer(
        201,
        &[("set-cookie", "session=hush"), ("x-two", "2")],
        &echo,
    );
    bench.settled().await;
    assert_eq!(bench.state(&id).await, SendState::Sent);
    let result = bench.result(&id).await;
    assert_eq!(result["attempt"], 1);
    assert_eq!(result["at_ms"], T0.0);
    let request = &result["request"];
    assert_eq!(request["method"], "PUT");
    assert_eq!(request["url"], receiver.url("/orders?x=1&y=2"));
    assert_eq!(request["headers"]["x-one"], "1");
    assert_eq!(request["body"], r#"{"n":[1]}"#);
    let response = &result["response"];
    assert_eq!(response["status"], 201);
    assert_eq!(response["headers"]["x-two"], "2");
    let body = response["body"].as_str().unwrap();
    assert!(
        body.starts_with("got … and xxx") && body.len() <= 4096,
        "{}",
        body.len()
    );
    let text = result.to_string();
    for credential in ["hush", "password-of-u", "dTpwYXNzd29yZC1vZi11"] {
        assert!(!text.contains(credential), "{credential}: {text}");
    }
}

#[tokio::test]
async fn a_failing_receiver_is_asked_five_times_in_an_hour_under_one_name() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    let id = get(&bench, &receiver.url("/")).await;
    let mut names = Vec::new();
    for wait_s in [10, 60, 600, 2_400] {
        bench.step().await;
        let arrived = receiver.next().await;
        names.push(arrived.header("idempotency-key").to_owned());
        arrived.answer(503, &[], "later");
        bench.settled().await;
        assert_eq!(bench.state(&id).await, SendState::Pending);
        let wait_ms = bench.wait_ms(&id).await;
        assert!(
            (wait_s * 1_000..=wait_s * 1_100).contains(&wait_ms),
            "{wait_ms}"
        );
        assert_eq!(bench.result(&id).await["response"]["body"], "later");
        let due_ms = bench.core.store.next_send_due().await.unwrap();
        assert_eq!(
            due_ms,
            Some(bench.core.env.now_ms() + Duration::from_millis(wait_ms))
        );
        bench.pass(Duration::from_millis(wait_ms - 1));
        assert_eq!(bench.step().await.done, 0, "not before it is due");
        bench.pass(Duration::from_millis(1));
    }
    assert!(bench.core.env.now_ms().since(T0) < Duration::from_hours(1));
    bench.step().await;
    let arrived = receiver.next().await;
    names.push(arrived.header("idempotency-key").to_owned());
    arrived.status(500);
    bench.settled().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    let error = &bench.result(&id).await["error"];
    assert_eq!(
        error,
        "the receiver answered 500 Internal Server Error; given up after 5 attempts"
    );
    names.dedup();
    assert_eq!(names.len(), 1);
    assert_eq!(bench.core.store.next_send_due().await.unwrap(), None);
}

#[tokio::test]
async fn a_longer_retry_after_counts_within_an_hour() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    for (status, after, wait_ms) in [(429, "120", 120_000), (503, "86400", 3_600_000)] {
        let id = get(&bench, &receiver.url("/")).await;
        bench.step().await;
        let arrived = receiver.next().await;
        arrived.answer(status, &[("retry-after", after)], "");
        bench.settled().await;
        assert_eq!(bench.wait_ms(&id).await, wait_ms);
        assert_eq!(bench.result(&id).await["response"]["status"], status);
    }
}

#[tokio::test]
async fn other_answers_end_a_send() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    for (status, state) in [
        (200, SendState::Sent),
        (204, SendState::Sent),
        (304, SendState::Sent),
        (400, SendState::Failed),
        (404, SendState::Failed),
    ] {
        let id = get(&bench, &receiver.url("/")).await;
        bench.step().await;
        receiver.next().await.status(status);
        bench.settled().await;
        assert_eq!(bench.state(&id).await, state, "{status}");
        let result = bench.result(&id).await;
        assert_eq!(result["response"]["status"], status);
        let has_error = result.get("error").is_some();
        assert_eq!(has_error, state == SendState::Failed, "{status}");
    }
}

#[tokio::test]
async fn nobody_there_is_tried_again() {
    let bench = Bench::new().await;
    // A port that was given back: nothing listens there.
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
    let free = listener.unwrap().local_addr().unwrap();
    let id = get(&bench, &format!("http://{free}/")).await;
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Pending);
    let error = bench.result(&id).await["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(error.starts_with("cannot connect: "), "{error}");
}

#[tokio::test]
async fn addresses_that_the_node_may_not_reach_are_not_tried_again() {
    let mut config = config();
    config.deliveries.network = NetworkPolicy::PublicOnly;
    let bench = Bench::with(config, "ada@example.com").await;
    let receiver = Receiver::new().await;
    let port = receiver.address.port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let id = get(&bench, &format!("http://{host}:{port}/")).await;
        bench.attempt().await;
        assert_eq!(bench.state(&id).await, SendState::Failed, "{host}");
        let error = bench.result(&id).await["error"].to_string();
        assert!(error.contains("--allow-private-network"), "{error}");
    }
    assert!(receiver.is_empty().await);
}

#[tokio::test]
async fn a_redirect_to_another_host_gets_no_credentials() {
    let (bench, first, second) = (
        Bench::new().await,
        Receiver::new().await,
        Receiver::new().await,
    );
    let value = json!({
        "method": "POST",
        "url": first.url("/a"),
        "headers": {"Authorization": "Bearer hush", "X-Api-Key": "hush", "X-One": "1"},
        "data": "hello",
    });
    let id = bench.queue(SendWay::Http, value).await;
    bench.step().await;
    let arrived = first.next().await;
    assert_eq!(arrived.header("authorization"), "Bearer hush");
    arrived.answer(307, &[("location", "/b")], "");
    let arrived = first.next().await;
    assert_eq!(
        (&*arrived.target, arrived.header("authorization")),
        ("/b", "Bearer hush")
    );
    arrived.answer(307, &[("location", &second.url("/c"))], "");
    let arrived = second.next().await;
    assert_eq!(
        (&*arrived.method, &*arrived.target, arrived.text()),
        ("POST", "/c", "hello")
    );
    assert_eq!(arrived.header("authorization"), "");
    assert_eq!(arrived.header("x-api-key"), "");
    assert_eq!(arrived.header("x-one"), "1");
    assert_eq!(
        arrived.header("idempotency-key"),
        format!("{}/notify/0", id.run_id)
    );
    arrived.status(200);
    bench.settled().await;
    assert_eq!(bench.state(&id).await, SendState::Sent);
    assert_eq!(bench.result(&id).await["response"]["url"], second.url("/c"));
}

#[tokio::test]
async fn a_sixth_redirect_is_not_followed() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    let id = get(&bench, &receiver.url("/")).await;
    bench.step().await;
    for _ in 0..=5 {
        let arrived = receiver.next().await;
        arrived.answer(302, &[("location", "/again")], "");
    }
    bench.settled().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    assert_eq!(
        bench.result(&id).await["error"],
        "redirected more than 5 times"
    );
    assert!(receiver.is_empty().await);
}

#[tokio::test]
async fn a_redirect_to_an_address_that_the_node_may_not_reach_is_refused() {
    let mut config = config();
    config.deliveries.network = "127.0.0.1/32".parse().unwrap();
    let bench = Bench::with(config, "ada@example.com").await;
    let (public, private) = (Receiver::new().await, Receiver::at("127.0.0.2").await);
    let id = get(&bench, &public.url("/")).await;
    bench.step().await;
    let arrived = public.next().await;
    arrived.answer(302, &[("location", &private.url("/secret"))], "");
    bench.settled().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    let error = bench.result(&id).await["error"].to_string();
    assert!(
        error.contains("127.0.0.2 is not a public address"),
        "{error}"
    );
    assert!(private.is_empty().await);
}

#[tokio::test]
async fn arguments_that_cannot_be_sent_fail_by_name() {
    let bench = Bench::new().await;
    let id = bench
        .queue(SendWay::Http, json!({"url": "file:///etc/passwd"}))
        .await;
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    let error = bench.result(&id).await["error"].to_string();
    assert!(error.contains("$.send.http: url"), "{error}");
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_kept_as_far_as_it_came() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    let id = get(&bench, &receiver.url("/")).await;
    bench.step().await;
    let long = "y".repeat(1024 * 1024);
    receiver.next().await.answer(200, &[], &long);
    let settled = tokio::time::timeout(PATIENCE, bench.settled()).await;
    settled.expect("nobody reads to the end");
    let body = bench.result(&id).await["response"]["body"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(body.len() <= 4096 && body.ends_with("y…"), "{}", body.len());
}
