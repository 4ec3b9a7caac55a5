//! The command line against a node: what a person sees.

use std::{path::Path, process::Output};

use serde_json::Value;

use crate::{binary, database::DATABASE_URL, dialogue::Dialogue, node::Node};

/// The result of a command.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Seen {
    /// The same, checked to have succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}

impl From<Output> for Seen {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs `headwater ARGUMENTS` in a folder, without any node.
pub async fn headwater_in(folder: &Path, arguments: &[&str]) -> Seen {
    let mut command = tokio::process::Command::new(binary::path());
    command
        .args(arguments)
        .current_dir(folder)
        .kill_on_drop(true);
    command.output().await.unwrap().into()
}

impl Node {
    /// Runs `headwater ARGUMENTS` with this node's address and key.
    pub async fn cli(&self, arguments: &[&str]) -> Seen {
        self.command(arguments).output().await.unwrap().into()
    }

    /// The same, from a folder.
    pub async fn cli_in(&self, folder: &Path, arguments: &[&str]) -> Seen {
        self.command(arguments)
            .current_dir(folder)
            .output()
            .await
            .unwrap()
            .into()
    }

    /// Starts `headwater ARGUMENTS` in a folder, at a terminal.
    pub fn cli_at_terminal(&self, folder: &Path, arguments: &[&str]) -> Dialogue {
        let mut command = self.command(arguments);
        command.current_dir(folder);
        Dialogue::at_terminal(command)
    }

    /// Starts `headwater ARGUMENTS` in a folder, for commands that go on.
    pub fn start_cli(&self, folder: &Path, arguments: &[&str]) -> Dialogue {
        let mut command = self.command(arguments);
        command.current_dir(folder);
        Dialogue::piped(command)
    }

    /// A shell in a folder that runs `script`, with this node's address and key, and the binary in its `PATH`. The folder
    /// is the home, and its `bin` comes first in the `PATH`.
    pub fn shell(&self, folder: &Path, script: &str) -> tokio::process::Command {
        let binaries = binary::path();
        let binaries = binaries.parent().expect("the binary is in a folder");
        let others = std::env::var("PATH").unwrap_or_default();
        let mut command = tokio::process::Command::new("bash");
        command
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(folder)
            .env("HOME", folder)
            .env(
                "PATH",
                format!(
                    "{}:{}:{others}",
                    folder.join("bin").display(),
                    binaries.display()
                ),
            );
        self.as_client(command)
    }

    /// The command itself, not started yet.
    pub fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(binary::path());
        command.args(arguments);
        self.as_client(command)
    }

    fn as_client(&self, mut command: tokio::process::Command) -> tokio::process::Command {
        command
            .env("HEADWATER_URL", self.url())
            .env("HEADWATER_API_KEY", self.api_key())
            .env("HEADWATER_DATA_DIR", self.data_dir())
            .envs(self.database_url().map(|url| (DATABASE_URL, url)))
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true);
        command
    }
}
