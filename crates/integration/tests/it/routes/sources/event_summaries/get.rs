//! `GET /sources/{id}/event_summaries`.

use headwater_integration::{Node, Source, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, unknown};

/// A source that has emitted `{"n": 0}` to `{"n": count - 1}`.
async fn emitted(node: &Node, count: usize) -> Source {
    let source = node.deploy(EMITTER, json!({})).await;
    let emits: Vec<_> = (0..count).map(|n| json!([{"n": n}, {}])).collect();
    node.run(&source, json!({"emits": emits})).await;
    source
}

fn numbers(items: &[Value]) -> Vec<u64> {
    payloads(items)
        .iter()
        .map(|event| event["n"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn a_summary_has_the_shape_of_the_design() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let options = json!({"id": 7, "name": "news", "summary": "Seven", "ts": 1_700_000_000_000_u64});
    let emits = json!({"emits": [[{"a": [1, null, "ü"]}, options]]});
    let report = node.run(&source, emits).await;
    let page = node
        .get(&format!("{}/event_summaries", source.path()))
        .await
        .is(200);
    let item = page.items().remove(0);
    let id = item["id"].as_str().unwrap();
    let (ms, sequence) = id.split_once('-').unwrap();
    assert_eq!(
        ms.parse::<u64>().unwrap(),
        item["indexed_at_ms"].as_u64().unwrap()
    );
    sequence.parse::<u32>().unwrap();
    let expected = json!({
        "id": id,
        "indexed_at_ms": item["indexed_at_ms"],
        "event": {"a": [1, null, "ü"]},
        "metadata": {
            "emit_id": id, "name": "news", "emitter_id": source.id,
            "summary": "Seven", "id": 7, "ts": 1_700_000_000_000_u64,
            "run_id": report["invocation_id"],
        },
    });
    assert_eq!(item, expected);
    let info = &page.json()["page_info"];
    assert_eq!(
        (&info["total_count"], &info["count"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test]
async fn a_plain_event_has_no_further_metadata() {
    let node = Node::start().await;
    let source = emitted(&node, 1).await;
    let metadata = node.events(&source).await.remove(0)["metadata"].take();
    let names: Vec<_> = metadata.as_object().unwrap().keys().collect();
    assert_eq!(names, ["emit_id", "name", "emitter_id", "run_id"]);
    assert_eq!(metadata["name"], "");
}

#[tokio::test]
async fn a_source_without_events_has_an_empty_page() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let page = node
        .get(&format!("{}/event_summaries", source.path()))
        .await
        .is(200)
        .json();
    assert_eq!(page["data"], json!([]));
    assert_eq!(
        (
            &page["page_info"]["total_count"],
            &page["page_info"]["count"]
        ),
        (&json!(0), &json!(0))
    );
}

#[tokio::test]
async fn ten_are_listed_newest_first_unless_asked_otherwise() {
    let node = Node::start().await;
    let source = emitted(&node, 12).await;
    let path = format!("{}/event_summaries", source.path());
    let page = node.get(&path).await.is(200);
    assert_eq!(numbers(&page.items()), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    assert_eq!(page.json()["page_info"]["total_count"], 12);
    assert_eq!(
        numbers(&node.get(&format!("{path}?limit=1")).await.is(200).items()),
        [11]
    );
    assert_eq!(
        node.get(&format!("{path}?limit=100"))
            .await
            .is(200)
            .items()
            .len(),
        12
    );
}

#[tokio::test]
async fn pages_lead_back_and_forth() {
    let node = Node::start().await;
    let source = emitted(&node, 5).await;
    let page = |query: String| {
        let path = format!("{}/event_summaries?limit=2{query}", source.path());
        let node = &node;
        async move { node.get(&path).await.is(200) }
    };
    let cursor = |page: &Value, name: &str| page["page_info"][name].as_str().unwrap().to_owned();
    let first = page(String::new()).await;
    let second = page(format!("&after={}", cursor(&first.json(), "end_cursor"))).await;
    let third = page(format!("&after={}", cursor(&second.json(), "end_cursor"))).await;
    assert_eq!(numbers(&first.items()), [4, 3]);
    assert_eq!(numbers(&second.items()), [2, 1]);
    assert_eq!(numbers(&third.items()), [0]);
    assert_eq!(third.json()["page_info"]["total_count"], 5);
    let back = page(format!("&before={}", cursor(&third.json(), "start_cursor"))).await;
    assert_eq!(back.items(), second.items());
    let back = page(format!("&before={}", cursor(&back.json(), "start_cursor"))).await;
    assert_eq!(back.items(), first.items());
    // The bare id is a cursor too.
    let bare = second.items()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        numbers(&page(format!("&after={bare}")).await.items()),
        [1, 0]
    );
    let past_the_end = page(format!("&after={}", cursor(&third.json(), "end_cursor"))).await;
    assert_eq!(past_the_end.items(), [Value::Null; 0]);
}

#[tokio::test]
async fn a_wrong_page_is_told_and_not_guessed() {
    let node = Node::start().await;
    let source = emitted(&node, 1).await;
    let id = node.events(&source).await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let both = format!("after={id}&before={id}");
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("after=!", "after"),
        ("after=nonsense", "after"),
        ("before=", "before"),
        (&both, "before"),
    ] {
        let answer = node
            .get(&format!("{}/event_summaries?{query}", source.path()))
            .await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        assert_eq!(answer.error()["param"], param, "{query}");
    }
}

#[tokio::test]
async fn the_last_hundred_are_kept() {
    let node = Node::start().await;
    let source = emitted(&node, 130).await;
    let events = node
        .events_until(&source, |events| events.len() <= 100)
        .await;
    assert_eq!(numbers(&events), (30..130).collect::<Vec<_>>());
}

#[tokio::test]
async fn event_name_lists_one_channel_and_the_empty_one_is_the_default() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let emits = json!([["plain", {}], ["a", {"name": "news"}], ["b", {"name": "other"}]]);
    node.run(&source, json!({"emits": emits})).await;
    for (query, expected) in [
        ("", &["b", "a", "plain"][..]),
        ("?event_name=news", &["a"]),
        ("?event_name=", &["plain"]),
        ("?event_name=nothing", &[]),
        ("?event_name=$errors", &[]),
    ] {
        let page = node
            .get(&format!("{}/event_summaries{query}", source.path()))
            .await
            .is(200);
        assert_eq!(payloads(&page.items()), expected, "{query}");
        assert_eq!(
            page.json()["page_info"]["total_count"],
            expected.len(),
            "{query}"
        );
    }
}

#[tokio::test]
async fn large_data_is_a_preview_unless_expanded() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let (large, small) = ("ü".repeat(2000), "x".repeat(900));
    node.run(
        &source,
        json!({"emits": [[{"text": large}, {}], [{"text": small}, {}]]}),
    )
    .await;
    let path = format!("{}/event_summaries", source.path());
    let items = node.get(&path).await.is(200).items();
    assert_eq!(items[0]["event"], json!({"text": small}));
    assert_eq!(items[1]["event"]["truncated"], true);
    let preview = items[1]["event"]["preview"].as_str().unwrap();
    assert!(
        preview.starts_with("{\"text\":\"üü") && preview.len() <= 1024,
        "{preview}"
    );
    let expanded = node
        .get(&format!("{path}?expand=event"))
        .await
        .is(200)
        .items();
    assert_eq!(expanded[1]["event"], json!({"text": large}));
}

#[tokio::test]
async fn dated_events_of_a_run_are_ordered_oldest_first() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let emits = json!([["third", {"ts": 3000}], ["first", {"ts": 1000}], ["second", {"ts": 2000}]]);
    node.run(&source, json!({"emits": emits})).await;
    assert_eq!(
        payloads(&node.events(&source).await),
        ["first", "second", "third"]
    );
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let node = Node::start().await;
    node.get(&format!("/sources/{}/event_summaries", unknown("dc_")))
        .await
        .is(404);
}
