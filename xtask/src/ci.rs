//! The steps of CI, each timed. The tests come last and nothing is printed after them,
//! so that the run ends with the test runner's own summary.

use std::{path::Path, process::Command, time::Instant};

use anyhow::{Context as _, Result};

use crate::{
    command::{cargo, find_program, root, run},
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

/// Every test, with what they need installed first: the runtime's, then the crates'. Arguments
/// are for the crates' test runner, and then only that one runs.
pub(crate) fn test(arguments: &[&str]) -> Result<()> {
    test_with(arguments, &[])
}

/// The pictures of the README, taken anew by the test that takes them.
pub(crate) fn pictures() -> Result<()> {
    let folder = root().join("docs/pictures");
    let folder = folder.to_str().context("the folder's name is not UTF-8")?;
    test_with(
        &["-p", "headwater-integration", "ui::browser::pictures"],
        &[("HEADWATER_TEST_PICTURES", folder)],
    )
}

/// The tests in an environment.
fn test_with(arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let deno = provision::deno_path()?;
    if arguments.is_empty() {
        deno_task(&deno, "test")?;
    }
    provision::python()?;
    provision::servers()?;
    provision::operating()?;
    provision::browser()?;
    provision::languages()?;
    // Tests from outside start the binary, which is another package's than theirs.
    run(cargo().args(["build", "--package", "headwater"]))?;
    let mut tests = cargo();
    let runner: &[&str] = if has_nextest() {
        &["nextest", "run", "--no-fail-fast"]
    } else {
        &["test", "--tests", "--no-fail-fast"]
    };
    let names_package =
        |argument: &&str| argument.starts_with("-p") || argument.starts_with("--package");
    tests.args(runner).env("HEADWATER_DENO", deno);
    if !arguments.iter().any(names_package) {
        tests.arg("--workspace");
    }
    tests.args(arguments);
    let postgres = provision::postgres_bin()?;
    let server = provision::PostgresServer::start(&postgres)?;
    tests.env("HEADWATER_TEST_POSTGRES_BIN", postgres);
    tests.env("HEADWATER_TEST_POSTGRES_SOCKET", &server.folder);
    tests.env("HEADWATER_TEST_PYTHON", provision::python_venv()?);
    tests.env("HEADWATER_TEST_AXE", provision::axe()?);
    tests.envs(environment.iter().copied());
    let status = tests.status().context("cannot start the tests")?;
    // The runner has said what failed; nothing is printed after its summary.
    if !status.success() {
        std::process::exit(status.code().unwrap_or(1));
    }
    Ok(())
}

/// Types, lints and formatting of `runtime/`, as its `deno.json` says, and of the examples.
fn runtime() -> Result<()> {
    let deno = provision::deno_path()?;
    deno_task(&deno, "check")?;
    for check in [&["fmt", "--check"][..], &["lint"]] {
        let mut command = Command::new(&deno);
        command.args(check).args(["--no-config", "examples"]);
        run(command.current_dir(root()))?;
    }
    Ok(())
}

fn deno_task(deno: &Path, task: &str) -> Result<()> {
    run(Command::new(deno)
        .args(["task", task])
        .current_dir(root().join("runtime")))
}

fn has_nextest() -> bool {
    find_program("cargo-nextest").is_some()
}

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}");
    let started = Instant::now();
    work().with_context(|| format!("step `{name}`"))?;
    eprintln!("<== {name}: {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}
