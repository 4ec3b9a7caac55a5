//! `POST /events/send`.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::json;

use crate::{code::EMITTER, ui::Visitor};

#[tokio::test]
async fn an_event_goes_to_a_url_once_and_the_answer_is_shown() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::json(&json!({"thanks": true})));
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [[{"a": 1}, {}]]})).await;
    let event = node.events(&source).await[0]["id"].clone();
    let body = json!({"source_id": source.id, "event_id": event, "url": receiver.url()});
    let sent = node.post("/events/send", body).await.is(200).data();
    assert_eq!(
        (&sent["delivered"], &sent["attempt"]["status"]),
        (&json!(true), &json!(200))
    );
    assert_eq!(sent["attempt"]["response_excerpt"], r#"{"thanks":true}"#);
    let received = receiver.received().remove(0);
    assert_eq!(received.json(), json!({"a": 1}));
    assert_eq!(
        received.headers["x-headwater-event-id"],
        event.as_str().unwrap()
    );
    assert!(!received.headers.contains_key("webhook-signature"));

    let id = event.as_str().unwrap();
    receiver.answer(|_| Reply::status(418));
    let url = receiver.url();
    let told = node
        .cli(&["events", "emitter", id, "--send-to", &url])
        .await;
    assert_eq!(told.code, 1, "{}", told.stdout);
    assert!(told.stdout.contains("418"), "{}", told.stdout);
    let visitor = Visitor::of(&node).await;
    let page = format!("/sources/{}/events/{id}/send", source.id);
    let shown = visitor.post(&page, &[("url", &url)]).await.is(200).text;
    for part in [
        "not delivered",
        "418",
        "Request headers",
        "x-headwater-event-id",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(receiver.received().len(), 3, "each once");
    let refused = visitor.post(&page, &[("url", "file:///etc/passwd")]).await;
    assert!(refused.is(422).text.contains("must begin with http"));
    let deliveries = node.get("/deliveries").await.is(200);
    assert!(deliveries.items().is_empty(), "nothing of it is kept");
}

#[tokio::test]
async fn addresses_and_events_are_those_that_one_may_reach() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [[1, {}]]})).await;
    let event = node.events(&source).await[0]["id"].clone();
    let to = |url: &str| json!({"emitter_id": source.id, "event_id": event, "url": url});
    for (url, reason) in [
        ("", "`url` is required"),
        ("http://127.0.0.1:9/", "--allow-private-network"),
        ("http://169.254.169.254/latest", "--allow-private-network"),
    ] {
        let refused = node.post("/events/send", to(url)).await.is(400);
        assert!(refused.text.contains(reason), "{url}: {}", refused.text);
    }
    let blocked = node.post("/events/send", to("http://localhost:1/")).await;
    assert_eq!(blocked.is(200).data()["attempt"]["failure"], "blocked");
    let gone = json!({"emitter_id": source.id, "event_id": "1-0", "url": "https://example.com/"});
    node.post("/events/send", gone).await.is(404);
    let bob = node.user("bob").await;
    bob.post("/events/send", to("https://example.com/"))
        .await
        .is(404);
}
