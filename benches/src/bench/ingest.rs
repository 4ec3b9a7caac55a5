//! Durable ingest against the same server without storing: taking requests in, while nothing runs.

use anyhow::Result;

use crate::{
    bare,
    load::Load,
    node::{Node, Source},
    process::Process,
    report::{Budget, Report},
    rounds::{Compared, Side, compare},
    wire,
};

/// Its runs begin and then wait: what is measured is taking requests in.
const WAITS: &str = r#"export default {
  name: "Waits", version: "0.0.1",
  props: { http: "$.interface.http" },
  run: () => new Promise((resolve) => setTimeout(resolve, 50_000)),
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
        let compared = pair.compare().await?;
        let what =
            format!("durable ingest, {connections} connections, same server without storing");
        report.compare(&what, &compared, Budget::AtLeast(50.0, "50 %"));
    }
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
    async fn compare(&self) -> Result<Compared> {
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
        compare(&ours, &bare).await
    }
}
