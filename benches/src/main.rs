//! Side-by-side benchmarks: `cargo run --release -p headwater-benches [-- NAME…|all [OPTION…]]`.
//!
//! Starts the real release binary, what it is compared with, and the load; prints one table of
//! absolute figures, their ratio and the budget. Builds nothing itself. Figures are reported and
//! never asserted: a ratio measured in one run means something, a time on one machine does not.
//! `--against` names the `headwater` of another build, which is measured in turns with this one, but for the long
//! benchmarks; `docs/performance.md` has the other options.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development tool reads the environment and talks to the terminal"
)]

mod asked;
mod bare;
mod bench;
mod builds;
mod deploying;
mod load;
mod node;
mod peers;
mod polled;
mod process;
mod receiver;
mod report;
mod rounds;
mod statistics;
mod wire;

use std::process::ExitCode;

use anyhow::{Result, bail};
use tokio::signal::unix::{SignalKind, signal};

use crate::{asked::Asked, report::Report};

/// Everything runs on one thread, so that the load takes one core at most.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.as_slice() {
        [word] if word == bare::ARGUMENT => bare::serve().await,
        words => unless_interrupted(run(words)).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The same, but an interruption ends it as an error does: all that it started goes with it.
async fn unless_interrupted(running: impl Future<Output = Result<()>>) -> Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        done = running => done,
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
        _ = terminated.recv() => bail!("terminated"),
    }
}

async fn run(words: &[String]) -> Result<()> {
    let asked = Asked::read(words, &bench::KNOWN)?;
    let mut report = Report::default();
    let mut failed = Vec::new();
    for name in asked.names() {
        eprintln!("==> {name} (load average {})", process::load_average());
        // One that fails does not take the figures of the others along.
        if let Err(error) = bench::run(name, &asked, &mut report).await {
            eprintln!("error: {name}: {error:#}");
            failed.push(name);
        }
    }
    println!("{report}");
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("not measured to the end: {}", failed.join(", ")),
    }
}
