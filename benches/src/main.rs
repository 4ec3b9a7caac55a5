//! Side-by-side benchmarks: `cargo run --release -p headwater-benches [-- NAME… [--against BINARY]]`.
//!
//! Starts the real release binary, what it is compared with, and the load; prints one table of
//! absolute figures, their ratio and the budget. Builds nothing itself. Figures are reported and
//! never asserted: a ratio measured in one run means something, a time on one machine does not.
//! `--against` names the `headwater` of another build, which every benchmark measures in turns with this one.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development tool reads the environment and talks to the terminal"
)]

mod bare;
mod bench;
mod builds;
mod load;
mod node;
mod process;
mod receiver;
mod report;
mod rounds;
mod statistics;
mod wire;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};

use crate::{builds::Builds, report::Report};

/// Everything runs on one thread, so that the load takes one core at most.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.as_slice() {
        [word] if word == bare::ARGUMENT => bare::serve().await,
        words => run(words).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The command line.
struct Asked {
    /// Benchmarks by name; none for all.
    names: Vec<String>,
    /// Another build of the node, to be measured too.
    against: Option<PathBuf>,
}

impl Asked {
    /// Reads the words; underscores in a name count as hyphens.
    fn read(words: &[String]) -> Result<Self> {
        let (mut names, mut against) = (Vec::new(), None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--against" {
                let path = words
                    .next()
                    .context("`--against` needs the path of a binary")?;
                against = Some(PathBuf::from(path));
                continue;
            }
            let name = word.replace('_', "-");
            if !bench::NAMES.contains(&name.as_str()) {
                bail!(
                    "no benchmark is called `{word}`; there are {}",
                    bench::NAMES.join(", ")
                );
            }
            names.push(name);
        }
        Ok(Self { names, against })
    }
}

async fn run(words: &[String]) -> Result<()> {
    let asked = Asked::read(words)?;
    let builds = Builds {
        ours: process::headwater()?,
        other: asked.against,
    };
    let mut report = Report::default();
    for name in bench::NAMES {
        if asked.names.is_empty() || asked.names.iter().any(|wanted| wanted == name) {
            eprintln!("==> {name} (load average {})", process::load_average());
            bench::run(name, &builds, &mut report).await?;
        }
    }
    println!("{report}");
    Ok(())
}
