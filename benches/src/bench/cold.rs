//! The time in which somebody waits for a process: the first request to a source whose worker was evicted and whose
//! runner has left, and the saves of a component after its first.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::{
    node::Node,
    report::{Budget, Line, Report},
    statistics::{median, quantile},
    wire::{self, Connection},
};

const SOURCES: usize = 24;
const SAVES: u32 = 15;
const WARM_WORKERS: usize = 2;
/// Workers are evicted after 300 ms without a run, far sooner than an operator would want it.
const FLAGS: [&str; 4] = ["--worker-idle", "300ms", "--warm-workers", "2"];
/// Between two saves.
const LOOK: Duration = Duration::from_secs(1);
/// Longer than a runner stays.
const FORGOTTEN: Duration = Duration::from_secs(7);
/// The time that a process waits for the next component to be saved.
const RESERVE_KEPT: Duration = Duration::from_secs(60);
/// For the pool to be warm again, and quiet.
const REFILL: Duration = Duration::from_millis(500);

const SMALL: &str = r#"export default {
  name: "Small", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  run() { this.http.respond({ status: 200, body: "hello" }); },
};"#;

const USUAL: &str = r#"import { axios } from "@pipedream/platform";
export default {
  name: "Usual", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  run() { this.http.respond({ status: 200, body: typeof axios }); },
};"#;

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    for (what, code, budget) in [
        (
            "a component without imports",
            SMALL,
            Budget::AtMost(15.0, "15 ms"),
        ),
        (
            "one that imports @pipedream/platform",
            USUAL,
            Budget::AtMost(25.0, "25 ms"),
        ),
    ] {
        let mut node = Node::start(binary, &FLAGS).await?;
        let component = node.api.save(code).await?;
        let times = first_requests(&mut node, &component).await?;
        let first = format!("first request to an evicted source, {what}");
        report.add(line(first, &times, budget));
        let times = later_saves(&mut node, code).await?;
        let saved = format!("{what}, saved again with another line");
        report.add(line(saved, &times, Budget::AtMost(150.0, "150 ms")));
    }
    Ok(())
}

fn line(what: String, times: &[f64], budget: Budget) -> Line {
    let p50 = median(times);
    Line {
        what,
        ours: format!("p50 {p50:.1} p90 {:.1} ms", quantile(times, 0.9)),
        bare: String::new(),
        figure: p50,
        shown: format!("{p50:.1} ms"),
        budget,
    }
}

/// Milliseconds of each of several saves of a component that changes, by somebody who looks at it in between.
async fn later_saves(node: &mut Node, code: &str) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for number in 0..SAVES {
        tokio::time::sleep(LOOK).await;
        let begun = Instant::now();
        node.api.save(&format!("{code}\n// {number}")).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

/// Milliseconds to the first response of each of many sources.
async fn first_requests(node: &mut Node, component: &str) -> Result<Vec<f64>> {
    let mut sources = Vec::new();
    for _ in 0..SOURCES {
        sources.push(node.api.deploy(component).await?);
    }
    tokio::time::sleep(FORGOTTEN).await;
    // The wait is longer than a node waits for the first request on a connection.
    wait_for_eviction(node).await?;
    let mut connection = Connection::open(node.address()).await?;
    let mut times = Vec::new();
    // Twice: what is measured is a source that ran here before and was evicted.
    for measured in [false, true] {
        for source in &sources {
            wait_for_eviction(node).await?;
            let request = wire::request("GET", node.address(), &source.path, "", "");
            let begun = Instant::now();
            let (status, body) = connection.exchange(&request).await?;
            if status != 200 {
                bail!("answered with {status}: {}", String::from_utf8_lossy(body));
            }
            if measured {
                times.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
        if !measured {
            tokio::time::sleep(FORGOTTEN).await;
        }
    }
    Ok(times)
}

/// Until no worker but the warm ones is left, nor the process that waits for the next component to be saved.
async fn wait_for_eviction(node: &Node) -> Result<()> {
    let deadline = Instant::now() + RESERVE_KEPT + Duration::from_secs(20);
    tokio::time::sleep(REFILL).await;
    while node.workers() != WARM_WORKERS {
        if Instant::now() > deadline {
            bail!("{} workers stay, not {WARM_WORKERS}", node.workers());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(REFILL).await;
    Ok(())
}
