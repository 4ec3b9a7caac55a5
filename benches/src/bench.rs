//! The benchmarks by name.

mod abuse;
mod cold;
mod custom_response;
mod deliver;
mod emits;
mod end_to_end;
mod feeds;
mod idle;
mod ingest;
mod listeners;

use std::path::Path;

use anyhow::Result;

use crate::report::Report;

/// In the order in which they run.
pub(crate) const NAMES: [&str; 10] = [
    "custom-response",
    "ingest",
    "end-to-end",
    "cold",
    "emits",
    "feeds",
    "idle",
    "deliver",
    "listeners",
    "abuse",
];

/// Runs one of [`NAMES`], where it compares whole nodes also with the node of another build.
pub(crate) async fn run(name: &str, against: Option<&Path>, report: &mut Report) -> Result<()> {
    match name {
        "custom-response" => custom_response::run(report).await,
        "ingest" => ingest::run(report).await,
        "end-to-end" => end_to_end::run(report, against).await,
        "cold" => cold::run(report).await,
        "emits" => emits::run(report).await,
        "feeds" => feeds::run(report).await,
        "idle" => idle::run(report).await,
        "deliver" => deliver::run(report).await,
        "abuse" => abuse::run(report, against).await,
        _ => listeners::run(report).await,
    }
}
