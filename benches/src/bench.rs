//! The benchmarks by name.

mod abuse;
mod cold;
mod custom_response;
mod deliver;
mod deployed;
mod emits;
mod end_to_end;
mod feeds;
mod idle;
mod ingest;
mod listeners;
mod nodes;
mod polling;
mod scale;
mod soak;
mod ui;
mod workflows;

use std::path::Path;

use anyhow::Result;

use crate::{
    asked::{Asked, Known},
    builds::Builds,
    report::Report,
};

/// Turns of each build where a benchmark knows one node only.
const TURNS: usize = 3;

/// In the order in which they run: first those of the budgets.
const NAMES: &[&str] = &[
    "custom-response",
    "ingest",
    "end-to-end",
    "cold",
    "polling",
    "nodes",
    "deliver",
    "idle",
    "scale",
    "emits",
    "feeds",
    "listeners",
    "workflows",
    "ui",
    "abuse",
    "soak",
];

/// Those that take longer than somebody waits who asks for none by name.
const LONG: &[&str] = &["polling", "nodes", "scale", "soak"];

/// The names that the command line may say.
pub(crate) const KNOWN: Known = Known {
    names: NAMES,
    long: LONG,
};

/// Runs one of [`NAMES`].
pub(crate) async fn run(name: &str, asked: &Asked, report: &mut Report) -> Result<()> {
    let Asked { builds, sizes, .. } = asked;
    match name {
        "custom-response" => custom_response::run(builds, report).await,
        "ingest" => ingest::run(builds, report).await,
        "end-to-end" => end_to_end::run(builds, report).await,
        "polling" => polling::run(&builds.ours, sizes, report).await,
        "nodes" => nodes::run(&builds.ours, sizes, report).await,
        "scale" => scale::run(&builds.ours, sizes, report).await,
        "soak" => soak::run(&builds.ours, sizes, report).await,
        "abuse" => abuse::run(builds, report).await,
        "cold" => in_turns(builds, report, cold::run).await,
        "emits" => in_turns(builds, report, emits::run).await,
        "feeds" => in_turns(builds, report, feeds::run).await,
        "idle" => in_turns(builds, report, idle::run).await,
        "deliver" => in_turns(builds, report, deliver::run).await,
        "ui" => in_turns(builds, report, ui::run).await,
        "workflows" => in_turns(builds, report, workflows::run).await,
        _ => in_turns(builds, report, listeners::run).await,
    }
}

/// Runs a benchmark of one node, or of both builds in turns.
async fn in_turns(
    builds: &Builds,
    report: &mut Report,
    bench: impl AsyncFn(&Path, &mut Report) -> Result<()>,
) -> Result<()> {
    let Some(other) = &builds.other else {
        return bench(&builds.ours, report).await;
    };
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        for (name, build, reports) in [
            ("this build", &builds.ours, &mut ours),
            ("the other build", other, &mut others),
        ] {
            eprintln!("  turn {turn} of {TURNS}, {name}: {}", build.display());
            let mut report = Report::default();
            bench(build, &mut report).await?;
            reports.push(report);
        }
    }
    report.add_turns(ours, &others);
    Ok(())
}
