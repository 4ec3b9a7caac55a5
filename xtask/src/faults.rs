//! `cargo xtask faults`: the test of a cluster's faults, with as many of them as are wanted. Its doings and its verdict
//! are the test's.

use anyhow::{Context as _, Result, bail};

use crate::{
    command::{self, cargo},
    provision,
};

const FAULTS: &str = "100";
const USAGE: &str = "usage: cargo xtask faults [--faults N] [--seed N]";

/// Builds the node and lets three of them suffer; fails if they lose anything or do anything twice.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let (mut faults, mut seed) = (FAULTS, None);
    for pair in arguments.chunks(2) {
        match pair {
            ["--faults", value] => faults = value,
            ["--seed", value] => seed = Some(*value),
            _ => bail!("{USAGE}"),
        }
    }
    if !faults.parse::<usize>().is_ok_and(|faults| faults > 0) {
        bail!("--faults: `{faults}` is not a number of faults");
    }
    let deno = provision::deno_path()?;
    let postgres = provision::postgres_bin()?;
    let build = ["build", "--release", "--package", "headwater"];
    command::run(cargo().args(build)).context("building the node")?;
    let mut suffering = cargo();
    suffering
        .args(["test", "--release", "--package", "headwater-integration"])
        .args([
            "--test",
            "it",
            "a_cluster_loses_nothing_and_does_nothing_twice",
        ])
        .args(["--", "--nocapture"])
        .env("HEADWATER_DENO", deno)
        .env("HEADWATER_TEST_POSTGRES_BIN", &postgres)
        .env("HEADWATER_FAULTS", faults);
    match provision::faketime() {
        Some(library) => drop(suffering.env("HEADWATER_TEST_FAKETIME", library)),
        None => {
            eprintln!("no clock will be wrong: Debian's package libfaketime cannot be installed");
        }
    }
    if let Some(seed) = seed {
        suffering.env("HEADWATER_TEST_SEED", seed);
    }
    command::run(&mut suffering)
}
