//! A warm `customResponse` against `Deno.serve` doing the same JSON work.

use anyhow::Result;

use super::deployed::Deployed;
use crate::{
    builds::Builds,
    process::{Process, deno_script},
    report::{Budget, Line, Report},
    rounds::{Side, compare},
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

pub(super) async fn run(builds: &Builds, report: &mut Report) -> Result<()> {
    let ours = Deployed::start(&builds.ours, COMPONENT).await?;
    let other = match &builds.other {
        Some(binary) => Some(Deployed::start(binary, COMPONENT).await?),
        None => None,
    };
    let (deno, deno_address) = Process::start(&mut deno_script("bare_deno.ts")?).await?;
    for connections in [32, 1] {
        let bare = Side {
            process: &deno,
            load: ours.load_at(deno_address, connections, BODY),
        };
        let other = other.as_ref().map(|other| other.side(connections, BODY));
        let compared = compare(&ours.side(connections, BODY), &bare, other.as_ref()).await?;
        if connections > 1 {
            let budget = Budget::AtLeast(40.0, "40 %");
            report.compare(
                "customResponse, 32 connections",
                "Deno.serve",
                &compared,
                budget,
            );
            continue;
        }
        let added = (compared.ours.p50 - compared.bare.p50) / 1e3;
        report.add(Line {
            what: "customResponse, 1 connection: added p50".to_owned(),
            ours: format!("p50 {:.3} ms", compared.ours.p50 / 1e3),
            bare: match &compared.other {
                None => format!("p50 {:.3} ms", compared.bare.p50 / 1e3),
                Some(other) => format!(
                    "p50 {:.3} ms, the other build {:.3} ms",
                    compared.bare.p50 / 1e3,
                    other.p50 / 1e3
                ),
            },
            figure: added,
            shown: format!("{added:.3} ms"),
            budget: Budget::AtMost(0.2, "0.2 ms"),
        });
    }
    Ok(())
}
