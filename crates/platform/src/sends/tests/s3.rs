//! `$.send.s3`, as a bucket and the run's owner see it.

use std::{io::Read as _, time::Duration};

use flate2::read::GzDecoder;
use headwater_store::{SendId, SendState, SendWay};
use serde_json::{Value, json};

use super::{
    bench::{Bench, T0, config},
    receiver::{Arrived, Receiver},
};
use crate::config::S3Config;

/// T0 lies 20 s into its minute.
const MINUTE_OVER: Duration = Duration::from_secs(40);

async fn bench(receiver: &Receiver) -> Bench {
    let mut config = config();
    config.s3 = Some(S3Config {
        endpoint: Some(receiver.url("").parse().unwrap()),
        region: "us-east-1".to_owned(),
        access_key: "key-of-the-tests".to_owned(),
        secret_key: "secret-of-the-tests".to_owned(),
    });
    Bench::with(config, "ada@example.com").await
}

async fn line(bench: &Bench, bucket: &str, prefix: &str, payload: Value) -> SendId {
    let value = json!({"bucket": bucket, "prefix": prefix, "payload": payload});
    bench.queue(SendWay::S3, value).await
}

fn lines(arrived: &Arrived) -> String {
    let mut text = String::new();
    GzDecoder::new(&arrived.body[..])
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[tokio::test]
async fn the_lines_of_a_minute_are_one_object_and_end_once_it_is_stored() {
    let receiver = Receiver::new().await;
    let bench = bench(&receiver).await;
    let mut ids = Vec::new();
    for n in 0..40 {
        ids.push(line(&bench, "logs", "in/box", json!({ "n": n })).await);
    }
    let step = bench.step().await;
    assert_eq!(step.done, 40);
    assert_eq!(
        step.next_due_ms,
        Some(T0 + MINUTE_OVER),
        "the end of the minute"
    );
    assert!(receiver.is_empty().await);
    bench.pass(MINUTE_OVER);
    bench.step().await;
    let arrived = receiver.next().await;
    assert_eq!(arrived.method, "PUT");
    let start = "/logs/in/box/2023/11/14/22/2023-11-14-22-13-20-";
    assert!(
        arrived.target.starts_with(start) && arrived.target.ends_with(".gz"),
        "{}",
        arrived.target
    );
    let expected: String = (0..40).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    assert_eq!(lines(&arrived), expected);
    assert!(
        arrived
            .header("authorization")
            .starts_with("AWS4-HMAC-SHA256 ")
    );
    for id in &ids {
        assert_eq!(
            bench.state(id).await,
            SendState::Pending,
            "it is not stored yet"
        );
    }
    let key = arrived.target.strip_prefix("/logs/").unwrap().to_owned();
    arrived.status(200);
    bench.settled().await;
    for id in &ids {
        assert_eq!(bench.state(id).await, SendState::Sent);
        let result = bench.result(id).await;
        assert_eq!(result["response"], json!({"status": 200, "key": key}));
        assert_eq!(result["attempt"], 1);
        assert!(!result.to_string().contains("of-the-tests"));
    }
    assert!(receiver.is_empty().await);
}

#[tokio::test]
async fn each_bucket_prefix_and_minute_has_its_own_object() {
    let receiver = Receiver::new().await;
    let bench = bench(&receiver).await;
    line(&bench, "logs", "a", json!(1)).await;
    line(&bench, "logs", "b", json!(2)).await;
    line(&bench, "other", "a", json!(3)).await;
    bench.pass(MINUTE_OVER);
    line(&bench, "logs", "a", json!(4)).await;
    bench.pass(Duration::from_mins(1));
    bench.step().await;
    let mut stored = Vec::new();
    for _ in 0..4 {
        let arrived = receiver.next().await;
        let place: Vec<_> = arrived.target.split('/').take(3).collect();
        let minute = &arrived.target[arrived.target.len() - 25..][..2];
        stored.push((place.join("/"), minute.to_owned(), lines(&arrived)));
        arrived.status(200);
    }
    bench.settled().await;
    stored.sort();
    let bodies: Vec<_> = stored
        .iter()
        .map(|(place, _, body)| (&**place, &**body))
        .collect();
    assert_eq!(
        bodies,
        [
            ("/logs/a", "1\n"),
            ("/logs/a", "4\n"),
            ("/logs/b", "2\n"),
            ("/other/a", "3\n")
        ],
        "{stored:?}"
    );
}

#[tokio::test]
async fn an_object_that_was_not_stored_is_stored_later_with_all_its_lines() {
    let receiver = Receiver::new().await;
    let bench = bench(&receiver).await;
    let ids = [
        line(&bench, "logs", "", json!("one")).await,
        line(&bench, "logs", "", json!("two")).await,
    ];
    bench.pass(MINUTE_OVER);
    bench.step().await;
    let first = receiver.next().await;
    let key = first.target.clone();
    first.status(503);
    bench.settled().await;
    for id in &ids {
        assert_eq!(bench.state(id).await, SendState::Pending);
    }
    // They stay together.
    bench.pass(Duration::from_millis(bench.wait_ms(&ids[0]).await));
    bench.step().await;
    let again = receiver.next().await;
    assert_eq!(again.target, key, "it would replace itself");
    assert_eq!(lines(&again), "\"one\"\n\"two\"\n");
    again.status(200);
    bench.settled().await;
    for id in &ids {
        assert_eq!(bench.state(id).await, SendState::Sent);
    }
}

#[tokio::test]
async fn a_bucket_that_is_not_there_ends_its_sends_with_what_s3_said() {
    let receiver = Receiver::new().await;
    let bench = bench(&receiver).await;
    let id = line(&bench, "nowhere", "", json!(1)).await;
    bench.pass(MINUTE_OVER);
    bench.step().await;
    let xml =
        "<Error><Code>NoSuchBucket</Code><Message>The bucket does not exist</Message></Error>";
    receiver.next().await.answer(404, &[], xml);
    bench.settled().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    let error = bench.result(&id).await["error"].to_string();
    assert!(
        error.contains("`nowhere` (NoSuchBucket: The bucket does not exist)"),
        "{error}"
    );
}

#[tokio::test]
async fn what_no_object_can_be_and_a_node_without_s3_end_a_send_at_once() {
    let receiver = Receiver::new().await;
    let with = bench(&receiver).await;
    let id = line(&with, "../other", "", json!(1)).await;
    with.step().await;
    assert_eq!(with.state(&id).await, SendState::Failed);
    assert!(
        with.result(&id).await["error"]
            .to_string()
            .contains("$.send.s3: bucket")
    );
    let without = Bench::new().await;
    let id = line(&without, "logs", "", json!(1)).await;
    without.step().await;
    assert_eq!(without.state(&id).await, SendState::Failed);
    let error = without.result(&id).await["error"].to_string();
    assert!(
        error.contains("--s3-access-key") && error.contains("--s3-secret-key"),
        "{error}"
    );
}
