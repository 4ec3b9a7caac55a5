//! The benchmarks by name.

mod cold;
mod custom_response;
mod deliver;
mod emits;
mod feeds;
mod idle;
mod ingest;
mod listeners;

use anyhow::Result;

use crate::report::Report;

/// In the order in which they run.
pub(crate) const NAMES: [&str; 8] = [
    "custom-response",
    "ingest",
    "cold",
    "emits",
    "feeds",
    "idle",
    "deliver",
    "listeners",
];

/// Runs one of [`NAMES`].
pub(crate) async fn run(name: &str, report: &mut Report) -> Result<()> {
    match name {
        "custom-response" => custom_response::run(report).await,
        "ingest" => ingest::run(report).await,
        "cold" => cold::run(report).await,
        "emits" => emits::run(report).await,
        "feeds" => feeds::run(report).await,
        "idle" => idle::run(report).await,
        "deliver" => deliver::run(report).await,
        _ => listeners::run(report).await,
    }
}
