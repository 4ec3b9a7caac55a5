//! `PUT /sources/{id}`: other code, other values, off and on.

use headwater_integration::{Node, Receiver, payloads};
use serde_json::json;

use crate::code::{EMITTER, INBOX, answering, hooked, unknown};

#[tokio::test]
async fn new_code_runs_under_the_same_id_and_endpoint() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1"), json!({})).await;
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "1");
    let body = json!({"component_code": answering("2")});
    let updated = node.put(&source.path(), body).await.is(200).data();
    assert_eq!(updated["id"], json!(source.id));
    assert_ne!(updated["component_id"], source.record["component_id"]);
    assert_eq!(
        updated["configured_props"],
        source.record["configured_props"]
    );
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "2");
    assert_eq!(node.get(&source.path()).await.is(200).data(), updated);
}

#[tokio::test]
async fn an_update_deactivates_the_former_version_and_activates_the_new_one() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    receiver.clear();
    node.put(&source.path(), json!({"component_code": hooked("2")}))
        .await
        .is(200);
    assert_eq!(receiver.bodies(), ["1 deactivate", "2 activate"]);
}

#[tokio::test]
async fn inactive_runs_deactivate_only_and_active_runs_activate_only() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;

    receiver.clear();
    let paused = node
        .put(&source.path(), json!({"active": false}))
        .await
        .is(200)
        .data();
    assert_eq!(paused["active"], false);
    assert_eq!(receiver.bodies(), ["1 deactivate"]);
    assert_eq!(paused["component_id"], source.record["component_id"]);
    node.get(source.endpoint()).await.is(404);

    receiver.clear();
    let resumed = node
        .put(&source.path(), json!({"active": true}))
        .await
        .is(200)
        .data();
    assert_eq!(resumed["active"], true);
    assert_eq!(receiver.bodies(), ["1 activate"]);
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "1");
}

#[tokio::test]
async fn active_left_out_means_true() {
    let node = Node::start().await;
    let source = node.deploy(&answering("1"), json!({})).await;
    node.put(&source.path(), json!({"active": false}))
        .await
        .is(200);
    let updated = node
        .put(&source.path(), json!({"name": "Renamed"}))
        .await
        .is(200)
        .data();
    assert_eq!(
        (&updated["active"], &updated["name"]),
        (&json!(true), &json!("Renamed"))
    );
    node.get(source.endpoint()).await.is(200);
}

#[tokio::test]
async fn new_code_for_an_inactive_source_runs_no_hook() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    node.put(&source.path(), json!({"active": false}))
        .await
        .is(200);
    receiver.clear();
    let body = json!({"component_code": hooked("2"), "active": false});
    node.put(&source.path(), body).await.is(200);
    assert_eq!(receiver.bodies(), [""; 0]);
    node.put(&source.path(), json!({"active": true}))
        .await
        .is(200);
    assert_eq!(receiver.bodies(), ["2 activate"]);
}

#[tokio::test]
async fn a_failing_activate_brings_the_former_version_back() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    receiver.clear();
    let body = json!({"component_code": hooked("2"), "configured_props": {"fails": "activate"}});
    let error = node.put(&source.path(), body).await.is(422).error();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("activate fails"),
        "{error}"
    );
    let calls = receiver.bodies();
    assert_eq!(calls.first().unwrap(), "1 deactivate");
    assert!(calls.contains(&"2 activate".to_owned()), "{calls:?}");
    assert_eq!(calls.last().unwrap(), "1 activate");
    assert_eq!(node.get(&source.path()).await.is(200).data(), source.record);
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "1");
}

#[tokio::test]
async fn code_that_cannot_be_built_and_values_that_do_not_fit_change_nothing() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    receiver.clear();
    for body in [
        json!({"component_code": "export default {"}),
        json!({"component_code": hooked("2"), "configured_props": {"url": 7}}),
        json!({"configured_props": {"url": null}}),
        json!({"configured_props": {"nothing": 1}}),
    ] {
        let answer = node.put(&source.path(), body.clone()).await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.text);
    }
    assert_eq!(receiver.bodies(), [""; 0]);
    assert_eq!(node.get(&source.path()).await.is(200).data(), source.record);
}

#[tokio::test]
async fn a_failing_deactivate_does_not_keep_a_new_version_out() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let props = json!({"url": receiver.url(), "fails": "deactivate"});
    let source = node.deploy(&hooked("1"), props).await;
    node.put(&source.path(), json!({"component_code": hooked("2")}))
        .await
        .is(200);
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "2");
}

#[tokio::test]
async fn values_replace_former_ones_by_prop_and_null_takes_one_away() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Props",
  version: "0.0.1",
  props: {
    a: { type: "string" },
    b: { type: "string", optional: true },
    c: { type: "string", default: "default" },
  },
  run() { this.$emit({ a: this.a, b: this.b, c: this.c }); },
};
"#;
    let source = node
        .deploy(code, json!({"a": "1", "b": "1", "c": "1"}))
        .await;
    let body = json!({"configured_props": {"b": "2", "c": null}});
    let updated = node.put(&source.path(), body).await.is(200).data();
    assert_eq!(
        (
            &updated["configured_props"]["a"],
            &updated["configured_props"]["b"]
        ),
        (&json!("1"), &json!("2"))
    );
    node.run(&source, json!({})).await;
    let expected = json!({"a": "1", "b": "2", "c": "default"});
    assert_eq!(payloads(&node.events(&source).await), [expected]);
}

#[tokio::test]
async fn new_code_may_answer_for_itself_where_the_former_did_not() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let accepted = json!({"success": true});
    assert_eq!(node.get(source.endpoint()).await.is(200).json(), accepted);
    let body = json!({"component_code": answering("2")});
    node.put(&source.path(), body).await.is(200);
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "2");
    node.put(&source.path(), json!({"component_code": INBOX}))
        .await
        .is(200);
    assert_eq!(node.get(source.endpoint()).await.is(200).json(), accepted);
}

#[tokio::test]
async fn keys_and_events_outlive_an_update() {
    let node = Node::start().await;
    let counting = |step: u32| {
        format!(
            "export default {{ name: \"Counting\", version: \"0.0.{step}\", props: {{ db: \"$.service.db\" }},\n\
             run() {{ const n = (this.db.get(\"n\") ?? 0) + {step}; this.db.set(\"n\", n); this.$emit(n); }} }};"
        )
    };
    let source = node.deploy(&counting(1), json!({})).await;
    node.run(&source, json!({})).await;
    node.put(&source.path(), json!({"component_code": counting(10)}))
        .await
        .is(200);
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), [1, 11]);
}

#[tokio::test]
async fn requests_during_updates_are_neither_refused_nor_lost_nor_doubled() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    let updates = async {
        for step in 2..6 {
            let code = INBOX.replace("0.0.1", &format!("0.0.{step}"));
            node.put(&source.path(), json!({"component_code": code}))
                .await
                .is(200);
        }
    };
    let mut updates = std::pin::pin!(updates);
    let mut sent = 0;
    // Requests one after another, for as long as updates go on; fewer than the log keeps.
    while sent < 90 {
        let path = format!("{}/{sent}", source.endpoint());
        tokio::select! {
            biased;
            answer = node.get(&path) => { answer.is(200); sent += 1; }
            () = &mut updates => break,
        }
    }
    updates.await;
    let events = node
        .events_until(&source, |events| events.len() >= sent)
        .await;
    let paths: Vec<_> = events
        .iter()
        .map(|event| event["event"]["path"].as_str().unwrap().to_owned())
        .collect();
    let mut sorted = paths.clone();
    sorted.sort_unstable_by_key(|path| path[1..].parse::<usize>().unwrap());
    sorted.dedup();
    assert_eq!(sorted.len(), paths.len(), "doubled: {paths:?}");
    assert!(sorted.len() >= sent, "lost: {paths:?}");
}

#[tokio::test]
async fn what_is_not_there_cannot_be_updated() {
    let node = Node::start().await;
    node.put(
        &format!("/sources/{}", unknown("dc_")),
        json!({"active": false}),
    )
    .await
    .is(404);
    let source = node.deploy(EMITTER, json!({})).await;
    let error = node
        .put(&source.path(), json!({"active": "maybe"}))
        .await
        .is(400)
        .error();
    assert_eq!(error["param"], "active");
    node.put(&source.path(), json!({"component_id": unknown("sc_")}))
        .await
        .is(404);
}

#[tokio::test]
async fn an_empty_component_id_is_as_good_as_none() {
    let node = Node::start().await;
    let body = json!({"component_id": "", "component_code": EMITTER});
    let source = node.post("/sources", body.clone()).await.is(200).data();
    let path = format!("/sources/{}", source["id"].as_str().unwrap());
    node.put(&path, body.clone()).await.is(200);
    node.patch(&path, body).await.is(200);
    let only_empty = json!({"component_id": ""});
    let error = node.post("/sources", only_empty).await.is(400).error();
    assert_eq!(error["param"], "component_id");
}
