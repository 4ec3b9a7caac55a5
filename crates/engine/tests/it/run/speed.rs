//! The speed of runs: measured, printed, and judged by nobody here.

use std::time::{Duration, Instant};

use headwater_engine::{Entry, Invocation, RunMessage};
use serde_json::{Map, json, value::RawValue};
use tokio::sync::mpsc;

use crate::harness::{Node, Source};

const IN_FLIGHT: u64 = 32;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run it alone, in release"]
async fn warm_invocations_per_second() {
    let node = Node::start().await;
    let source = Source::named("steer");
    let (sink, mut messages) = mpsc::unbounded_channel();
    let invoke = async |run| {
        let event = RawValue::from_string(json!({"deed": "echo", "value": {"a": run}}).to_string())
            .unwrap();
        let invocation = Invocation {
            run,
            entry: Entry::Run,
            event: event.into(),
            props: Map::new(),
            wall: None,
        };
        node.engine
            .invoke(&source.spec, invocation, sink.clone())
            .await
            .unwrap();
    };
    for run in 0..IN_FLIGHT {
        invoke(run).await;
    }
    let (warm_up, measured) = (Duration::from_secs(2), Duration::from_secs(5));
    let mut started = Instant::now();
    let (mut ended, mut is_warm, mut next) = (0_u64, false, IN_FLIGHT);
    while started.elapsed() < measured {
        if !is_warm && started.elapsed() > warm_up {
            (started, ended, is_warm) = (Instant::now(), 0, true);
        }
        if let Some((_, RunMessage::Outcome(_))) = messages.recv().await {
            ended += 1;
            invoke(next).await;
            next += 1;
        }
    }
    println!(
        "{:.0} invocations/s",
        ended as f64 / started.elapsed().as_secs_f64()
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run it alone, in release"]
async fn first_run_of_an_evicted_source() {
    let node = Node::start().await;
    let source = Source::named("steer");
    let mut times = Vec::new();
    for _ in 0..30 {
        node.until(|status| status.warm_workers == 1).await;
        let started = Instant::now();
        node.run(&source, json!({"deed": "echo", "value": 1})).await;
        times.push(started.elapsed());
        node.engine.evict(&source.spec.owner).await;
    }
    times.sort();
    println!(
        "first run: p50 {:?}, max {:?}",
        times[times.len() / 2],
        times[times.len() - 1]
    );
}
