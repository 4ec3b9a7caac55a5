//! Ten thousand webhooks on one source, of which one hangs.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::{Value, json};

use super::deliver::subscribe;
use crate::{
    node::Node,
    receiver::Receiver,
    report::{Budget, Line, Report, mib},
};

const WEBHOOKS: usize = 10_000;
const EVENTS: usize = 5;
const FLAGS: [&str; 1] = ["--allow-private-network"];
/// Longer than anything stays in memory that has nothing to do.
const REST: Duration = Duration::from_secs(9);

const CODE: &str = r#"export default {
  name: "Emits", version: "0.0.1", props: { http: "$.interface.http" },
  run() { this.$emit({ text: "An item of the usual kind" }); },
};"#;

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    let mut receiver = Receiver::start().await?;
    let mut node = Node::start(binary, &FLAGS).await?;
    let component = node.api.save(CODE).await?;
    let source = node.api.deploy(&component).await?;
    let path = format!("/v1/sources/{}/run", source.id);
    let run = json!({ "event": Value::Null });
    node.api.call("POST", &path, &run).await?;
    tokio::time::sleep(REST).await;
    let empty = node.process().resident_bytes();
    for number in 0..WEBHOOKS {
        let path = match number {
            0 => "/hang".to_owned(),
            number => format!("/{number}"),
        };
        subscribe(&mut node.api, &source.id, &receiver.url(&path)).await?;
    }
    tokio::time::sleep(REST).await;
    let subscribed = node.process().resident_bytes();
    let (mut took, mut emitting) = (Vec::new(), Duration::ZERO);
    for _ in 0..EVENTS {
        let before = receiver.count();
        let begun = Instant::now();
        node.api.call("POST", &path, &run).await?;
        emitting = emitting.max(begun.elapsed());
        receiver.until(before + WEBHOOKS - 1).await?;
        took.push(begun.elapsed().as_secs_f64());
    }
    let busy = node.process().resident_bytes();
    let slowest = took.iter().copied().fold(0.0, f64::max);
    for (what, ours, figure, shown) in [
        (
            format!(
                "one event to {WEBHOOKS} webhooks of which one hangs, until the last of the others has it"
            ),
            format!("{:.0} deliveries/s", (WEBHOOKS - 1) as f64 / slowest),
            slowest,
            format!(
                "{slowest:.2} s at most, run reported in {:.0} ms at most",
                emitting.as_secs_f64() * 1e3
            ),
        ),
        (
            format!("memory of a node with {WEBHOOKS} webhooks and subscriptions"),
            format!("{:.1} MiB, {:.1} without", mib(subscribed), mib(empty)),
            mib(busy),
            format!("{:.1} MiB after {EVENTS} events", mib(busy)),
        ),
    ] {
        report.add(Line {
            what,
            ours,
            bare: String::new(),
            figure,
            shown,
            budget: Budget::None,
        });
    }
    Ok(())
}
