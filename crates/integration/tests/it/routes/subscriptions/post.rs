//! `POST /subscriptions`: a source that listens to another.

use headwater_integration::{Method, Node, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

/// Emits what it receives, marked.
const LISTENER: &str = r#"
export default {
  name: "Listener",
  version: "0.0.1",
  run(event) { this.$emit({ heard: event }); },
};
"#;

#[tokio::test]
async fn a_listener_runs_with_what_was_emitted() {
    let node = Node::start().await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let listener = node.deploy(LISTENER, json!({})).await;
    let subscription = node.subscribe(&emitter.id, &listener.id, "").await;
    assert!(
        subscription["id"].as_str().unwrap().starts_with("sub_"),
        "{subscription}"
    );
    assert_eq!(subscription["emitter_id"], json!(emitter.id));
    assert_eq!(subscription["listener_id"], json!(listener.id));
    assert_eq!(subscription["event_name"], "");

    node.run(
        &emitter,
        json!({"emits": [[{"n": 1}, {}], ["named", {"name": "news"}], ["text", {}]]}),
    )
    .await;
    let heard = node
        .events_until(&listener, |events| events.len() >= 2)
        .await;
    assert_eq!(
        payloads(&heard),
        [json!({"heard": {"n": 1}}), json!({"heard": "text"})]
    );
}

#[tokio::test]
async fn a_channel_is_listened_to_by_its_name() {
    let node = Node::start().await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let listener = node.deploy(LISTENER, json!({})).await;
    node.subscribe(&emitter.id, &listener.id, "news").await;
    node.run(
        &emitter,
        json!({"emits": [["plain", {}], ["news", {"name": "news"}]]}),
    )
    .await;
    let heard = node
        .events_until(&listener, |events| !events.is_empty())
        .await;
    assert_eq!(payloads(&heard), [json!({"heard": "news"})]);
}

#[tokio::test]
async fn errors_can_be_listened_to() {
    let node = Node::start().await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let listener = node.deploy(LISTENER, json!({})).await;
    node.subscribe(&emitter.id, &listener.id, "$errors").await;
    node.run(&emitter, json!({"emits": null})).await;
    let heard = node
        .events_until(&listener, |events| !events.is_empty())
        .await;
    assert_eq!(
        heard[0]["event"]["heard"]["original_event"],
        json!({"emits": null})
    );
}

#[tokio::test]
async fn a_pattern_reaches_sources_deployed_later() {
    let node = Node::start().await;
    let user = node.get("/users/me").await.is(200).data();
    let listener = node.deploy(LISTENER, json!({})).await;
    for (emitter_id, channel) in [("dc_*", "all"), (user["id"].as_str().unwrap(), "mine")] {
        node.subscribe(emitter_id, &listener.id, channel).await;
    }
    let emitter = node.deploy(EMITTER, json!({})).await;
    node.run(
        &emitter,
        json!({"emits": [["a", {"name": "all"}], ["b", {"name": "mine"}]]}),
    )
    .await;
    let heard = node
        .events_until(&listener, |events| events.len() >= 2)
        .await;
    assert_eq!(
        payloads(&heard),
        [json!({"heard": "a"}), json!({"heard": "b"})]
    );
}

#[tokio::test]
async fn a_source_may_listen_to_its_own_channel() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Countdown",
  version: "0.0.1",
  run({ n }) { if (n > 0) this.$emit({ n: n - 1 }, { name: "self" }); else this.$emit("done"); },
};
"#;
    let source = node.deploy(code, json!({})).await;
    node.subscribe(&source.id, &source.id, "self").await;
    node.run(&source, json!({"n": 3})).await;
    let events = node
        .channel_until(&source, "", |events| !events.is_empty())
        .await;
    assert_eq!(payloads(&events), ["done"]);
    assert_eq!(
        payloads(&node.channel(&source, "self").await),
        [json!({"n": 2}), json!({"n": 1}), json!({"n": 0})]
    );
}

#[tokio::test]
async fn a_source_that_feeds_itself_is_stopped_after_sixteen_hops() {
    let node = Node::start().await;
    let code = "export default { name: \"Loop\", version: \"0.0.1\", run({ n }) { this.$emit({ n: n + 1 }); } };";
    let source = node.deploy(code, json!({})).await;
    node.subscribe(&source.id, &source.id, "").await;
    // Runs of a source are serial: once the second loop has ended, the first one has.
    for start in [0, 100] {
        node.run(&source, json!({"n": start})).await;
        let last = start + 17;
        node.events_until(&source, |events| {
            payloads(events).contains(&json!({"n": last}))
        })
        .await;
    }
    let numbers: Vec<_> = (1..=17).chain(101..=117).map(|n| json!({"n": n})).collect();
    assert_eq!(payloads(&node.events(&source).await), numbers);
}

#[tokio::test]
async fn subscribing_twice_is_one_subscription() {
    let node = Node::start().await;
    let emitter = node.deploy(EMITTER, json!({})).await;
    let listener = node.deploy(LISTENER, json!({})).await;
    let first = node.subscribe(&emitter.id, &listener.id, "news").await;
    let second = node.subscribe(&emitter.id, &listener.id, "news").await;
    assert_eq!(first, second);
    assert_eq!(
        node.get("/users/me/subscriptions").await.is(200).items(),
        [first]
    );
}

#[tokio::test]
async fn parameters_may_be_in_the_query() {
    let node = Node::start().await;
    let source = node.deploy(LISTENER, json!({})).await;
    let query = [
        ("emitter_id", source.id.as_str()),
        ("listener_id", &source.id),
        ("event_name", "self"),
    ];
    let request = node.request(Method::POST, "/subscriptions").query(&query);
    assert_eq!(
        node.send(request).await.is(200).data()["event_name"],
        "self"
    );
}

#[tokio::test]
async fn webhooks_and_workflows_to_come_may_listen() {
    let node = Node::start().await;
    let id = node.deploy(LISTENER, json!({})).await.id;
    let webhook = node.webhook("https://receiver.example").await;
    let workflow = unknown("p_");
    let mut made = Vec::new();
    for listener in [webhook["id"].as_str().unwrap(), &workflow] {
        made.push(node.subscribe(&id, listener, "$errors").await);
    }
    made.push(node.subscribe("p_*", &workflow, "").await);
    let listed = node.get("/users/me/subscriptions").await.is(200).items();
    assert_eq!(listed, made);
}

#[tokio::test]
async fn ids_that_name_nothing_are_told() {
    let node = Node::start().await;
    let id = node.deploy(LISTENER, json!({})).await.id;
    for (emitter, listener, event_name, status, param) in [
        ("", id.as_str(), "", 400, "emitter_id"),
        (&id, "", "", 400, "listener_id"),
        ("nonsense", &id, "", 400, "emitter_id"),
        (&id, "nonsense", "", 400, "listener_id"),
        (&id, &id, "$in", 400, "event_name"),
        (&unknown("dc_"), &id, "", 404, ""),
        (&id, &unknown("dc_"), "", 404, ""),
        (&id, &unknown("wh_"), "", 404, ""),
        (&unknown("p_"), &id, "", 404, ""),
        (&id, &id, "$errors", 400, "event_name"),
        (&id, &id, "$logs", 400, "event_name"),
        (&unknown("u_"), &id, "", 404, ""),
        (&unknown("o_"), &id, "", 404, ""),
    ] {
        let body =
            json!({"emitter_id": emitter, "listener_id": listener, "event_name": event_name});
        let answer = node.post("/subscriptions", body.clone()).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        assert_eq!(
            answer.error()["param"].as_str().unwrap_or_default(),
            param,
            "{body}"
        );
    }
    assert_eq!(
        node.get("/users/me/subscriptions").await.is(200).items(),
        [Value::Null; 0]
    );
}

#[tokio::test]
async fn a_workspace_is_not_named_along_with_a_pattern_that_reaches_beyond_it() {
    let node = Node::start().await;
    let emitter = node.deploy(EMITTER, json!({})).await.id;
    let listener = node.deploy(LISTENER, json!({})).await.id;
    let me = node.get("/users/me").await.is(200).data();
    let workspace = me["orgs"][0]["id"].as_str().unwrap().to_owned();
    for name in ["workspace_id", "org_id"] {
        let body = |emitter: &str, id: &str| json!({"emitter_id": emitter, "listener_id": listener, name: id});
        for method in [Method::POST, Method::DELETE] {
            let asked = node.request(method.clone(), "/subscriptions");
            let refused = node.send(asked.json(&body("dc_*", &workspace))).await;
            let refused = refused.is(400);
            assert_eq!(refused.error()["param"], "emitter_id");
            assert!(refused.text.contains(&format!("emitter_id={workspace}")));
        }
        node.post("/subscriptions", body(&emitter, &unknown("o_")))
            .await
            .is(404);
        for emitter in [&emitter, &workspace] {
            node.post("/subscriptions", body(emitter, &workspace))
                .await
                .is(200);
        }
    }
}
