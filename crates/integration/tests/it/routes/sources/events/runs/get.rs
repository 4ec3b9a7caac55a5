//! `GET /sources/{id}/events/{event_id}/runs`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::{
    code::{EMITTER, unknown},
    ui::Visitor,
};

const FAILING: &str = r#"
export default {
  name: "Failing",
  version: "0.0.1",
  run(event) {
    throw new Error(`no ${event}`);
  },
};
"#;

#[tokio::test]
async fn an_event_leads_to_the_runs_of_its_listeners_and_they_lead_back() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let mut listeners = Vec::new();
    for _ in 0..2 {
        let listener = node.deploy(FAILING, json!({})).await;
        node.subscribe(&source.id, &listener.id, "").await;
        listeners.push(listener.id);
    }
    node.run(&source, json!({"emits": [["tea", {}], ["milk", {}]]}))
        .await;
    let events = node.events(&source).await;
    let id = events[0]["id"].as_str().unwrap();
    let path = format!("{}/events/{id}/runs", source.path());
    let have_ended =
        |runs: &[Value]| runs.len() == 2 && runs.iter().all(|run| run["ended_at_ms"].is_u64());
    let runs = node.list_until(&format!("{path}?"), have_ended).await;
    for (run, listener) in runs.iter().zip(&listeners) {
        assert_eq!(run["listener_id"], **listener, "{run}");
        assert_eq!(
            (&run["status"], &run["trigger"], &run["error"]),
            (&json!("failed"), &json!("event"), &json!("no tea"))
        );
        let path = format!("/runs/{}", run["id"].as_str().unwrap());
        let run = node.get(&path).await.is(200).data();
        let cause = json!({"emitter_id": source.id, "event_id": id});
        assert_eq!(run["caused_by"], cause);
    }
    let visitor = Visitor::of(&node).await;
    let cause = format!(
        "<a href=\"{base}/events/{id}\" title=\"{id}\">event</a> of <a href=\"{base}\"><bdi>emitter</bdi></a>",
        base = source.path()
    );
    for list in [
        "/runs?status=any".to_owned(),
        format!("/sources/{}/runs", listeners[0]),
        format!("/runs/{}", runs[0]["id"].as_str().unwrap()),
    ] {
        let page = visitor.get(&list).await.is(200).text;
        assert!(page.contains(&cause), "{list}: {page}");
    }
    let page = node.get(&format!("{path}?limit=1")).await.is(200);
    assert_eq!(page.items(), runs[1..]);
    assert_eq!(page.json()["page_info"]["total_count"], 2);
}

#[tokio::test]
async fn runs_are_found_after_their_event_is_gone() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let listener = node.deploy(FAILING, json!({})).await;
    node.subscribe(&source.id, &listener.id, "").await;
    node.run(&source, json!({"emits": [["tea", {}]]})).await;
    let id = node.events(&source).await.remove(0)["id"].take();
    let path = format!("{}/events/{}/runs", source.path(), id.as_str().unwrap());
    node.list_until(&format!("{path}?"), |runs| runs.len() == 1)
        .await;
    node.delete(&format!("{}/events", source.path()))
        .await
        .is(202);
    assert_eq!(node.get(&path).await.is(200).items().len(), 1);
}

#[tokio::test]
async fn an_event_without_listeners_caused_no_run_and_an_unknown_one_is_not_found() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [["tea", {}]]})).await;
    let id = node.events(&source).await.remove(0)["id"].take();
    let path = format!("{}/events/{}/runs", source.path(), id.as_str().unwrap());
    assert_eq!(node.get(&path).await.is(200).items(), [Value::Null; 0]);
    let bob = node.user("bob").await;
    bob.get(&path).await.is(404);
    for path in [
        format!("{}/events/1-0/runs", source.path()),
        format!("/sources/{}/events/1-0/runs", unknown("dc_")),
    ] {
        node.get(&path).await.is(404);
    }
}
