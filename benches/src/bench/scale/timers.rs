//! Very many sources with timers: how late they are, whether memory stays flat, and how soon the node is ready again.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{
    asked::Sizes,
    deploying::{Order, Placed, deploy_all},
    node::{Api, Node},
    receiver::now_ms,
    report::{Budget, Line, Report, mib},
    statistics::{median, quantile},
};

const SOURCES: usize = 100_000;
/// Connections over which they are deployed.
const CLERKS: usize = 8;
const TICKS_PER_SECOND: f64 = 1000.0;
/// Fewer sources tick no more often than this.
const SHORTEST_SECONDS: f64 = 15.0;
/// Sources whose ticks are looked at, evenly spread over all.
const SAMPLE: usize = 5000;
const RESTARTS: usize = 3;
/// For runs of the last ticks to be recorded.
const GRACE: Duration = Duration::from_secs(5);

const COMPONENT: &str = r#"export default {
  name: "Ticks", version: "0.0.1",
  props: { timer: "$.interface.timer" },
  run() {},
};"#;

/// The fleet and its schedule.
struct Ticking {
    node: Node,
    sources: Vec<Placed>,
    period: Duration,
}

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let count = sizes.at_most(SOURCES);
    let seconds = (count as f64 / TICKS_PER_SECOND)
        .max(SHORTEST_SECONDS)
        .ceil();
    eprintln!("  {count} sources with timers of {seconds} s");
    let mut ticking = deploy(binary, count, Duration::from_secs_f64(seconds)).await?;
    // Every source has ticked once after it, so that memory holds what the fleet needs.
    tokio::time::sleep(ticking.period).await;
    let before = ticking.memory()?;
    let since_ms = now_ms();
    tokio::time::sleep(ticking.period).await;
    let after = ticking.memory()?;
    tokio::time::sleep(GRACE).await;
    let ticks = ticking.ticks(since_ms).await?;
    let what = format!(
        "{count} sources, {:.0} ticks/s",
        count as f64 / ticking.period.as_secs_f64()
    );
    tell_lateness(report, &what, &ticks);
    tell_memory(report, &what, before, after);
    let mut node = ticking.node;
    let mut times = Vec::new();
    for _ in 0..RESTARTS {
        let (started, took) = node.restart(&[]).await?;
        node = started;
        times.push(took.as_secs_f64());
    }
    report.add(Line {
        what: format!("start of a node with {count} sources, killed before, to ready"),
        ours: format!("{:.2} s in the middle of {RESTARTS}", median(&times)),
        bare: String::new(),
        // Only the first finds all that a long life leaves behind, so the slowest counts.
        figure: quantile(&times, 1.0),
        shown: format!("{:.2} s at most", quantile(&times, 1.0)),
        budget: Budget::AtMost(1.0, "1 s"),
    });
    Ok(())
}

/// As evenly over a period as the node takes them.
async fn deploy(binary: &Path, count: usize, period: Duration) -> Result<Ticking> {
    let mut node = Node::start(binary, &[]).await?;
    let component = node.api.save(COMPONENT).await?;
    let begun = Instant::now();
    let mut lists = Vec::new();
    for clerk in 0..CLERKS {
        let orders = (clerk..count).step_by(CLERKS).map(|number| Order {
            number,
            at: begun + period.mul_f64(number as f64 / count as f64),
            component: component.clone(),
            props: json!({ "timer": { "intervalSeconds": period.as_secs() } }),
        });
        lists.push((node.connect().await?, orders.collect()));
    }
    let sources = deploy_all(lists).await?;
    eprintln!("    deployed in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(Ticking {
        node,
        sources,
        period,
    })
}

/// Bytes of the node itself, and of all its processes.
#[derive(Clone, Copy)]
struct Memory {
    node: u64,
    all: u64,
}

/// A tick in milliseconds after it was due; nothing if there was no run of it.
struct Tick(Option<Run>);

struct Run {
    fired_ms: f64,
    started_ms: f64,
}

impl Ticking {
    fn memory(&self) -> Result<Memory> {
        let process = self.node.process();
        Ok(Memory {
            node: process.resident_bytes(),
            all: process.proportional_bytes()?,
        })
    }

    /// The first tick after that moment of each source of the sample.
    async fn ticks(&mut self, since_ms: f64) -> Result<Vec<Tick>> {
        let period_ms = self.period.as_secs_f64() * 1e3;
        let every = self.sources.len().div_ceil(SAMPLE);
        let mut ticks = Vec::new();
        for placed in self.sources.iter().step_by(every) {
            let periods = ((since_ms - placed.asked_ms) / period_ms).ceil();
            let due_ms = placed.asked_ms + periods * period_ms;
            let runs = runs(&mut self.node.api, &placed.source.id).await?;
            let after = runs.into_iter().map(|run| Run {
                fired_ms: run.fired_ms - due_ms,
                started_ms: run.started_ms - due_ms,
            });
            let mut own = after.filter(|run| (0.0..period_ms).contains(&run.fired_ms));
            ticks.push(Tick(own.next_back()));
        }
        Ok(ticks)
    }
}

/// The newest runs of a source, in milliseconds since the epoch, the newest first.
async fn runs(api: &mut Api, source: &str) -> Result<Vec<Run>> {
    let path = format!("/v1/sources/{source}/runs?limit=10");
    let runs = api.call("GET", &path, &Value::Null).await?;
    let runs = runs.as_array().context("runs are a list")?.iter();
    let field = |run: &Value, name: &str| run[name].as_f64().with_context(|| format!("no {name}"));
    runs.map(|run| {
        Ok(Run {
            fired_ms: field(run, "queued_at_ms")?,
            started_ms: field(run, "started_at_ms")?,
        })
    })
    .collect()
}

fn tell_lateness(report: &mut Report, what: &str, ticks: &[Tick]) {
    let runs: Vec<&Run> = ticks.iter().filter_map(|tick| tick.0.as_ref()).collect();
    let missed = ticks.len() - runs.len();
    for (moment, late, budget) in [
        (
            "a tick is queued",
            Vec::from_iter(runs.iter().map(|run| run.fired_ms)),
            Budget::AtMost(250.0, "250 ms"),
        ),
        (
            "its run begins",
            Vec::from_iter(runs.iter().map(|run| run.started_ms)),
            Budget::None,
        ),
    ] {
        let [p50, p99, most] = [0.5, 0.99, 1.0].map(|part| quantile(&late, part));
        report.add(Line {
            what: format!("{what}: lateness until {moment}"),
            ours: format!("p50 {p50:.0} ms, {most:.0} ms at most"),
            bare: format!("{missed} of {} ticks missed", ticks.len()),
            // A tick that never came is later than any.
            figure: match missed * 100 > ticks.len() {
                true => f64::INFINITY,
                false => p99,
            },
            shown: format!("p99 {p99:.0} ms"),
            budget,
        });
    }
}

fn tell_memory(report: &mut Report, what: &str, before: Memory, after: Memory) {
    for (which, before, after) in [
        ("the node", before.node, after.node),
        ("node and workers", before.all, after.all),
    ] {
        let ratio = after as f64 / before.max(1) as f64;
        report.add(Line {
            what: format!("{what}: memory of {which}, a period later"),
            ours: format!("{:.0} MiB", mib(after)),
            bare: format!("{:.0} MiB before", mib(before)),
            figure: ratio,
            shown: format!("× {ratio:.2}"),
            budget: Budget::AtMost(1.1, "× 1.1"),
        });
    }
}
