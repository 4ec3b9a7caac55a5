//! One event to very many webhooks: until it is durable, until a delivery is kept for each, and until each has it.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::subscribers::{FLAGS, TELLS, subscribe_all};
use crate::{
    asked::Sizes,
    node::Node,
    receiver::Receiver,
    report::{Budget, Line, Report, mib},
};

const SUBSCRIPTIONS: usize = 100_000;
const PATIENCE: Duration = Duration::from_secs(300);
/// Longer than anything stays in memory that has nothing to do.
const REST: Duration = Duration::from_secs(9);

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let count = sizes.at_most(SUBSCRIPTIONS);
    eprintln!("  {count} subscriptions to one emitter");
    let mut receiver = Receiver::start().await?;
    let mut node = Node::start(binary, &FLAGS).await?;
    let component = node.api.save(TELLS).await?;
    let source = node.api.deploy(&component).await?;
    let urls = (0..count).map(|number| receiver.url(&format!("/{number}")));
    subscribe_all(&node, &source.id, urls.collect()).await?;
    tokio::time::sleep(REST).await;
    let resting = node.process().resident_bytes();
    let begun = Instant::now();
    let path = format!("/v1/sources/{}/run", source.id);
    let run = json!({ "event": Value::Null });
    node.api.call("POST", &path, &run).await?;
    let durable = begun.elapsed();
    node.until_none("headwater_events_undispatched").await?;
    let dispatched = begun.elapsed();
    let peak = receive(&node, &mut receiver, count).await?;
    let delivered = begun.elapsed();
    for (until, took) in [
        ("durable", durable),
        ("fanned out", dispatched),
        ("delivered to all", delivered),
    ] {
        let seconds = took.as_secs_f64();
        report.add(Line {
            what: format!("one event to {count} subscriptions, until it is {until}"),
            ours: format!("{:.0} subscriptions/s", count as f64 / seconds),
            bare: String::new(),
            figure: seconds,
            shown: format!("{:.0} ms", seconds * 1e3),
            budget: Budget::None,
        });
    }
    let ratio = peak as f64 / resting.max(1) as f64;
    report.add(Line {
        what: format!("memory of a node that delivers to {count} subscriptions"),
        ours: format!("{:.0} MiB at most", mib(peak)),
        bare: format!("{:.0} MiB at rest", mib(resting)),
        figure: ratio,
        shown: format!("× {ratio:.2}"),
        budget: Budget::None,
    });
    Ok(())
}

/// The node's most memory until so many deliveries have come.
async fn receive(node: &Node, receiver: &mut Receiver, count: usize) -> Result<u64> {
    let mut peak = node.process().resident_bytes();
    while receiver.count() < count {
        let arrival = tokio::time::timeout(PATIENCE, receiver.next()).await;
        arrival.context("deliveries do not come any more")??;
        // A look costs a little; one in so many arrivals sees as much.
        if receiver.count().is_multiple_of(100) {
            peak = node.process().resident_bytes().max(peak);
        }
    }
    Ok(peak)
}
