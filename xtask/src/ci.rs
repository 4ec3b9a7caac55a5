//! The steps of CI, each timed. The tests come last and nothing is printed after them,
//! so that the run ends with the test runner's own summary.

use std::{path::Path, process::Command, thread, time::Instant};

use anyhow::{Context as _, Result};

use crate::{
    command::{cargo, find_program, root, run},
    provision, tidy,
};

/// Formatting, lints, tidy, the runtime's checks, then every test.
pub(crate) fn ci() -> Result<()> {
    thread::scope(|scope| {
        // Beside the compiler, which waits for processors as this waits for the network.
        let installing = scope.spawn(|| step("install", provision::all));
        checks()?;
        let installed = installing.join();
        installed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    eprintln!("==> test");
    test(&[])
}

/// Everything before the tests, which are built by the way.
fn checks() -> Result<()> {
    step("format", || run(cargo().args(["fmt", "--all", "--check"])))?;
    step("tidy", || tidy::run(&root()))?;
    step("clippy", || {
        run(cargo()
            .args(["clippy", "--workspace", "--all-targets", "--"])
            .args(["-D", "warnings"]))
    })?;
    step("build", || build(&[]))?;
    step("runtime", runtime)
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
    build(arguments)?;
    let deno = provision::deno_path(&provision::program())?;
    if arguments.is_empty() {
        deno_task(&deno, "test")?;
    }
    provision::all()?;
    let mut tests = cargo();
    let runner: &[&str] = if has_nextest() {
        &["nextest", "run", "--no-fail-fast"]
    } else {
        &["test", "--tests", "--no-fail-fast"]
    };
    tests.args(runner).env("HEADWATER_DENO", deno);
    if !names_package(arguments) {
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

/// Builds the tests, and the program that those from outside start. Together they have the features of all, so that everything
/// is compiled once.
fn build(arguments: &[&str]) -> Result<()> {
    match names_package(arguments) {
        true => provision::built().map(drop),
        false => run(cargo().args(["test", "--workspace", "--tests", "--no-run", "--quiet"])),
    }
}

fn names_package(arguments: &[&str]) -> bool {
    let names = |argument: &&str| argument.starts_with("-p") || argument.starts_with("--package");
    arguments.iter().any(names)
}

/// Types, lints and formatting of `runtime/`, as its `deno.json` says, and of the examples.
fn runtime() -> Result<()> {
    let deno = provision::deno_path(&provision::program())?;
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
