//! Side-by-side benchmarks: `cargo run --release -p headwater-benches [-- NAME…]`.
//!
//! Starts the real release binary, what it is compared with, and the load; prints one table of
//! absolute figures, their ratio and the budget. Builds nothing itself. Figures are reported and
//! never asserted: a ratio measured in one run means something, a time on one machine does not.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development tool reads the environment and talks to the terminal"
)]

mod bare;
mod bench;
mod load;
mod node;
mod process;
mod receiver;
mod report;
mod rounds;
mod statistics;
mod wire;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::report::Report;

/// Everything runs on one thread, so that the load takes one core at most.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.as_slice() {
        [word] if word == bare::ARGUMENT => bare::serve().await,
        names => run(names).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(names: &[String]) -> Result<()> {
    if let Some(unknown) = names
        .iter()
        .find(|name| !bench::NAMES.contains(&name.as_str()))
    {
        bail!(
            "no benchmark is called `{unknown}`; there are {}",
            bench::NAMES.join(", ")
        );
    }
    let mut report = Report::default();
    for name in bench::NAMES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            eprintln!("==> {name}");
            bench::run(name, &mut report).await?;
        }
    }
    println!("{report}");
    Ok(())
}
