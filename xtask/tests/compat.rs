//! `cargo xtask compat` as a developer runs it, on published packages that are small.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the task under test is another process, with the environment of this one"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

const PACKAGES: [&str; 2] = ["@pipedream/notiff_io@0.1.0", "npm:@pipedream/sftp@0.5.1"];

/// The binary that cargo puts beside the one under test. It is another package's: testing the workspace builds it.
fn headwater() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("headwater");
    assert!(path.is_file(), "build it with `cargo build -p headwater`");
    path
}

fn compat(folder: &Path, packages: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(["compat", "--binary"])
        .arg(headwater())
        .arg("--folder")
        .arg(folder);
    command.args(packages).output().unwrap()
}

#[test]
fn every_component_is_reported_and_none_is_saved_twice() {
    let folder = tempfile::tempdir().unwrap();
    let first = compat(folder.path(), &PACKAGES);
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(first.status.success(), "{said}");
    let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let components = report["components"].as_array().unwrap();
    let keys: Vec<_> = components
        .iter()
        .map(|component| component["key"].as_str().unwrap())
        .collect();
    let expected = [
        "notiff_io-create-notification",
        "sftp-upload-file",
        "sftp-watch-remote-directory",
    ];
    assert_eq!(keys, expected);
    for component in components {
        assert!(component["load_ms"].is_u64(), "{component}");
    }
    assert_eq!(components[2]["props"]["$.interface.timer"], 1);
    for package in report["packages"].as_array().unwrap() {
        let (worker, empty) = (&package["worker"], &package["empty_worker"]);
        assert!(
            worker["pss_kib"].as_u64() > empty["pss_kib"].as_u64(),
            "{package}"
        );
    }
    assert_eq!(report["packages"].as_array().map(Vec::len), Some(2));
    let markdown = fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert!(
        markdown.contains("| sftp-watch-remote-directory |"),
        "{markdown}"
    );

    let known = fs::read_to_string(folder.path().join("results.jsonl")).unwrap();
    assert!(compat(folder.path(), &PACKAGES).status.success());
    let again = fs::read_to_string(folder.path().join("results.jsonl")).unwrap();
    assert_eq!(again, known);
}

#[test]
fn a_package_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let name = "@pipedream/no-such-package-of-components";
    let output = compat(folder.path(), &[name]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(name), "{said}");
}
