//! Workflows: runs per second and the cost of a step, where each step's result is on disk before the next begins; and
//! the cost of runs that wait.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::{
    load::{Answered, Load},
    node::{Api, Node},
    report::{Budget, Line, Report, mib},
    rounds::{ROUND, ROUNDS, WARM_UP},
    statistics::{median, quantile},
    wire,
};

const BODY: &str = r#"{"name":"world","n":41}"#;
/// A step that works on the result of the one before.
const PURE: &str = "export default { run({ steps }) { return { n: (PREVIOUS.n ?? 0) + 1, name: PREVIOUS.name }; } };";
/// The last one: the request is answered when the run has ended, so that answers are ended runs.
const ANSWERS: &str = "export default { async run({ steps, $ }) { \
     await $.respond({ status: 200, headers: { 'content-type': 'application/json' }, body: PREVIOUS }); } };";
const CONNECTIONS: usize = 32;
/// Steps of a long run: its time beyond that of a short one is that of steps.
const LONG: usize = 23;
const SHORT: usize = 3;
/// At least so many runs wait.
const WAITING: usize = 10_000;
/// The node's own bound is for owners whose runs get stuck.
const MANY_RUNS: [&str; 1] = ["--queued-events-per-owner=1000000"];
/// Longer than runners and workers stay with these flags.
const REST: Duration = Duration::from_secs(9);

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    throughput(binary, report).await?;
    steps(binary, report).await?;
    waiting(binary, report).await
}

async fn throughput(binary: &Path, report: &mut Report) -> Result<()> {
    let mut node = Node::start(binary, &[]).await?;
    let path = deploy_pure(&mut node.api, SHORT).await?;
    let load = load(&node, &path, CONNECTIONS);
    load.run(WARM_UP).await?;
    let (mut rates, mut rounds) = (Vec::new(), Vec::new());
    let cpu_before = node.process().cpu_seconds();
    for _ in 0..ROUNDS {
        let round = load.run(ROUND).await?;
        rates.push(round.per_second());
        rounds.push(round);
    }
    let runs: usize = rounds.iter().map(|round| round.latencies.len()).sum();
    let cpu = (node.process().cpu_seconds() - cpu_before) * 1e6 / runs as f64;
    let rate = median(&rates);
    report.add(Line {
        what: format!("runs of {SHORT} pure steps, {CONNECTIONS} connections"),
        ours: format!(
            "p50 {:.1} p99 {:.1} ms, {cpu:.0} µs CPU",
            at(&rounds, 0.5),
            at(&rounds, 0.99)
        ),
        bare: String::new(),
        figure: rate,
        shown: format!("{rate:.0}/s"),
        budget: Budget::AtLeast(2000.0, "2,000/s"),
    });
    Ok(())
}

/// The time of a step: runs of many and of few steps in turns, one at a time.
async fn steps(binary: &Path, report: &mut Report) -> Result<()> {
    let mut node = Node::start(binary, &[]).await?;
    let short = deploy_pure(&mut node.api, SHORT).await?;
    let long = deploy_pure(&mut node.api, LONG).await?;
    let [short, long] = [short, long].map(|path| load(&node, &path, 1));
    let (mut shorts, mut longs) = (Vec::new(), Vec::new());
    for load in [&short, &long] {
        load.run(WARM_UP).await?;
    }
    for _ in 0..ROUNDS {
        shorts.push(short.run(ROUND).await?);
        longs.push(long.run(ROUND).await?);
    }
    let (shorts, longs) = (at(&shorts, 0.5), at(&longs, 0.5));
    let each = (longs - shorts) / (LONG - SHORT) as f64;
    report.add(Line {
        what: format!("a pure step, 1 connection: p50 of runs of {LONG} less those of {SHORT}"),
        ours: format!("p50 {longs:.2} ms"),
        bare: format!("p50 {shorts:.2} ms"),
        figure: each,
        shown: format!("{each:.2} ms"),
        budget: Budget::AtMost(1.0, "1 ms"),
    });
    Ok(())
}

/// The memory and the disk that runs take while they wait.
async fn waiting(binary: &Path, report: &mut Report) -> Result<()> {
    let flags = [&MANY_RUNS[..], &["--worker-idle=2s", "--warm-workers=0"]].concat();
    let mut node = Node::start(binary, &flags).await?;
    let workflow = deploy(&mut node.api, waiting_files()).await?;
    let load = load(&node, &workflow.path, CONNECTIONS);
    // The first ones leave behind what the allocator and the store's caches keep for the next.
    let first = fill(&mut node, &workflow, &load).await?;
    let before = resting(&node).await?;
    let second = fill(&mut node, &workflow, &load).await?;
    let after = resting(&node).await?;
    let (node, ready_in) = node.restart(&flags).await?;
    let restarted = resting(&node).await?;
    add(report, format!("{second} more"), second, before, after);
    let all = first + second;
    let shown = format!(
        "{:.0} ms, {:.1} MiB",
        ready_in.as_secs_f64() * 1e3,
        mib(restarted.memory)
    );
    report.add(Line {
        what: format!("start of a node with {all} waiting runs, killed before, to ready"),
        ours: String::new(),
        bare: String::new(),
        figure: ready_in.as_secs_f64() * 1e3,
        shown,
        budget: Budget::None,
    });
    Ok(())
}

fn add(report: &mut Report, which: String, runs: usize, before: Taken, after: Taken) {
    for (what, before, after) in [
        ("memory", before.memory, after.memory),
        ("disk", before.disk, after.disk),
    ] {
        let each = after.saturating_sub(before) as f64 / 1024.0 / runs as f64;
        report.add(Line {
            what: format!("{what} per run that waits in a delay: {which}"),
            ours: format!("{:.1} MiB", mib(after)),
            bare: format!("{:.1} MiB before", mib(before)),
            figure: each,
            shown: format!("{each:.2} KiB"),
            budget: Budget::None,
        });
    }
}

/// Bytes that a node takes.
#[derive(Clone, Copy)]
struct Taken {
    memory: u64,
    disk: u64,
}

/// Those of the node with its workers once there is nothing left to do.
async fn resting(node: &Node) -> Result<Taken> {
    tokio::time::sleep(REST).await;
    Ok(Taken {
        memory: node.process().proportional_bytes()?,
        disk: node.stored_bytes(),
    })
}

/// Starts many runs and waits until all of them wait; how many.
async fn fill(node: &mut Node, workflow: &Workflow, load: &Load) -> Result<usize> {
    let mut runs = 0;
    while runs < WAITING {
        runs += load.run(Duration::from_secs(1)).await?.latencies.len();
    }
    for status in ["queued", "running"] {
        let path = format!("/v1/workflows/{}/runs?status={status}&limit=1", workflow.id);
        let deadline = Instant::now() + Duration::from_secs(300);
        while node.api.call("GET", &path, &Value::Null).await? != json!([]) {
            if Instant::now() > deadline {
                bail!("runs that should wait are {status}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(runs)
}

/// A deployed workflow.
struct Workflow {
    id: String,
    /// That of its HTTP trigger.
    path: String,
}

/// Deploys a workflow of so many pure steps, and returns the path of its HTTP trigger, which answers when a run has ended.
pub(super) async fn deploy_pure(api: &mut Api, steps: usize) -> Result<String> {
    Ok(deploy(api, files(steps)).await?.path)
}

async fn deploy(api: &mut Api, files: Value) -> Result<Workflow> {
    let request = json!({ "files": files });
    let workflow = api.call("POST", "/v1/workflows", &request).await?;
    let url = workflow["triggers"][0]["endpoint_url"].as_str();
    // `http://host/path`
    let path = url.and_then(|url| url.splitn(4, '/').nth(3));
    Ok(Workflow {
        id: workflow["id"].as_str().context("no id")?.to_owned(),
        path: format!("/{}", path.context("no URL")?),
    })
}

/// A workflow of so many steps, of which the last answers the request.
fn files(steps: usize) -> Value {
    let mut files = Map::new();
    let mut definition =
        "name: Steps\ntriggers:\n- { type: http, respond: workflow }\nsteps:\n".to_owned();
    let mut previous = "steps.trigger.event.body".to_owned();
    for number in 1..=steps {
        let code = if number == steps { ANSWERS } else { PURE };
        definition.push_str(&format!("- namespace: s{number}\n"));
        let code = code.replace("PREVIOUS", &previous);
        files.insert(format!("s{number}/entry.js"), code.into());
        previous = format!("steps.s{number}.$return_value");
    }
    files.insert("workflow.yaml".to_owned(), definition.into());
    files.into()
}

fn waiting_files() -> Value {
    let definition = "name: Waits\ntriggers:\n- { type: http, respond: default }\nsteps:\n- namespace: s1\n\
                      - { namespace: pause, type: delay, for: 7d }\n";
    let code = PURE.replace("PREVIOUS", "steps.trigger.event.body");
    json!({ "workflow.yaml": definition, "s1/entry.js": code })
}

fn load(node: &Node, path: &str, connections: usize) -> Load {
    let address = node.address();
    Load {
        address,
        request: wire::request("POST", address, path, "", BODY),
        connections,
    }
}

/// A quantile of the latencies of all rounds, in milliseconds.
fn at(rounds: &[Answered], part: f64) -> f64 {
    let latencies = rounds.iter().flat_map(|round| &round.latencies);
    quantile(&latencies.copied().collect::<Vec<_>>(), part) / 1e3
}
