//! `GET /runs/hours`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::routes::runs::get::TOLD;

const HOUR_MS: u64 = 60 * 60 * 1_000;

fn sums(hours: &Value) -> (u64, u64) {
    let hours = hours.as_array().unwrap();
    assert_eq!(hours.len(), 24);
    let starts = hours.iter().map(|hour| hour["since_ms"].as_u64().unwrap());
    let starts: Vec<u64> = starts.collect();
    assert!(
        starts.windows(2).all(|two| two[1] - two[0] == HOUR_MS),
        "{starts:?}"
    );
    assert_eq!(starts[0] % HOUR_MS, 0);
    let sum = |field| hours.iter().map(|hour| hour[field].as_u64().unwrap()).sum();
    (sum("succeeded"), sum("failed"))
}

#[tokio::test]
async fn runs_count_in_their_hour_though_their_records_are_gone() {
    let node = Node::builder()
        .flag("--retained-runs=1")
        .flag("--retained-failed-runs=1")
        .start()
        .await;
    let source = node.deploy(TOLD, json!({})).await;
    for throws in [Value::Null, Value::Null, json!("a"), json!("b"), json!("c")] {
        node.run(&source, json!({ "throws": throws })).await;
    }
    let hours = node.get("/runs/hours").await.is(200).data();
    assert_eq!(sums(&hours), (2, 3));
    node.delete(&source.path()).await.is(204);
    let hours = node.get("/runs/hours").await.is(200).data();
    assert_eq!(
        sums(&hours),
        (2, 3),
        "the source is gone, its runs were there"
    );
    let bob = node.user("bob").await;
    let hours = bob.get("/runs/hours").await.is(200).data();
    assert_eq!(sums(&hours), (0, 0));
}
