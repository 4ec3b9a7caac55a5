//! `GET /sources/{id}/runs`.

use headwater_integration::{Node, Source};
use serde_json::{Value, json};

use crate::code::unknown;

/// Emits `n` under its own id, and throws if it is to.
const POLLER: &str = r#"
export default {
  name: "Poller",
  version: "0.0.1",
  dedupe: "unique",
  hooks: { async activate() {} },
  run({ n, fails }) {
    this.$emit({ n }, { id: n });
    if (fails) throw new TypeError("the app is away\nsince yesterday");
  },
};
"#;

async fn listed(node: &Node, source: &Source, query: &str) -> Value {
    let path = format!("{}/runs{query}", source.path());
    node.get(&path).await.is(200).json()
}

fn ids(page: &Value) -> Vec<Value> {
    let runs = page["data"].as_array().unwrap().iter();
    runs.map(|run| run["id"].clone()).collect()
}

#[tokio::test]
async fn runs_are_listed_newest_first_with_their_end_and_cause() {
    let node = Node::start().await;
    let source = node.deploy(POLLER, json!({})).await;
    let good = node.run(&source, json!({"n": 1})).await;
    let silent = node.run(&source, json!({"n": 1})).await;
    let bad = node.run(&source, json!({"n": 2, "fails": true})).await;
    let page = listed(&node, &source, "").await;
    assert_eq!(page["page_info"]["total_count"], 4);
    let runs = page["data"].as_array().unwrap();
    let [newest, second, third, hook] = &runs[..] else {
        panic!("{page}");
    };
    for (run, report) in [(newest, &bad), (second, &silent), (third, &good)] {
        assert_eq!(run["id"], report["invocation_id"]);
        assert_eq!(run["trigger"], "manual");
        assert_eq!(run["source_id"], source.id);
        assert_eq!(run["component_id"], source.record["component_id"]);
        let time = |field: &str| run[field].as_u64().unwrap();
        assert!(time("queued_at_ms") <= time("started_at_ms"), "{run}");
        let took_ms = time("ended_at_ms") - time("started_at_ms");
        assert_eq!(time("duration_ms"), took_ms, "{run}");
    }
    for (run, outcome, emitted, dropped) in [
        (newest, "threw", 1, 0),
        (second, "returned", 0, 1),
        (third, "returned", 1, 0),
        (hook, "returned", 0, 0),
    ] {
        assert_eq!(run["outcome"], outcome, "{run}");
        assert_eq!(
            (&run["emitted"], &run["dropped"]),
            (&json!(emitted), &json!(dropped))
        );
    }
    assert_eq!(newest["error"], "TypeError: the app is away");
    assert!(third.get("error").is_none(), "{third}");
    assert_eq!(hook["trigger"], "activate");
}

#[tokio::test]
async fn runs_are_filtered_by_outcome_trigger_and_start_and_paged() {
    let node = Node::start().await;
    let source = node.deploy(POLLER, json!({})).await;
    for n in 0..4 {
        node.run(&source, json!({"n": n, "fails": n % 2 == 1}))
            .await;
    }
    let all = listed(&node, &source, "").await;
    let runs = ids(&all);
    for (query, expected) in [
        ("?outcome=failed", vec![&runs[0], &runs[2]]),
        ("?outcome=threw", vec![&runs[0], &runs[2]]),
        ("?outcome=succeeded", vec![&runs[1], &runs[3], &runs[4]]),
        ("?outcome=lost", vec![]),
        ("?trigger=activate", vec![&runs[4]]),
        ("?trigger=manual&outcome=returned", vec![&runs[1], &runs[3]]),
        ("?since=2100-01-01T00:00:00Z", vec![]),
        ("?since=2026-01-01&limit=2", vec![&runs[0], &runs[1]]),
    ] {
        let page = listed(&node, &source, query).await;
        assert_eq!(ids(&page).iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let started_ms = &all["data"][1]["started_at_ms"];
    let since = listed(&node, &source, &format!("?since={started_ms}")).await;
    assert!(ids(&since).starts_with(&runs[..2]), "{since}");

    let page = listed(&node, &source, "?outcome=succeeded&limit=2").await;
    assert_eq!(page["page_info"]["total_count"], 3);
    let cursor = page["page_info"]["end_cursor"].as_str().unwrap();
    let next = listed(
        &node,
        &source,
        &format!("?outcome=succeeded&after={cursor}"),
    )
    .await;
    assert_eq!(ids(&next), runs[4..]);
    let cursor = next["page_info"]["start_cursor"].as_str().unwrap();
    let before = listed(
        &node,
        &source,
        &format!("?outcome=succeeded&before={cursor}"),
    )
    .await;
    assert_eq!(before["data"], page["data"]);
}

#[tokio::test]
async fn runs_are_listed_with_the_ids_that_dedupe_dropped() {
    let node = Node::start().await;
    let source = node.deploy(POLLER, json!({})).await;
    for n in [7, 7, 8, 8] {
        node.run(&source, json!({"n": n})).await;
    }
    let all = listed(&node, &source, "").await;
    let runs = ids(&all);
    assert!(all["data"][0].get("dropped_ids").is_none(), "{all}");
    let dropped = listed(&node, &source, "?dropped=true").await;
    assert_eq!(ids(&dropped), [runs[0].clone(), runs[2].clone()]);
    assert_eq!(dropped["page_info"]["total_count"], 2);
    let shown = |place: usize| dropped["data"][place]["dropped_ids"].clone();
    assert_eq!((shown(0), shown(1)), (json!(["8"]), json!(["7"])));
    let others = listed(&node, &source, "?dropped=false").await;
    let wanted = [1, 3, 4].map(|place: usize| runs[place].clone());
    assert_eq!(ids(&others), wanted);
}

#[tokio::test]
async fn wrong_filters_are_named_with_the_values_that_are_allowed() {
    let node = Node::start().await;
    let source = node.deploy(POLLER, json!({})).await;
    for (query, param, told) in [
        ("outcome=bad", "outcome", "`memory_limit`"),
        ("trigger=hook", "trigger", "`deactivate`"),
        ("dropped=some", "dropped", "true or false"),
        ("since=yesterday", "since", "2026-01-31T12:00:00Z"),
        ("limit=0", "limit", "100"),
        ("after=x", "after", "`x`"),
    ] {
        let path = format!("{}/runs?{query}", source.path());
        let error = node.get(&path).await.is(400).error();
        assert_eq!(error["param"], param, "{query}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
    }
    let nobody = unknown("dc_");
    node.get(&format!("/sources/{nobody}/runs")).await.is(404);
}
