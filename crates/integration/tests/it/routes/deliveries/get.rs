//! `GET /deliveries/{id}` and `GET /deliveries`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

#[tokio::test]
async fn a_delivery_tells_what_was_attempted() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply {
        body: "not now".to_owned(),
        headers: vec![
            ("x-node", "b".to_owned()),
            ("set-cookie", "a=hush".to_owned()),
        ],
        ..Reply::status(503)
    });
    let source = node.deploy(EMITTER, json!({})).await;
    let id = node.webhook_for(&source.id, &receiver.url()).await;
    let subscription = node
        .get("/users/me/subscriptions")
        .await
        .is(200)
        .items()
        .remove(0);
    node.run(&source, json!({"emits": [[{"n": 1}, {}]]})).await;
    let attempted = |all: &[Value]| all.len() == 1 && all[0]["attempts"][0]["at_ms"].is_u64();
    let listed = node.deliveries_until(&id, attempted).await.remove(0);
    let path = format!("/deliveries/{}", listed["id"].as_str().unwrap());
    let delivery = node.get(&path).await.is(200).data();

    assert!(
        delivery["id"].as_str().unwrap().starts_with("dlv_"),
        "{delivery}"
    );
    let event = node.events(&source).await.remove(0);
    for (field, expected) in [
        ("webhook_id", &json!(id)),
        ("subscription_id", &subscription["id"]),
        ("emitter_id", &json!(source.id)),
        ("event_id", &event["id"]),
        ("event_name", &json!("")),
        ("state", &json!("pending")),
        ("event", &json!({"n": 1})),
    ] {
        assert_eq!(&delivery[field], expected, "{field}: {delivery}");
    }
    let attempt = &delivery["attempts"][0];
    assert_eq!(
        (&attempt["status"], &attempt["response_excerpt"]),
        (&json!(503), &json!("not now"))
    );
    assert!(attempt["latency_ms"].is_u64(), "{attempt}");
    assert_eq!(attempt["failure"], "status");
    let header = |kind: &str, name: &str| {
        let headers = attempt[kind].as_array().unwrap();
        let found = headers.iter().find(|header| header["name"] == name);
        found.map(|header| header["value"].clone())
    };
    let sent = receiver.received().remove(0).headers;
    for name in ["webhook-id", "webhook-signature", "x-headwater-event-id"] {
        let value = Some(json!(sent[name].to_str().unwrap()));
        assert_eq!(header("request_headers", name), value, "{attempt}");
    }
    assert_eq!(header("response_headers", "x-node"), Some(json!("b")));
    assert_eq!(header("response_headers", "set-cookie"), Some(json!("…")));
    assert_eq!(listed["attempts"][0]["request_headers"], Value::Null);
    let time = |value: &Value| value.as_u64().unwrap();
    assert!(
        time(&delivery["next_attempt_at_ms"]) > time(&attempt["at_ms"]),
        "{delivery}"
    );
    assert!(
        time(&delivery["created_at_ms"]) <= time(&attempt["at_ms"]),
        "{delivery}"
    );
    let webhook = node.get(&format!("/webhooks/{id}")).await.is(200).data();
    assert!(webhook["failing_since_ms"].is_u64(), "{webhook}");
}

#[tokio::test]
async fn a_delivery_that_is_none_is_not_found() {
    let node = Node::start().await;
    for id in [unknown("dlv_"), unknown("wh_"), "nonsense".to_owned()] {
        let error = node.get(&format!("/deliveries/{id}")).await.is(404).error();
        assert_eq!(error["message"], format!("there is no delivery `{id}`"));
    }
}

#[tokio::test]
async fn an_attempt_without_an_answer_says_why() {
    let node = Node::builder().private_network().start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}", unused.local_addr().unwrap());
    drop(unused);
    let refused = node.webhook_for(&source.id, &closed).await;
    let unknown = node
        .webhook_for(&source.id, "http://receiver.invalid")
        .await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::status(302));
    let moved = node.webhook_for(&source.id, &receiver.url()).await;
    let spoken = receiver.url().replace("http://", "https://");
    let insecure = node.webhook_for(&source.id, &spoken).await;
    node.run(&source, json!({"emits": [[1, {}]]})).await;
    for (webhook, failure, status) in [
        (refused, "refused", "refused"),
        (unknown, "dns", "dns"),
        (moved, "redirect", "3xx"),
        (insecure, "tls", "tls"),
    ] {
        let attempted = |all: &[Value]| all.len() == 1 && all[0]["attempts"][0]["at_ms"].is_u64();
        let listed = node.deliveries_until(&webhook, attempted).await.remove(0);
        assert_eq!(listed["attempts"][0]["failure"], failure, "{listed}");
        let path = format!("/deliveries?status={status}");
        let found = node.get(&path).await.is(200).items();
        assert_eq!(found.len(), 1, "{status}");
        assert_eq!(found[0]["webhook_id"], webhook);
    }
}

#[tokio::test]
async fn deliveries_to_all_webhooks_are_found_by_a_filter() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|request| {
        Reply::status(if request.text() == "\"bad\"" {
            500
        } else {
            200
        })
    });
    let source = node.deploy(EMITTER, json!({})).await;
    let other = node.deploy(EMITTER, json!({})).await;
    let first = node.webhook_for(&source.id, &receiver.url()).await;
    let second = node.webhook_for(&source.id, &receiver.url()).await;
    node.subscribe(&other.id, &second, "").await;
    node.run(&source, json!({"emits": [[1, {}], ["bad", {}]]}))
        .await;
    node.run(&other, json!({"emits": [[2, {}]]})).await;
    let attempted = |all: &[Value]| {
        all.len() == 5 && all.iter().all(|one| one["attempts"][0]["at_ms"].is_u64())
    };
    let all = node.list_until("/deliveries?expand=event", attempted).await;
    let ids: Vec<_> = all.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    let bad = node.events(&source).await.remove(1);
    let bad = bad["id"].as_str().unwrap();
    let since = all[0]["created_at_ms"].as_u64().unwrap();
    for (query, count) in [
        ("state=delivered".to_owned(), 3),
        ("state=pending".to_owned(), 2),
        ("state=dead".to_owned(), 0),
        ("state=dead,delivered,%20pending".to_owned(), 5),
        ("q=BAD".to_owned(), 2),
        ("q=worse".to_owned(), 0),
        (format!("webhook_id={first}"), 2),
        (format!("emitter_id={}", other.id), 1),
        (format!("source_id={}&webhook_id={second}", source.id), 2),
        (format!("event_id={bad}"), 2),
        (format!("event_id={bad}&emitter_id={}", other.id), 0),
        (format!("event_id={bad}&webhook_id={first}"), 1),
        ("status=2xx".to_owned(), 3),
        ("status=5xx&state=pending".to_owned(), 2),
        ("status=timeout".to_owned(), 0),
        (format!("since={since}"), 5),
        (format!("until={}", since - 1), 0),
    ] {
        let page = node.get(&format!("/deliveries?{query}")).await.is(200);
        assert_eq!(page.items().len(), count, "{query}");
        assert_eq!(page.json()["page_info"]["total_count"], count, "{query}");
    }
    let page = node.get("/deliveries?limit=2").await.is(200);
    let cursor = page.json()["page_info"]["end_cursor"].clone();
    let path = format!("/deliveries?limit=2&after={}", cursor.as_str().unwrap());
    let next = node.get(&path).await.is(200).items();
    let next: Vec<_> = next.iter().map(|one| &one["id"]).collect();
    assert_eq!(next, [ids[2], ids[1]]);
    let bob = node.user("bob").await;
    assert_eq!(
        bob.get("/deliveries").await.is(200).items(),
        [Value::Null; 0]
    );
    bob.get(&format!("/deliveries?webhook_id={first}"))
        .await
        .is(404);
}

#[tokio::test]
async fn a_wrong_filter_of_deliveries_is_told() {
    let node = Node::start().await;
    for (query, param) in [
        ("state=lost", "state"),
        ("state=dead,lost", "state"),
        ("workspace_id=x", "workspace_id"),
        ("status=teapot", "status"),
        ("event_id=x", "event_id"),
        ("source_id=wh_1", "source_id"),
        ("since=soon", "since"),
        ("since=2&until=1", "until"),
        ("limit=0", "limit"),
    ] {
        let error = node
            .get(&format!("/deliveries?{query}"))
            .await
            .is(400)
            .error();
        assert_eq!(error["param"], param, "{query}");
    }
}
