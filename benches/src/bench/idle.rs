//! What deployed sources cost a node that has nothing to do for them.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::{
    node::Node,
    report::{Budget, Line, Report},
};

const COMPONENT: &str = r#"export default {
  name: "Idles", version: "0.0.1",
  props: { http: "$.interface.http", timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } }, db: "$.service.db" },
  run(event) { this.$emit(event); },
};"#;
const SOURCES: usize = 10_000;
const DEPLOYERS: usize = 16;
/// Longer than runners stay.
const REST: Duration = Duration::from_secs(9);

pub(super) async fn run(report: &mut Report) -> Result<()> {
    let mut node = Node::start(&[]).await?;
    let component = node.api.save(COMPONENT).await?;
    let (node, _) = node.restart(&[]).await?;
    tokio::time::sleep(REST).await;
    let empty = node.process().resident_bytes();
    let deployed_in = deploy_all(&node, &component).await?;
    tokio::time::sleep(REST).await;
    let deployed = node.process().resident_bytes();
    let (node, ready_in) = node.restart(&[]).await?;
    tokio::time::sleep(REST).await;
    let restarted = node.process().resident_bytes();
    add(report, "after their deployment", (empty, deployed), Budget::None);
    add(report, "after a restart", (empty, restarted), Budget::AtMost(4.0, "4 KiB"));
    let rate = SOURCES as f64 / deployed_in.as_secs_f64();
    for (what, shown) in [
        (format!("deployments of a saved component, {DEPLOYERS} at a time"), format!("{rate:.0}/s")),
        (format!("start of a node with {SOURCES} sources to ready"), format!("{:.2} s", ready_in.as_secs_f64())),
    ] {
        let (ours, bare) = (String::new(), String::new());
        report.add(Line { what, ours, bare, figure: 0.0, shown, budget: Budget::None });
    }
    Ok(())
}

fn add(report: &mut Report, when: &str, (empty, full): (u64, u64), budget: Budget) {
    let mib = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    let each = full.saturating_sub(empty) as f64 / 1024.0 / SOURCES as f64;
    report.add(Line {
        what: format!("memory per idle source, {SOURCES}, {when}"),
        ours: format!("{:.1} MiB", mib(full)),
        bare: format!("{:.1} MiB without", mib(empty)),
        figure: each,
        shown: format!("{each:.2} KiB"),
        budget,
    });
}

async fn deploy_all(node: &Node, component: &str) -> Result<Duration> {
    let begun = Instant::now();
    let mut deployers = tokio::task::JoinSet::new();
    for _ in 0..DEPLOYERS {
        let (mut api, component) = (node.connect().await?, component.to_owned());
        deployers.spawn(async move {
            for _ in 0..SOURCES / DEPLOYERS {
                api.deploy(&component).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(joined) = deployers.join_next().await {
        joined??;
    }
    Ok(begun.elapsed())
}
