//! `cargo xtask soak`: the test of that name in a release build, for as long as is wanted. Its doings and its
//! verdict are the test's.

use anyhow::{Result, bail};

use crate::{
    command::{self, cargo},
    provision,
};

const MINUTES: &str = "15";
const USAGE: &str = "usage: cargo xtask soak [--minutes N] [--seed N]";

/// Builds the node and lets it soak; fails if it loses anything.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let (mut minutes, mut seed) = (MINUTES, None);
    for pair in arguments.chunks(2) {
        match pair {
            ["--minutes", value] => minutes = value,
            ["--seed", value] => seed = Some(*value),
            _ => bail!("{USAGE}"),
        }
    }
    let is_number = minutes.parse::<f64>().is_ok_and(|minutes| minutes > 0.0);
    if !is_number {
        bail!("--minutes: `{minutes}` is not a number of minutes");
    }
    let deno = provision::deno_path(&provision::built_for_release()?)?;
    let mut soak = cargo();
    soak.args(["test", "--release", "--package", "headwater-integration"])
        .args([
            "--test",
            "it",
            "nothing_accepted_is_lost_and_memory_stays_flat",
        ])
        .args(["--", "--nocapture"])
        .env("HEADWATER_DENO", deno)
        .env("HEADWATER_SOAK_MINUTES", minutes);
    if let Some(seed) = seed {
        soak.env("HEADWATER_TEST_SEED", seed);
    }
    command::run(&mut soak)
}
