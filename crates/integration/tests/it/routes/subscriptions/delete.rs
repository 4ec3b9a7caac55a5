//! `DELETE /subscriptions`.

use headwater_integration::{Method, Node, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

const LISTENER: &str = "export default { name: \"Listener\", version: \"0.0.1\", run(event) { this.$emit({ heard: event }); } };";

#[tokio::test]
async fn a_deleted_subscription_delivers_nothing_more() {
    let node = Node::start().await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let listener = node.deploy(LISTENER, json!({})).await;
    let triple = |event_name: &str| json!({"emitter_id": emitter.id, "listener_id": listener.id, "event_name": event_name});
    node.post("/subscriptions", triple("")).await.is(200);
    node.post("/subscriptions", triple("end")).await.is(200);
    node.run(&emitter, json!({"emits": [["heard", {}]]})).await;
    node.events_until(&listener, |events| !events.is_empty())
        .await;

    let query = [
        ("emitter_id", emitter.id.as_str()),
        ("listener_id", &listener.id),
        ("event_name", ""),
    ];
    let request = node.request(Method::DELETE, "/subscriptions").query(&query);
    assert_eq!(node.send(request).await.is(204).text, "");
    // Events are dispatched in order: once the second is there, the first is not under way.
    node.run(
        &emitter,
        json!({"emits": [["unheard", {}], ["last", {"name": "end"}]]}),
    )
    .await;
    let heard = node
        .events_until(&listener, |events| events.len() >= 2)
        .await;
    assert_eq!(
        payloads(&heard),
        [json!({"heard": "heard"}), json!({"heard": "last"})]
    );
    let left = node.get("/users/me/subscriptions").await.is(200).items();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["event_name"], "end");
}

#[tokio::test]
async fn what_was_never_subscribed_is_not_found() {
    let node = Node::start().await;
    let id = node.deploy(EMITTER, json!({})).await.id;
    let delete = |body: Value| node.request(Method::DELETE, "/subscriptions").json(&body);
    let body = json!({"emitter_id": id, "listener_id": id, "event_name": "news"});
    node.post("/subscriptions", body.clone()).await.is(200);
    let other = json!({"emitter_id": id, "listener_id": id});
    node.send(delete(other)).await.is(404);
    node.send(delete(
        json!({"emitter_id": unknown("dc_"), "listener_id": id}),
    ))
    .await
    .is(404);
    node.send(delete(json!({"listener_id": id}))).await.is(400);
    node.send(delete(body.clone())).await.is(204);
    node.send(delete(body)).await.is(404);
}

#[tokio::test]
async fn a_deleted_sources_subscriptions_are_gone() {
    let node = Node::start().await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let listener = node.deploy(LISTENER, json!({})).await;
    node.post(
        "/subscriptions",
        json!({"emitter_id": emitter.id, "listener_id": listener.id}),
    )
    .await
    .is(200);
    node.delete(&listener.path()).await.is(204);
    assert_eq!(
        node.get("/users/me/subscriptions").await.is(200).items(),
        [Value::Null; 0]
    );
}
