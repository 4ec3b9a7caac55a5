//! `GET /workflows/{id}/runs`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::workflows::{Folder, HTTP, until, waiting};

/// Ends, waits or throws, as its event says.
const OBEDIENT: &str = "const { event } = steps.trigger; if (event === 'wait') $.flow.suspend(); \
                        if (event === 'throw') throw new Error('told to');";

fn ids(runs: &[Value]) -> Vec<String> {
    let ids = runs.iter().map(|run| run["id"].as_str().unwrap());
    ids.map(|id| format!("/runs/{id}")).collect()
}

#[tokio::test]
async fn runs_are_listed_by_their_status() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("obey", OBEDIENT)])
        .deployed(&node)
        .await;
    let succeeded = workflow.start(&node, json!("end")).await;
    until(&node, &succeeded, "succeeded").await;
    let failed = workflow.start(&node, json!("throw")).await;
    until(&node, &failed, "failed").await;
    let cancelled = workflow.start(&node, json!("wait")).await;
    waiting(&node, &cancelled).await;
    node.post(&format!("{cancelled}/cancel"), json!({}))
        .await
        .is(204);
    until(&node, &cancelled, "cancelled").await;
    let open = workflow.start(&node, json!("wait")).await;
    waiting(&node, &open).await;

    let path = format!("/workflows/{}/runs", workflow.id());
    for (query, expected) in [
        ("", vec![&cancelled, &failed, &succeeded]),
        ("?open=false", vec![&cancelled, &failed, &succeeded]),
        ("?status=succeeded", vec![&succeeded]),
        ("?status=failed", vec![&failed]),
        ("?status=error", vec![&failed]),
        ("?status=paused", vec![&open]),
        ("?status=cancelled", vec![&cancelled]),
        ("?open=true", vec![&open]),
        ("?status=waiting", vec![&open]),
        ("?status=queued", vec![]),
        ("?status=running", vec![]),
    ] {
        let listed = node.get(&format!("{path}{query}")).await.is(200).items();
        assert_eq!(
            ids(&listed),
            expected.into_iter().cloned().collect::<Vec<_>>(),
            "{query}"
        );
    }
    let listed = node
        .get(&format!("{path}?status=failed"))
        .await
        .is(200)
        .items();
    assert_eq!(listed[0]["error"], "Error: told to");
    let listed = node.get(&format!("{path}?open=true")).await.is(200).items();
    assert_eq!(listed[0]["status"], "waiting");
    assert!(listed[0].get("ended_at_ms").is_none(), "{}", listed[0]);
}

#[tokio::test]
async fn a_page_with_a_status_is_followed_by_the_next() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("obey", OBEDIENT)])
        .deployed(&node)
        .await;
    let mut expected = Vec::new();
    for number in 0..3 {
        let failed = workflow.start(&node, json!("throw")).await;
        until(&node, &failed, "failed").await;
        expected.insert(0, failed);
        let cancelled = workflow.start(&node, json!("wait")).await;
        waiting(&node, &cancelled).await;
        node.post(&format!("{cancelled}/cancel"), json!({}))
            .await
            .is(204);
        let cancelled = until(&node, &cancelled, "cancelled").await;
        assert!(cancelled["ended_at_ms"].is_u64(), "{number}: {cancelled:#}");
    }
    let path = format!("/workflows/{}/runs?status=failed", workflow.id());
    let first = node.get(&format!("{path}&limit=2")).await.is(200);
    assert_eq!(ids(&first.items()), expected[..2]);
    let after = first.json()["page_info"]["end_cursor"].clone();
    let second = format!("{path}&limit=2&after={}", after.as_str().unwrap());
    let second = node.get(&second).await.is(200);
    assert_eq!(ids(&second.items()), expected[2..]);
    let before = second.json()["page_info"]["start_cursor"].clone();
    let before = format!("{path}&limit=1&before={}", before.as_str().unwrap());
    assert_eq!(
        ids(&node.get(&before).await.is(200).items()),
        expected[1..2]
    );
}

#[tokio::test]
async fn a_wrong_status_names_those_that_are() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, &[("obey", OBEDIENT)])
        .deployed(&node)
        .await;
    let path = format!("/workflows/{}/runs?status=paused", workflow.id());
    let error = node.get(&path).await.is(400).error();
    assert_eq!(error["param"], "status");
    assert!(
        error["message"].as_str().unwrap().contains("`waiting`"),
        "{error}"
    );
}
