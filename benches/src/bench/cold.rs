//! The first request to a source whose worker was evicted, and whose runner has left.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use crate::{
    node::Node,
    process::deno_script,
    report::{Budget, Line, Report},
    statistics::{median, quantile},
    wire::{self, Connection},
};

const SOURCES: usize = 24;
const WARM_WORKERS: usize = 2;
/// Workers are evicted after 300 ms without a run, far sooner than an operator would want it.
const FLAGS: [&str; 4] = ["--worker-idle", "300ms", "--warm-workers", "2"];
/// Longer than a runner stays.
const FORGOTTEN: Duration = Duration::from_secs(7);
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
        let own = own_work(node.data_dir()).await?;
        let platform = median(&times) - median(&own);
        report.add(Line {
            what: format!("first request to an evicted source, {what}"),
            ours: format!(
                "p50 {:.1} p90 {:.1} ms in all",
                median(&times),
                quantile(&times, 0.9)
            ),
            bare: format!(
                "p50 {:.1} ms to import it in a process of its own",
                median(&own)
            ),
            figure: platform,
            shown: format!("{platform:.1} ms"),
            budget,
        });
    }
    Ok(())
}

/// Milliseconds to the first response of each of many sources.
async fn first_requests(node: &mut Node, component: &str) -> Result<Vec<f64>> {
    let mut sources = Vec::new();
    for _ in 0..SOURCES {
        sources.push(node.api.deploy(component).await?);
    }
    tokio::time::sleep(FORGOTTEN).await;
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
        tokio::time::sleep(FORGOTTEN).await;
    }
    Ok(times)
}

/// Until no worker but the warm ones is left.
async fn wait_for_eviction(node: &Node) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
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

/// Milliseconds that importing the component takes by itself.
async fn own_work(data_dir: &Path) -> Result<Vec<f64>> {
    let entry = bare_module(&data_dir.join("cache"))?;
    let mut times = Vec::new();
    for _ in 0..SOURCES {
        let output = deno_script("bare_import.ts")?.arg(&entry).output().await?;
        let said = String::from_utf8_lossy(&output.stdout);
        let took = said
            .trim()
            .strip_prefix("took ")
            .and_then(|took| took.parse().ok());
        times.push(took.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?);
    }
    Ok(times)
}

/// The component's module with paths in place of what the runtime's import map leads to.
fn bare_module(cache: &Path) -> Result<PathBuf> {
    for artifact in std::fs::read_dir(cache.join("unpacked"))? {
        let entry = artifact?.path().join("component.mjs");
        if !entry.is_file() {
            continue;
        }
        let shared = format!("\"file://{}/", cache.join("shared").display());
        let code = std::fs::read_to_string(entry)?;
        let bare = cache.join("bare.mjs");
        std::fs::write(&bare, code.replace("\"headwater-shared/", &shared))?;
        return Ok(bare);
    }
    bail!("no component is unpacked in {}", cache.display())
}
