//! The bound of attempts in flight.

use headwater_store::{SENDS_PER_LANE, SendWay};
use serde_json::json;

use super::{
    bench::{Bench, PATIENCE},
    receiver::Receiver,
};
use crate::chore::Chore;

#[tokio::test]
async fn no_more_than_32_attempts_are_in_flight_and_the_end_of_one_lets_the_next_begin() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    for number in 0..40 {
        let url = receiver.url(&format!("/{}", number % 5));
        bench.queue(SendWay::Http, json!({ "url": url })).await;
    }
    let step = bench.step().await;
    assert_eq!((step.done, step.more, step.next_due_ms), (32, false, None));
    let mut waiting = Vec::new();
    for _ in 0..32 {
        waiting.push(receiver.next().await);
    }
    assert_eq!(bench.step().await.done, 0);
    let nudged = bench.core.nudges.nudged(Chore::Sends);
    waiting.remove(0).status(200);
    let nudged = tokio::time::timeout(PATIENCE, nudged).await;
    nudged.expect("the end of an attempt nudges");
    assert_eq!(bench.step().await.done, 1);
    waiting.push(receiver.next().await);
    for _ in 33..40 {
        waiting.remove(0).status(200);
        tokio::time::timeout(PATIENCE, bench.core.nudges.nudged(Chore::Sends))
            .await
            .unwrap();
        bench.step().await;
        waiting.push(receiver.next().await);
    }
    waiting.into_iter().for_each(|each| each.status(200));
    bench.settled().await;
    let last = bench.step().await;
    assert_eq!((last.done, last.next_due_ms), (0, None));
    assert!(receiver.is_empty().await);
}

#[tokio::test]
async fn the_next_send_that_waits_is_told() {
    let (bench, receiver) = (Bench::new().await, Receiver::new().await);
    bench
        .queue(SendWay::Http, json!({"url": receiver.url("/")}))
        .await;
    bench.step().await;
    receiver.next().await.status(500);
    bench.settled().await;
    let due_ms = bench.core.store.next_send_due().await.unwrap();
    assert!(due_ms > Some(bench.core.env.now_ms()));
    assert_eq!(bench.step().await.next_due_ms, due_ms);
}

#[tokio::test]
async fn a_host_that_hangs_does_not_hold_up_the_others() {
    let (bench, hanging, other) = (
        Bench::new().await,
        Receiver::new().await,
        Receiver::new().await,
    );
    let most = SENDS_PER_LANE as usize;
    for _ in 0..=most {
        let url = hanging.url("/");
        bench.queue(SendWay::Http, json!({ "url": url })).await;
    }
    let url = other.url("/");
    bench.queue(SendWay::Http, json!({ "url": url })).await;
    assert_eq!(bench.step().await.done, most as u64 + 1);
    other.next().await.status(200);
    let mut waiting = Vec::new();
    for _ in 0..most {
        waiting.push(hanging.next().await);
    }
    assert_eq!(bench.step().await.done, 0, "its others wait");
    waiting.remove(0).status(200);
    // The end of an attempt at the other host may have nudged as well.
    let next = async {
        loop {
            let nudged = bench.core.nudges.nudged(Chore::Sends);
            match bench.step().await.done {
                0 => nudged.await,
                done => return done,
            }
        }
    };
    let begun = tokio::time::timeout(PATIENCE, next).await;
    assert_eq!(
        begun.expect("the end of an attempt at a full host nudges"),
        1
    );
    waiting.push(hanging.next().await);
    waiting.into_iter().for_each(|each| each.status(200));
    bench.settled().await;
}
