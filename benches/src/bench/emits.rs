//! Events per second from `$emit` to the disk: runs that emit a thousand.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    node::Node,
    report::{Budget, Line, Report},
    statistics::median,
};

const EVENTS: usize = 1000;
const RUNS: usize = 20;
const WARM_UP_RUNS: usize = 3;

fn component(dedupe: &str) -> String {
    format!(
        r#"let n = 0;
export default {{
  name: "Emits", version: "0.0.1", {dedupe}
  props: {{ http: "$.interface.http" }},
  run() {{
    for (let i = 0; i < {EVENTS}; i++) {{
      n++;
      this.$emit({{ n, title: "An item of the usual kind", url: `https://example.com/items/${{n}}`, tags: ["a", "b"] }},
        {{ id: n, summary: `Item ${{n}}`, ts: n }});
    }}
  }},
}};"#
    )
}

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    for (what, dedupe) in [("none", ""), ("unique", r#"dedupe: "unique","#)] {
        let mut node = Node::start(binary, &[]).await?;
        let component = node.api.save(&component(dedupe)).await?;
        let source = node.api.deploy(&component).await?;
        let path = format!("/v1/sources/{}/run", source.id);
        let mut times = Vec::new();
        for run in 0..WARM_UP_RUNS + RUNS {
            let begun = Instant::now();
            // Answered once the run is committed.
            node.api
                .call("POST", &path, &json!({ "event": Value::Null }))
                .await?;
            if run >= WARM_UP_RUNS {
                times.push(begun.elapsed().as_secs_f64());
            }
            // Retention trims what a run appended; that is not what is measured.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let rate = EVENTS as f64 / median(&times);
        report.add(Line {
            what: format!("emits to disk, {EVENTS} per run, dedupe: {what}"),
            ours: format!("p50 {:.1} ms a run", median(&times) * 1e3),
            bare: String::new(),
            figure: rate,
            shown: format!("{rate:.0}/s"),
            budget: Budget::AtLeast(5000.0, "5,000/s"),
        });
    }
    Ok(())
}
