//! Running Deno as a tool: with the settings of the user's package client and nothing else of the
//! environment, within a time and an amount of output.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
};

use crate::api::EngineError;

/// How long one step may take, downloads included.
const STEP_TIMEOUT: Duration = Duration::from_secs(180);
/// How much output of a step is kept; the graph of a large package is about a megabyte.
const OUTPUT_BYTES: u64 = 32 * 1024 * 1024;

/// Deno with its cache folder and the user's registry settings.
#[derive(Debug, Clone)]
pub(super) struct DenoTool {
    pub(super) deno: PathBuf,
    /// Deno's own cache (`DENO_DIR`): packages as downloaded.
    pub(super) deno_dir: PathBuf,
    /// Settings of registries, proxies and certificates.
    pub(super) registry_env: Vec<(OsString, OsString)>,
}

/// What a step printed.
#[derive(Debug)]
pub(super) struct StepOutput {
    pub(super) success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl DenoTool {
    /// Runs `deno ARGUMENTS` in `folder`.
    pub(super) async fn run<I>(
        &self,
        folder: &Path,
        arguments: I,
    ) -> Result<StepOutput, EngineError>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let mut command = Command::new(&self.deno);
        command
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            // The machine's certificates besides the built-in ones, as package clients have it; the user's word wins.
            .env("DENO_TLS_CA_STORE", "mozilla,system")
            .envs(self.registry_env.iter().cloned())
            .env("DENO_DIR", &self.deno_dir)
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let spawn_error =
            |error: std::io::Error| EngineError::Spawn(format!("{}: {error}", self.deno.display()));
        let mut child = command.spawn().map_err(spawn_error)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let finished = async { tokio::join!(read(stdout), read(stderr), child.wait()) };
        let Ok((stdout, stderr, status)) = tokio::time::timeout(STEP_TIMEOUT, finished).await
        else {
            let reason = format!(
                "no end after {} s; is the package registry reachable?",
                STEP_TIMEOUT.as_secs()
            );
            return Err(EngineError::Unavailable {
                context: "resolving a component's packages".into(),
                reason,
            });
        };
        Ok(StepOutput {
            success: status.map_err(spawn_error)?.success(),
            stdout,
            stderr,
        })
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // A broken pipe ends the output like an end of file; the exit status tells the rest.
        let _ = pipe.take(OUTPUT_BYTES).read_to_end(&mut bytes).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl StepOutput {
    /// The host's error behind a failed step, when it is the registry that did not answer.
    pub(super) fn unavailable(&self) -> Option<EngineError> {
        let signs = [
            "Failed loading ",
            "error sending request",
            "Could not download",
        ];
        let found = !self.success && signs.iter().any(|sign| self.stderr.contains(sign));
        found.then(|| unavailable(&self.error()))
    }

    /// The error that Deno printed, without its progress lines and backtrace.
    pub(super) fn error(&self) -> String {
        let text = self
            .stderr
            .split("\nStack backtrace:")
            .next()
            .unwrap_or_default();
        let kept = text.lines().filter(|line| !is_progress(line));
        let text = kept.collect::<Vec<_>>().join("\n");
        let text = text
            .trim()
            .trim_end_matches("error: bundling failed")
            .trim();
        text.strip_prefix("error: ").unwrap_or(text).to_owned()
    }
}

fn is_progress(line: &str) -> bool {
    [
        "Download ",
        "Initialize ",
        "⚠️",
        "Packages: ",
        "bundler warning: ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

/// The registry cannot be had.
pub(super) fn unavailable(reason: &str) -> EngineError {
    EngineError::Unavailable {
        context: "getting packages from the registry".into(),
        reason: format!(
            "{reason}; check the connection and the npm settings (NPM_CONFIG_REGISTRY, .npmrc, proxy)"
        ),
    }
}
