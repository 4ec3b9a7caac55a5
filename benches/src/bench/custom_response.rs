//! A warm `customResponse` against `Deno.serve` doing the same JSON work.

use anyhow::Result;

use crate::{
    load::Load,
    node::Node,
    process::{Process, deno_script},
    report::{Budget, Line, Report},
    rounds::{Side, compare},
    wire,
};

const COMPONENT: &str = r#"export default {
  name: "Answers", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run(event) {
    const { name, n } = event.body;
    this.http.respond({ status: 200, headers: { "content-type": "application/json" }, body: { hello: name, n: n + 1 } });
  },
};"#;
const BODY: &str = r#"{"name":"world","n":41}"#;

pub(super) async fn run(report: &mut Report) -> Result<()> {
    let mut node = Node::start(&[]).await?;
    let component = node.api.save(COMPONENT).await?;
    let source = node.api.deploy(&component).await?;
    let (deno, deno_address) = Process::start(&mut deno_script("bare_deno.ts")?).await?;
    let load = |address, path: &str, connections| Load {
        address,
        request: wire::request("POST", address, path, "", BODY),
        connections,
    };
    for connections in [32, 1] {
        let ours = Side {
            process: node.process(),
            load: load(node.address(), &source.path, connections),
        };
        let bare = Side {
            process: &deno,
            load: load(deno_address, &source.path, connections),
        };
        let compared = compare(&ours, &bare).await?;
        if connections > 1 {
            let budget = Budget::AtLeast(25.0, "25 %");
            report.compare(
                "customResponse, 32 connections, Deno.serve",
                &compared,
                budget,
            );
            continue;
        }
        let added = (compared.ours.p50 - compared.bare.p50) / 1e3;
        report.add(Line {
            what: "customResponse, 1 connection: added p50".to_owned(),
            ours: format!("p50 {:.3} ms", compared.ours.p50 / 1e3),
            bare: format!("p50 {:.3} ms", compared.bare.p50 / 1e3),
            figure: added,
            shown: format!("{added:.3} ms"),
            budget: Budget::AtMost(0.5, "0.5 ms"),
        });
    }
    Ok(())
}
