//! What CI runs, step by step, each timed. The tests come last and nothing is printed after them,
//! so that the run ends with the test runner's own summary.

use std::{process::Command, time::Instant};

use anyhow::{Context as _, Result};

use crate::{
    command::{cargo, find_program, output, root, run},
    provision, tidy,
};

/// Formatting, lints, tidy, the runtime's checks, then every test.
pub(crate) fn ci() -> Result<()> {
    step("format", || run(cargo().args(["fmt", "--all", "--check"])))?;
    step("tidy", || tidy::run(&root()))?;
    step("clippy", || {
        run(cargo()
            .args(["clippy", "--workspace", "--all-targets", "--"])
            .args(["-D", "warnings"]))
    })?;
    step("runtime", runtime)?;
    eprintln!("==> test");
    test(&[])
}

/// Every test of the workspace, with what they need installed first.
pub(crate) fn test(arguments: &[&str]) -> Result<()> {
    let deno = provision::deno_path()?;
    let mut tests = cargo();
    let runner: &[&str] = if has_nextest() {
        &["nextest", "run", "--workspace", "--no-fail-fast"]
    } else {
        &["test", "--workspace", "--tests", "--no-fail-fast"]
    };
    tests
        .args(runner)
        .args(arguments)
        .env("HEADWATER_DENO", deno);
    if needs_postgres()? {
        tests.env("HEADWATER_TEST_POSTGRES_BIN", provision::postgres_bin()?);
    }
    run(&mut tests)
}

/// The TypeScript in `runtime/` and the examples, as `runtime/deno.json` says.
fn runtime() -> Result<()> {
    let deno = provision::deno_path()?;
    for task in ["check", "test"] {
        run(Command::new(&deno)
            .args(["task", task])
            .current_dir(root().join("runtime")))?;
    }
    for check in [&["fmt", "--check"][..], &["lint"]] {
        run(Command::new(&deno)
            .args(check)
            .arg("--no-config")
            .arg("examples")
            .current_dir(root()))?;
    }
    Ok(())
}

fn has_nextest() -> bool {
    find_program("cargo-nextest").is_some()
}

/// A PostgreSQL server is only asked for where a store crate for it is a member.
fn needs_postgres() -> Result<bool> {
    let metadata = output(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    Ok(metadata.contains("\"headwater-store-postgres\""))
}

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}");
    let started = Instant::now();
    work().with_context(|| format!("step `{name}`"))?;
    eprintln!("<== {name}: {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}
