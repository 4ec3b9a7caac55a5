//! `POST /events/replay`.

use headwater_integration::{Node, Receiver};
use serde_json::{Value, json};

use crate::code::{EMITTER, INBOX};

/// Emits what it is run for.
const ECHO: &str = "export default { name: 'Echo', version: '0.0.1', run(event) { this.$emit(event, { summary: 'again' }); } }";

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

#[tokio::test]
async fn events_go_again_to_those_who_listen_now() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    node.run(&source, json!({"emits": [["one", {}], ["two", {}]]}))
        .await;
    node.deliveries_in(&webhook, "delivered", 2).await;
    // Whoever began to listen later is a listener, too; one that is paused is left out.
    let echo = node.deploy(ECHO, json!({})).await;
    node.subscribe(&source.id, &echo.id, "").await;
    let paused = node.deploy(INBOX, json!({})).await;
    node.subscribe(&source.id, &paused.id, "").await;
    node.patch(&paused.path(), json!({"active": false}))
        .await
        .is(200);
    let events = node.events(&source).await;
    let both = json!([
        {"emitter_id": source.id, "event_id": events[1]["id"]},
        {"source_id": source.id, "event_id": events[0]["id"]},
    ]);
    let listeners = json!([
        {"listener_id": echo.id, "name": "echo", "count": 2, "left_out": 0},
        {"listener_id": paused.id, "name": "inbox", "count": 0, "left_out": 2},
        {"listener_id": webhook, "name": receiver.url(), "count": 2, "left_out": 0},
    ]);
    let expected = json!({"count": 2, "unheard": 0, "gone": 0, "listeners": listeners, "others": 0, "has_more": false});
    let dry = json!({"events": both, "dry_run": true});
    let dry = node.post("/events/replay", dry).await.is(200).data();
    assert_eq!(dry, expected);
    assert_eq!(receiver.received().len(), 2, "a dry run sends nothing");
    let sent = node.post("/events/replay", json!({"events": both})).await;
    assert_eq!(sent.is(200).data(), expected);
    receiver.until(|all| all.len() == 4).await;
    let echoed = node.events_until(&echo, |all| all.len() == 2).await;
    let echoed: Vec<_> = echoed.iter().map(|event| event["event"].clone()).collect();
    assert_eq!(echoed, ["one", "two"], "oldest first");
    // Or all that a search finds.
    let filter = json!({"q": "two", "source_id": source.id});
    let found = json!({"filter": filter, "listener_id": webhook, "dry_run": true});
    let found = node.post("/events/replay", found).await.is(200).data();
    assert_eq!((&found["found"], &found["count"]), (&json!(1), &json!(1)));
    assert!(found.get("next").is_none(), "{found}");
    assert_eq!(found["listeners"].as_array().unwrap().len(), 1);
    let runs = format!("/sources/{}/events/{}/runs", source.id, id(&events[0]));
    assert_eq!(node.get(&runs).await.is(200).items().len(), 1);
    let deliveries = format!("/deliveries?webhook_id={webhook}");
    assert_eq!(node.get(&deliveries).await.is(200).items().len(), 2);

    let id = id(&events[0]);
    let dry = ["replay", "emitter", id, "--dry-run"];
    let told = node.cli(&dry).await.ok();
    assert!(told.stdout.contains("echo"), "{}", told.stdout);
    assert!(told.stderr.contains("1 would be sent"), "{}", told.stderr);
    let gone = node.cli(&["replay", "emitter", "1-0"]).await;
    assert!(gone.stderr.contains("1 not kept"), "{}", gone.stderr);
    node.events_until(&echo, |all| all.len() == 2).await;

    let unheard = json!({"emitter_id": echo.id, "event_id": node.events(&echo).await[0]["id"]});
    let dry = json!({"events": [unheard], "dry_run": true});
    let dry = node.post("/events/replay", dry).await.is(200).data();
    assert_eq!((&dry["count"], &dry["unheard"]), (&json!(0), &json!(1)));
    let unheard = unheard["event_id"].as_str().unwrap();
    let told = node.cli(&["replay", "echo", unheard, "--dry-run"]).await;
    let told = told.ok();
    assert!(
        told.stderr.contains("1 would reach nobody"),
        "{}",
        told.stderr
    );
    let page = format!("/events/selected?act=replay&id={unheard}@{}", echo.id);
    let page = crate::ui::Visitor::of(&node).await.get(&page).await;
    let page = page.is(200).text;
    assert!(page.contains("Nobody would get it"), "{page}");
    assert!(!page.contains("Send again"), "{page}");
}

#[tokio::test]
async fn a_request_is_for_a_bounded_number_of_events_that_one_may_see() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [["one", {}]]})).await;
    let event = json!({"emitter_id": source.id, "event_id": "1-0"});
    let many: Vec<_> = (0..101)
        .map(|at| json!({"emitter_id": source.id, "event_id": format!("{at}-0")}))
        .collect();
    for events in [json!([]), json!(many)] {
        let refused = node.post("/events/replay", json!({"events": events}));
        let refused = refused.await.is(400);
        assert!(refused.text.contains("1 to 100 events"), "{}", refused.text);
    }
    for (request, told) in [
        (json!({"events": [event], "filter": {}}), "not both"),
        (json!({"filter": {"path": ["x"]}}), "not a path"),
        (json!({"filter": {"after": "x"}}), "`next` of an answer"),
        (json!({"filter": {"source": source.id}}), "source"),
        (json!({"filter": {}, "dryrun": true}), "dryrun"),
    ] {
        let refused = node.post("/events/replay", request).await.is(400);
        assert!(refused.text.contains(told), "{told}: {}", refused.text);
    }
    let gone = node.post("/events/replay", json!({"events": [event]}));
    assert_eq!(gone.await.is(200).data()["gone"], 1);
    let stranger = node.user("stranger").await;
    let refused = stranger.post("/events/replay", json!({"events": [event]}));
    refused.await.is(404);
}
