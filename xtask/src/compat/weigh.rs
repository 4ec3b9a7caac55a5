//! The cost of a package in a source that runs: of each package, the component that took longest to load is imported by
//! a small source, so that it needs no credentials, and the worker that runs it is looked at.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::{
    component::elapsed_ms,
    record::{Memory, Record, Weight},
};
use crate::node::Node;

/// How long a warm worker may take to be there alone: after a save, a process waits a minute for the next one.
const WARM_DEADLINE: Duration = Duration::from_secs(150);
const POLL: Duration = Duration::from_millis(50);

/// The weight of each package; one that cannot be weighed is named and left out.
pub(super) fn heaviest(node: &Node, records: &[Record]) -> Vec<Weight> {
    let mut slowest: BTreeMap<&str, &Record> = BTreeMap::new();
    for record in records.iter().filter(|record| record.failure.is_none()) {
        let known = slowest.entry(record.package()).or_insert(record);
        if record.load_ms > known.load_ms {
            *known = record;
        }
    }
    // All are deployed before the first is looked at, so that the process that waits for a save is waited for once.
    let deployed: Vec<_> = slowest
        .values()
        .map(|record| (*record, deployed(node, record)))
        .collect();
    let weigh = |(record, id): (&Record, Result<String>)| match weight(node, record, id) {
        Ok(weight) => Some(weight),
        Err(error) => {
            eprintln!("{} is not weighed: {error:#}", record.url);
            None
        }
    };
    deployed.into_iter().filter_map(weigh).collect()
}

/// A source whose component imports that of the record.
fn deployed(node: &Node, record: &Record) -> Result<String> {
    let specifier = record.url.trim_start_matches("npm:");
    let code = format!(
        "import component from {};\n\
         export default {{ name: \"Weighed\", version: \"0.0.1\", run() {{ this.$emit(component.name); }} }};\n",
        Value::from(specifier)
    );
    let deployed = node.post("/v1/sources", &json!({ "component_code": code }))?;
    let id = deployed["data"]["id"].as_str();
    Ok(id.context("a source has an id")?.to_owned())
}

fn weight(node: &Node, record: &Record, id: Result<String>) -> Result<Weight> {
    let id = id?;
    let weight = runs(node, record, &id);
    node.delete(&format!("/v1/sources/{id}"))?;
    weight
}

fn runs(node: &Node, record: &Record, id: &str) -> Result<Weight> {
    let before = warm_worker(node)?;
    let empty = memory(before)?;
    let first_run_ms = run(node, id)?;
    let next_run_ms = run(node, id)?;
    Ok(Weight {
        package: record.package().to_owned(),
        key: record.key.clone(),
        first_run_ms,
        next_run_ms,
        memory: memory(before)?,
        empty,
    })
}

fn run(node: &Node, id: &str) -> Result<u64> {
    let started = Instant::now();
    let report = node.post(&format!("/v1/sources/{id}/run"), &json!({}))?;
    let outcome = &report["data"]["outcome"];
    if outcome["status"] != "returned" {
        bail!("the run ended with {outcome}");
    }
    Ok(elapsed_ms(started))
}

/// The one worker that is ready, once those of earlier sources are gone.
fn warm_worker(node: &Node) -> Result<u32> {
    let started = Instant::now();
    let mut seen = BTreeSet::new();
    while started.elapsed() < WARM_DEADLINE {
        let ready = node.get("/readyz")?;
        let children = children(node.pid());
        if let ([worker], Some(1)) = (
            &*children,
            ready["checks"]["runtime"]["warm_workers"].as_u64(),
        ) {
            return Ok(*worker);
        }
        seen.extend(children);
        std::thread::sleep(POLL);
    }
    bail!("there never was a single warm worker, but {seen:?}")
}

fn children(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| parent(*id) == Some(pid)).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may have blanks; state and parent follow it.
    let (_, fields) = text.rsplit_once(") ")?;
    fields.split(' ').nth(1)?.parse().ok()
}

fn memory(pid: u32) -> Result<Memory> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let field = |name: &str| -> Option<u64> {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        value.split_ascii_whitespace().next()?.parse().ok()
    };
    Ok(Memory {
        proportional_kib: field("Pss:").context("no Pss")?,
        resident_kib: field("Rss:").context("no Rss")?,
    })
}
