//! The cost of deployed sources for which a node has nothing to do.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{
    node::Node,
    report::{Budget, Line, Report, mib},
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

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    let mut node = Node::start(binary, &[]).await?;
    let component = node.api.save(COMPONENT).await?;
    let (node, _) = node.restart(&[]).await?;
    let empty = resting(&node).await;
    let took = deploy_all(&node, &component).await?;
    let first = resting(&node).await;
    deploy_all(&node, &component).await?;
    let second = resting(&node).await;
    let (node, ready_in) = node.restart(&[]).await?;
    let restarted = resting(&node).await;
    let (some, all) = (SOURCES as f64, 2.0 * SOURCES as f64);
    // The first deployments leave behind what the allocator and the store's caches keep for the next.
    add(
        report,
        format!("the first {some}"),
        Fleet {
            before: empty,
            after: first,
            sources: some,
        },
        Budget::None,
    );
    add(
        report,
        format!("{some} more"),
        Fleet {
            before: first,
            after: second,
            sources: some,
        },
        Budget::AtMost(2.0, "2 KiB"),
    );
    add(
        report,
        format!("{all}, after a restart"),
        Fleet {
            before: empty,
            after: restarted,
            sources: all,
        },
        Budget::AtMost(2.0, "2 KiB"),
    );
    let rate = some / took.as_secs_f64();
    let ready_ms = ready_in.as_secs_f64() * 1e3;
    for (what, figure, shown) in [
        (
            format!("deployments of a saved component, {DEPLOYERS} at a time"),
            rate,
            format!("{rate:.0}/s"),
        ),
        (
            format!("start of a node with {all} sources, killed before, to ready"),
            ready_ms,
            format!("{ready_ms:.0} ms"),
        ),
    ] {
        let (ours, bare) = (String::new(), String::new());
        report.add(Line {
            what,
            ours,
            bare,
            figure,
            shown,
            budget: Budget::None,
        });
    }
    Ok(())
}

/// Memory once there is nothing left to do.
async fn resting(node: &Node) -> u64 {
    tokio::time::sleep(REST).await;
    node.process().resident_bytes()
}

/// Memory of a node before and after it had so many idle sources more.
struct Fleet {
    before: u64,
    after: u64,
    sources: f64,
}

fn add(report: &mut Report, which: String, fleet: Fleet, budget: Budget) {
    let Fleet {
        before,
        after,
        sources,
    } = fleet;
    let each = after.saturating_sub(before) as f64 / 1024.0 / sources;
    report.add(Line {
        what: format!("memory per idle source: {which}"),
        ours: format!("{:.1} MiB", mib(after)),
        bare: format!("{:.1} MiB without", mib(before)),
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
