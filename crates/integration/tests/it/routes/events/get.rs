//! `GET /events`.

use headwater_integration::{Client, Node, Source};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

async fn emit(node: &Node, source: &Source, events: Value) {
    node.run(source, json!({"emits": events})).await;
}

async fn searched(client: &Client, query: &str) -> Value {
    client.get(&format!("/events?{query}")).await.is(200).json()
}

/// The data of the events of a part.
fn data(part: &Value) -> Vec<Value> {
    let events = part["data"].as_array().unwrap().iter();
    events.map(|event| event["event"].clone()).collect()
}

#[tokio::test]
async fn events_of_all_sources_are_listed_newest_first_in_parts() {
    let node = Node::start().await;
    let empty = searched(&node, "").await;
    let none = json!({
        "page_info": {"count": 0, "end_cursor": null}, "data": [],
        "searched": {"scanned": 0, "kept_at_most": 0},
    });
    assert_eq!(empty, none);
    let first = node.deploy(EMITTER, json!({})).await;
    let second = node.deploy(EMITTER, json!({})).await;
    emit(
        &node,
        &first,
        json!([[1], [2, {"name": "orders", "summary": "two"}]]),
    )
    .await;
    emit(&node, &second, json!([[3]])).await;
    emit(&node, &first, json!([[4]])).await;
    let all = searched(&node, "").await;
    assert_eq!(data(&all), [4, 3, 2, 1]);
    assert_eq!(all["searched"], json!({"scanned": 4, "kept_at_most": 4}));
    assert_eq!(all["page_info"], json!({"count": 4, "end_cursor": null}));
    let two = &all["data"][2];
    assert_eq!(two["metadata"]["emitter_id"], first.id);
    assert_eq!(two["metadata"]["name"], "orders");
    assert_eq!(two["metadata"]["summary"], "two");
    let path = format!("{}/event_summaries", first.path());
    let of_first = node.get(&path).await.is(200).items();
    assert_eq!(of_first[1], *two, "as a source lists it");

    let part = searched(&node, "limit=3").await;
    assert_eq!(data(&part), [4, 3, 2]);
    let cursor = part["page_info"]["end_cursor"].as_str().unwrap();
    let rest = searched(&node, &format!("after={cursor}")).await;
    assert_eq!(data(&rest), [1]);
    assert_eq!(rest["page_info"]["end_cursor"], Value::Null);
    let some = searched(&node, "include=event").await;
    assert_eq!(some["data"][0], json!({"event": 4}));
}

#[tokio::test]
async fn words_and_paths_find_events_by_their_content() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let order = json!({"order": {"id": 17, "tags": ["new", "paid"]}, "to": "Ärger & Co"});
    let other = json!({"order": {"id": 18, "tags": []}, "to": "Ada"});
    let summary = json!({"summary": "Order 18"});
    emit(&node, &source, json!([[order], [other, summary]])).await;
    for (query, expected) in [
        ("q=order", vec![&other, &order]),
        ("q=%C3%A4RGER+co", vec![&order]),
        ("q=order+18", vec![&other]),
        ("q=unpaid", vec![]),
        ("path=order.id%3D17", vec![&order]),
        ("path=order.tags%5B1%5D%3Dpaid", vec![&order]),
        ("path=order.id%3D17&path=to%3DAda", vec![]),
        ("path=order.id%3D18&path=to%3DAda", vec![&other]),
        ("path=order.id=18&q=ada", vec![&other]),
    ] {
        let part = searched(&node, query).await;
        assert_eq!(data(&part).iter().collect::<Vec<_>>(), expected, "{query}");
        assert_eq!(part["searched"]["scanned"], 2, "{query}");
    }
}

#[tokio::test]
async fn a_search_is_of_the_emitter_channel_and_time_that_are_given() {
    let node = Node::start().await;
    let first = node.deploy(EMITTER, json!({})).await;
    let second = node.deploy(EMITTER, json!({})).await;
    emit(&node, &first, json!([[1], [2, {"name": "orders"}]])).await;
    emit(&node, &second, json!([[3]])).await;
    let all = searched(&node, "").await;
    let time_ms = |place: usize| all["data"][place]["indexed_at_ms"].as_u64().unwrap();
    let of_second = format!("source_id={}", second.id);
    let (newest_ms, oldest_ms) = (time_ms(0), time_ms(2));
    for (query, expected) in [
        (of_second, vec![3]),
        ("channel=orders".to_owned(), vec![2]),
        ("channel=".to_owned(), vec![3, 1]),
        ("channel=%24errors".to_owned(), vec![]),
        (format!("since={}", newest_ms + 1), vec![]),
        (format!("until={}", oldest_ms - 1), vec![]),
        (
            format!("since={oldest_ms}&until={newest_ms}"),
            vec![3, 2, 1],
        ),
        (
            "since=2000-01-01&until=2100-01-01".to_owned(),
            vec![3, 2, 1],
        ),
    ] {
        let part = searched(&node, &query).await;
        assert_eq!(data(&part), expected, "{query}");
    }
}

#[tokio::test]
async fn nobody_finds_events_of_others() {
    let node = Node::start().await;
    let team = json!({"orgname": "team"});
    let team = node.post("/workspaces", team).await.is(200).data();
    let team = team["id"].as_str().unwrap();
    let body = json!({"component_code": EMITTER, "workspace_id": team});
    let source = Source::new(node.post("/sources", body).await.is(200).data());
    emit(&node, &source, json!([["secret"]])).await;
    let of_team = format!("workspace_id={team}");
    assert_eq!(data(&searched(&node, &of_team).await), ["secret"]);
    let stranger = node.user("stranger").await;
    let own = searched(&stranger, "q=secret").await;
    assert_eq!(own["searched"], json!({"scanned": 0, "kept_at_most": 0}));
    stranger.get(&format!("/events?{of_team}")).await.is(403);
    for id in [source.id.as_str(), &unknown("dc_")] {
        let path = format!("/events?source_id={id}");
        stranger.get(&path).await.is(404);
    }
    let path = format!("/events?workflow_id={}", unknown("p_"));
    node.get(&path).await.is(404);
}

#[tokio::test]
async fn a_wrong_search_is_told() {
    let node = Node::start().await;
    let (source, workflow) = (unknown("dc_"), unknown("p_"));
    let both = format!("source_id={source}&workflow_id={workflow}");
    for (query, param, told) in [
        ("path=order", "path", "user.tags[0]=new"),
        ("path=a%5Bx%5D%3D1", "path", "followed by a number"),
        ("since=yesterday", "since", "2026-01-31T12:00:00Z"),
        ("source_id=x", "source_id", "dc_"),
        ("after=17-3", "after", "17-3"),
        (
            "before=17-3%40dc_0DkqLtSyJ4yOMpWg5tVxNq",
            "before",
            "`after`",
        ),
        ("limit=0", "limit", "100"),
        (&both, "workflow_id", "not both"),
    ] {
        let error = node.get(&format!("/events?{query}")).await.is(400).error();
        assert_eq!(error["param"], param, "{query}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(told), "{query}: {message}");
    }
}
