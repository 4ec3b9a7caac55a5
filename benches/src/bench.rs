//! The benchmarks by name.

mod cold;
mod custom_response;
mod emits;
mod feeds;
mod idle;
mod ingest;

use anyhow::Result;

use crate::report::Report;

/// In the order in which they run.
pub(crate) const NAMES: [&str; 6] = [
    "custom-response",
    "ingest",
    "cold",
    "emits",
    "feeds",
    "idle",
];

/// Runs one of [`NAMES`].
pub(crate) async fn run(name: &str, report: &mut Report) -> Result<()> {
    match name {
        "custom-response" => custom_response::run(report).await,
        "ingest" => ingest::run(report).await,
        "cold" => cold::run(report).await,
        "emits" => emits::run(report).await,
        "feeds" => feeds::run(report).await,
        _ => idle::run(report).await,
    }
}
