//! A node that dies between claim and answer.

use std::{sync::Arc, time::Duration};

use headwater_store::{SendState, SendWay, Store};
use serde_json::json;

use super::{
    bench::{Bench, T0, config},
    receiver::Receiver,
};

/// Longer than a lease.
const LEASE_OVER: Duration = Duration::from_secs(61);

/// A node's life: an attempt that still goes on when the future ends dies with its runtime, as with `kill -9`.
fn life<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

#[test]
fn a_send_whose_node_died_is_sent_again_under_its_name() {
    // The receiver outlives the node.
    let outer = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let receiver = Arc::new(outer.block_on(Receiver::new()));
    let url = receiver.url("/");
    let seen = Arc::clone(&receiver);
    let (store, id, name) = life(async move {
        let bench = Bench::new().await;
        let id = bench.queue(SendWay::Http, json!({"url": url})).await;
        bench.step().await;
        let arrived = seen.next().await;
        let name = arrived.header("idempotency-key").to_owned();
        assert_eq!(bench.state(&id).await, SendState::Pending);
        let store: Arc<dyn Store> = Arc::clone(&bench.core.store);
        (store, id, name)
    });
    life(async move {
        let bench = Bench::start(store, config(), T0 + LEASE_OVER).await;
        assert_eq!(bench.step().await.done, 1);
        let arrived = receiver.next().await;
        assert_eq!(arrived.header("idempotency-key"), name);
        arrived.status(200);
        bench.settled().await;
        let record = bench.record(&id).await;
        assert_eq!((record.state, record.attempts), (SendState::Sent, 2));
    });
    drop(outer);
}
