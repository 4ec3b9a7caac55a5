//! `compat`: whether the published components work. Every source and action of the packages on npm is saved on a
//! real node, as a user would save it, and loaded by a worker; a table says what came of each and what it took.
//!
//! Responsible for the order of things and for what counts as a failure. Nothing of a package is kept outside the
//! folder of the run, which later runs go on from: what is saved there is not saved again.

mod component;
mod explained;
mod options;
mod packages;
mod record;
mod report;
mod results;
mod weigh;

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result, bail};

use self::{
    options::Options,
    packages::Module,
    record::{Record, Weight},
    results::Results,
};
use crate::{
    command::{cargo, root, run as run_command},
    node::Node,
};

/// Saves, loads and reports, as the command line says.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            run_command(cargo().args(["build", "--release", "--package", "headwater"]))?;
            root().join("target/release/headwater")
        }
    };
    std::fs::create_dir_all(&options.folder)
        .with_context(|| format!("cannot make {}", options.folder.display()))?;
    let node = Node::start(&binary, &options.folder.join("data"))?;
    let modules = packages::modules(&node, &options)?;
    let results = Results::open(&options.folder.join("results.jsonl"), &binary)?;
    let records = examined(&node, &modules, results, options.jobs)?;
    let weights = weigh::heaviest(&node, &records);
    let whole = options.packages.is_empty() && options.limit.is_none();
    conclude(&options, &records, &weights, whole)
}

/// A record of each module, in order; those that are known are taken from `results`.
fn examined(node: &Node, modules: &[Module], results: Results, jobs: usize) -> Result<Vec<Record>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(results);
    let failure = Mutex::new(None);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(module) = modules.get(index) else {
                return;
            };
            let known = lock(&results).holds(&module.url());
            if known {
                continue;
            }
            let record = component::examine(node, module);
            eprintln!("[{}/{}] {}", index + 1, modules.len(), record.line());
            if let Err(error) = lock(&results).add(record) {
                *lock(&failure) = Some(error);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    match failure.into_inner() {
        Ok(Some(error)) => return Err(error),
        Ok(None) => {}
        Err(_) => bail!("a job panicked"),
    }
    let results = lock(&results);
    let records = modules
        .iter()
        .filter_map(|module| results.get(&module.url()));
    Ok(records.cloned().collect())
}

/// Writes the report and fails when something is wrong that nobody has explained.
fn conclude(options: &Options, records: &[Record], weights: &[Weight], whole: bool) -> Result<()> {
    let markdown = options.folder.join("report.md");
    std::fs::write(&markdown, report::markdown(records, weights))
        .with_context(|| format!("cannot write {}", markdown.display()))?;
    let json = options.folder.join("report.json");
    std::fs::write(&json, report::json(records, weights))
        .with_context(|| format!("cannot write {}", json.display()))?;
    println!("{}", report::totals(records));
    println!("{}", markdown.display());
    let failed: Vec<_> = records
        .iter()
        .filter(|record| record.failure.is_some() && explained::reason(record).is_none())
        .map(Record::line)
        .collect();
    if !failed.is_empty() {
        bail!(
            "{} of {} components fail, and {} does not say why:\n{}",
            failed.len(),
            records.len(),
            explained::FILE,
            failed.join("\n")
        );
    }
    let outdated = explained::outdated(records, whole);
    if !outdated.is_empty() {
        bail!(
            "these do not fail any more; take them out of {}: {}",
            explained::FILE,
            outdated.join(", ")
        );
    }
    Ok(())
}

/// A panic of another job ends the run anyway; what it left is still whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
