//! `cargo xtask faults`: the tests of faults, for as long as is wanted: of the nodes of a cluster, of the primary of its
//! database, and of an upgrade. Their doings and their verdicts are the tests'.

use anyhow::{Result, bail};

use crate::{
    command::{self, cargo},
    provision,
};

const FAULTS: &str = "100";
const USAGE: &str =
    "usage: cargo xtask faults [--faults N] [--seed N] | --primary N | --upgrade-from PROGRAM";

/// A test, and what it is told.
struct Trial<'a> {
    test: &'static str,
    /// It does not run among the other tests.
    is_apart: bool,
    environment: Vec<(&'static str, &'a str)>,
}

impl<'a> Trial<'a> {
    fn of(arguments: &[&'a str]) -> Result<Self> {
        match arguments {
            ["--primary", kills] => Ok(Self {
                test: "a_primary_that_is_killed_takes_nothing_with_it_that_was_accepted",
                is_apart: true,
                environment: vec![("HEADWATER_PRIMARY_KILLS", number("--primary", kills)?)],
            }),
            ["--upgrade-from", program] => Ok(Self {
                test: "an_upgrade_of_one_node_after_the_other_loses_nothing",
                is_apart: true,
                environment: vec![("HEADWATER_TEST_FORMER", *program)],
            }),
            _ => Self::of_nodes(arguments),
        }
    }

    fn of_nodes(arguments: &[&'a str]) -> Result<Self> {
        let (mut faults, mut environment) = (FAULTS, Vec::new());
        for pair in arguments.chunks(2) {
            match pair {
                ["--faults", value] => faults = number("--faults", value)?,
                ["--seed", value] => environment.push(("HEADWATER_TEST_SEED", *value)),
                _ => bail!("{USAGE}"),
            }
        }
        environment.push(("HEADWATER_FAULTS", faults));
        Ok(Self {
            test: "a_cluster_loses_nothing_and_does_nothing_twice",
            is_apart: false,
            environment,
        })
    }
}

fn number<'a>(option: &str, text: &'a str) -> Result<&'a str> {
    match text.parse::<usize>() {
        Ok(1..) => Ok(text),
        _ => bail!("{option}: `{text}` is not a number of faults"),
    }
}

/// Builds the node and lets it suffer; fails if anything is lost or done twice.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let trial = Trial::of(arguments)?;
    let postgres = provision::postgres_bin()?;
    if trial.test.starts_with("a_primary") {
        provision::patroni()?;
    }
    let deno = provision::deno_path(&provision::built_for_release()?)?;
    let mut suffering = cargo();
    suffering
        .args(["test", "--release", "--package", "headwater-integration"])
        .args(["--test", "it", trial.test, "--", "--nocapture"])
        .env("HEADWATER_DENO", deno)
        .env("HEADWATER_TEST_POSTGRES_BIN", &postgres)
        .envs(trial.environment);
    if trial.is_apart {
        suffering.arg("--ignored");
    }
    match provision::faketime() {
        Some(library) => drop(suffering.env("HEADWATER_TEST_FAKETIME", library)),
        None => {
            eprintln!("no clock will be wrong: Debian's package libfaketime cannot be installed");
        }
    }
    command::run(&mut suffering)
}
