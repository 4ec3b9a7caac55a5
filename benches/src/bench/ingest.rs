//! Durable ingest against the same server without storing, and what follows from it: runs.

use std::time::Instant;

use anyhow::Result;

use crate::{
    bare,
    load::{Answered, Load},
    node::{Node, Source},
    process::Process,
    report::{Budget, Line, Report},
    rounds::{Compared, Side, compare},
    statistics::median,
    wire,
};

/// Its runs begin and then wait: what is measured is taking requests in.
const WAITS: &str = r#"export default {
  name: "Waits", version: "0.0.1",
  props: { http: "$.interface.http" },
  run: () => new Promise((resolve) => setTimeout(resolve, 50_000)),
};"#;

/// Each run emits one event; the newest says how many runs there have been.
const COUNTS: &str = r#"let n = 0;
export default {
  name: "Counts", version: "0.0.1",
  props: { http: "$.interface.http" },
  run(event) { this.$emit({ n: ++n, body: event.body }, { summary: "counted" }); },
};"#;
const BODY: &str = r#"{"name":"world","n":41}"#;

pub(super) async fn run(report: &mut Report) -> Result<()> {
    let (bare, bare_address) = bare::start().await?;
    for connections in [32, 256] {
        let mut node = Node::start(&[]).await?;
        let component = node.api.save(WAITS).await?;
        let source = node.api.deploy(&component).await?;
        let pair = Pair {
            node: &node,
            source: &source,
            bare: &bare,
            bare_address,
            connections,
        };
        let compared = pair.compare(async |_| Ok(())).await?;
        let what =
            format!("durable ingest, {connections} connections, same server without storing");
        report.compare(&what, &compared, Budget::AtLeast(50.0, "50 %"));
        with_runs(report, (&bare, bare_address), connections).await?;
    }
    Ok(())
}

/// The same while every request is run, and how many runs that makes per second.
async fn with_runs(
    report: &mut Report,
    (bare, bare_address): (&Process, std::net::SocketAddr),
    connections: usize,
) -> Result<()> {
    let mut node = Node::start(&[]).await?;
    let component = node.api.save(COUNTS).await?;
    let source = node.api.deploy(&component).await?;
    let mut watcher = node.connect().await?;
    let (mut total, mut rates) = (0, Vec::new());
    let pair = Pair {
        node: &node,
        source: &source,
        bare,
        bare_address,
        connections,
    };
    let compared = pair
        .compare(async |answered: &Answered| {
            let begun = Instant::now();
            total += answered.latencies.len();
            watcher.wait_for_count(&source, total).await?;
            rates.push(
                answered.latencies.len() as f64
                    / (answered.seconds + begun.elapsed().as_secs_f64()),
            );
            Ok(())
        })
        .await?;
    let what = format!("the same, {connections} connections, runs going on");
    report.compare(&what, &compared, Budget::None);
    let rate = median(&rates);
    report.add(Line {
        what: format!("plain HTTP runs that emit once, end to end, {connections} connections"),
        ours: format!("{rate:.0} runs/s"),
        bare: String::new(),
        figure: rate,
        shown: format!("{rate:.0}/s"),
        budget: Budget::None,
    });
    Ok(())
}

struct Pair<'a> {
    node: &'a Node,
    source: &'a Source,
    bare: &'a Process,
    bare_address: std::net::SocketAddr,
    connections: usize,
}

impl Pair<'_> {
    async fn compare(&self, settle: impl AsyncFnMut(&Answered) -> Result<()>) -> Result<Compared> {
        let load = |address| Load {
            address,
            request: wire::request("POST", address, &self.source.path, "", BODY),
            connections: self.connections,
        };
        let ours = Side {
            process: self.node.process(),
            load: load(self.node.address()),
        };
        let bare = Side {
            process: self.bare,
            load: load(self.bare_address),
        };
        compare(&ours, &bare, settle).await
    }
}
