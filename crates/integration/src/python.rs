//! Programs in Python with the packages of `requirements.txt`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
};

use tempfile::TempDir;
use tokio::process::Command;

/// The interpreter of the tests' virtual environment, and a folder to work in.
pub struct Python {
    interpreter: PathBuf,
    folder: TempDir,
}

impl Python {
    /// The interpreter that `HEADWATER_TEST_PYTHON` names.
    pub fn new() -> Self {
        Self {
            interpreter: interpreter(),
            folder: TempDir::with_prefix("headwater-python-").unwrap(),
        }
    }

    /// The folder that programs run in; it is gone when this is dropped.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the interpreter to its end; its output is shown when it fails.
    pub async fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) {
        let mut command = Command::new(&self.interpreter);
        command.args(arguments);
        self.finish(command, environment).await;
    }

    /// Runs a program that a package installed, likewise.
    pub async fn run_installed(
        &self,
        program: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) {
        let mut command = Command::new(self.interpreter.with_file_name(program));
        command.args(arguments);
        self.finish(command, environment).await;
    }

    async fn finish(&self, mut command: Command, environment: &[(&str, &str)]) {
        // Programs find each other: a package's formatter, for one.
        let own = self.interpreter.with_file_name("");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [own].into_iter().chain(std::env::split_paths(&path));
        let path: OsString = std::env::join_paths(folders).unwrap();
        let output = command
            .env("PATH", path)
            .envs(environment.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .expect("HEADWATER_TEST_PYTHON is an interpreter with the tests' packages");
        assert!(
            output.status.success(),
            "{command:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

pub(crate) fn interpreter() -> PathBuf {
    let set = std::env::var_os("HEADWATER_TEST_PYTHON").filter(|path| !path.is_empty());
    let interpreter = set.expect(
        "HEADWATER_TEST_PYTHON is not set; `cargo xtask test` sets it, or make a virtual \
         environment with crates/integration/requirements.txt and set it to its bin/python",
    );
    interpreter.into()
}

impl Default for Python {
    fn default() -> Self {
        Self::new()
    }
}
