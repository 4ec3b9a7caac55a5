//! The gain of group commit: durable steps per second on a real disk, alone and together.
//!
//! `cargo bench -p headwater-store-sqlite` measures; without `--bench` (as in `cargo test`) it only
//! checks that everything runs.

#![allow(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "world/source.rs"]
mod source;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use headwater_model::{id::InvocationId, origin::Origin, time::EpochMs};
use headwater_store::{NewInvocation, RunnableLease, Trigger, WorkQueue};
use headwater_store_sqlite::SqliteStore;

use crate::source::{NOW_MS, json, open, run};

const CALLERS: [u32; 3] = [1, 32, 256];
const BATCHES: [u32; 2] = [1, 100];

fn main() {
    let measures = std::env::args().any(|argument| argument == "--bench");
    let seconds = if measures { 3.0 } else { 0.01 };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let rows = runtime.block_on(measure(Duration::from_secs_f64(seconds)));
    println!("{:<32}{:>12}{:>10}", "durable, per second", "rate", "ratio");
    for (name, rate, ratio) in rows {
        println!("{name:<32}{rate:>12.0}{ratio:>9.1}x");
    }
}

async fn measure(during: Duration) -> Vec<(String, f64, f64)> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on the disk");
    let mut rows = Vec::new();
    let mut alone = None;
    for callers in CALLERS {
        let (store, lease) = open(&folder.path().join(format!("enqueue-{callers}.db"))).await;
        let rate = enqueues(&store, &lease, callers, during).await;
        let alone = *alone.get_or_insert(rate);
        rows.push((format!("enqueue, {callers} callers"), rate, rate / alone));
    }
    let mut alone = None;
    for batch in BATCHES {
        let (store, lease) = open(&folder.path().join(format!("commit-{batch}.db"))).await;
        let rate = events(&store, &lease, batch, during).await;
        let alone = *alone.get_or_insert(rate);
        rows.push((
            format!("commit_runs, batches of {batch}"),
            rate,
            rate / alone,
        ));
    }
    rows
}

/// Invocations queued per second by callers of whom each waits for the answer.
async fn enqueues(
    store: &Arc<SqliteStore>,
    lease: &RunnableLease,
    callers: u32,
    during: Duration,
) -> f64 {
    let begin = Instant::now();
    let tasks: Vec<_> = (0..callers)
        .map(|caller| {
            let (store, lease) = (Arc::clone(store), lease.clone());
            tokio::spawn(async move {
                let mut done = 0_u32;
                while begin.elapsed() < during {
                    let invocation = invocation(&lease, caller, done);
                    store.enqueue(invocation, None).await.expect("queued");
                    done += 1;
                }
                done
            })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += task.await.expect("a caller");
    }
    f64::from(done) / begin.elapsed().as_secs_f64()
}

/// Events appended per second by one caller, one event per run.
async fn events(store: &SqliteStore, lease: &RunnableLease, batch: u32, during: Duration) -> f64 {
    let begin = Instant::now();
    let mut done = 0;
    while begin.elapsed() < during {
        let commits = (0..batch).map(|_| run(lease)).collect();
        let results = store.commit_runs(commits).await;
        assert!(results.iter().all(Result::is_ok));
        done += batch;
    }
    f64::from(done) / begin.elapsed().as_secs_f64()
}

fn invocation(lease: &RunnableLease, caller: u32, number: u32) -> NewInvocation {
    let entropy = (u128::from(caller) << 96) | (u128::from(number) << 64);
    NewInvocation {
        id: InvocationId::new(NOW_MS, entropy),
        runnable: lease.runnable.clone(),
        trigger: Trigger::Http,
        via: None,
        event: json().into(),
        hops: 0,
        now_ms: NOW_MS,
        due_at_ms: EpochMs(0),
        state: None,
        origin: Origin::default(),
    }
}
