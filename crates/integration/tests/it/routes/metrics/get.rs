//! `GET /metrics`: what the node counts, for Prometheus, without a key.

use std::time::Duration;

use headwater_integration::{Method, Node};
use serde_json::json;

use crate::code::{EMITTER, INBOX};

const RUNS: &str = r#"headwater_runs_total{trigger="http",outcome="returned"}"#;
const EVENTS: &str = r#"headwater_events_total{channel="ordinary"}"#;
/// Far beyond what it takes, also on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(90);

/// The value of a metric, named as it is shown; nothing if it is not shown.
fn shown(text: &str, metric: &str) -> Option<f64> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(metric)?.strip_prefix(' '))?;
    Some(value.parse().unwrap())
}

#[tokio::test]
async fn requests_runs_and_events_are_counted() {
    let node = Node::start().await;
    let source = node.deploy(INBOX, json!({})).await;
    for _ in 0..3 {
        let request = node.request(Method::POST, source.endpoint());
        node.send(request.json(&json!({"order": 7}))).await.is(200);
    }
    node.events_until(&source, |events| events.len() == 3).await;
    // Events are counted when they are there already.
    let anybody = node.with_key(None);
    let counting = async {
        loop {
            let answer = anybody.get("//metrics").await.is(200);
            if [RUNS, EVENTS].map(|metric| shown(&answer.text, metric)) == [Some(3.0); 2] {
                return answer;
            }
        }
    };
    let counted = tokio::time::timeout(PATIENCE, counting).await;
    let answer = counted.expect("three runs and their events are counted");
    let content_type = answer.header("content-type");
    assert!(
        content_type.starts_with("application/openmetrics-text"),
        "{content_type}"
    );
    assert!(answer.text.ends_with("# EOF\n"), "{}", answer.text);
    let value = |metric| shown(&answer.text, metric);
    for (metric, count) in [
        (
            r#"headwater_http_requests_total{method="POST",route="/e/{token}",status="2xx"}"#,
            3.0,
        ),
        (
            r#"headwater_http_requests_total{method="POST",route="/v1/sources",status="2xx"}"#,
            1.0,
        ),
        (
            r#"headwater_http_request_duration_seconds_count{method="POST",route="/e/{token}"}"#,
            3.0,
        ),
        ("headwater_source_workers", 1.0),
        ("headwater_queue_invocations", 0.0),
    ] {
        assert_eq!(value(metric), Some(count), "{metric}: {}", answer.text);
    }
    let commits = value("headwater_commit_duration_seconds_count").unwrap();
    assert!(commits >= 1.0, "{}", answer.text);
}

#[tokio::test]
async fn whoever_asks_for_what_is_not_there_adds_no_metric() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.get(&source.path()).await.is(200);
    for path in ["//wp-login.php", "/sources/wp-login.php", "/wp-login.php"] {
        node.get(path).await.is(404);
    }
    let brew = Method::from_bytes(b"BREW").unwrap();
    node.send(node.request(brew, "//healthz")).await.is(405);
    let text = node.get("//metrics").await.is(200).text;
    assert!(
        !text.contains("wp-login") && !text.contains("BREW"),
        "{text}"
    );
    assert!(!text.contains(&source.id), "{text}");
    let by_id = r#"headwater_http_requests_total{method="GET",route="/v1/sources/{id}",status="#;
    assert_eq!(
        shown(&text, &format!("{by_id}\"2xx\"}}")),
        Some(1.0),
        "{text}"
    );
    assert_eq!(
        shown(&text, &format!("{by_id}\"4xx\"}}")),
        Some(1.0),
        "{text}"
    );
    let nowhere = r#"headwater_http_requests_total{method="GET",route="none",status="4xx"}"#;
    assert_eq!(shown(&text, nowhere), Some(2.0), "{text}");
}
