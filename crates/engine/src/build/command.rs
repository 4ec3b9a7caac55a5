//! Running Deno as a tool: with the settings of the user's package client and nothing else of the
//! environment, within a time and an amount of output.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
};

pub(super) use super::settings::Purpose;
use super::settings::Settings;
use crate::{
    api::EngineError,
    confine::{
        Confinement, FAILED, Step,
        plan::{Access, Calls, Entry, Limits},
    },
    deno::Bundler,
    host_failure,
};

/// How long one step may take, downloads included.
const STEP_TIMEOUT: Duration = Duration::from_secs(180);
/// Where Deno's cache has the one program that a step starts.
const BUNDLER: &str = "dl";
/// The limits of a step. Of the memory, Deno reserves half a GiB before it does anything.
const LIMITS: Limits = Limits {
    data_bytes: 3 << 30,
    file_bytes: 512 << 20,
    open_files: 4096,
    niceness: 5,
};
/// How much output of a step is kept; the graph of a large package is about a megabyte.
const OUTPUT_BYTES: u64 = 32 * 1024 * 1024;

/// Deno with its cache folder and the user's registry settings.
#[derive(Debug, Clone)]
pub(super) struct DenoTool {
    pub(super) program: Program,
    /// The bundler, which Deno finds in its cache.
    pub(super) bundler: Arc<Bundler>,
    /// Deno's own cache (`DENO_DIR`): packages as downloaded.
    pub(super) deno_dir: PathBuf,
    /// Settings of registries, proxies and certificates.
    pub(super) registry_env: Vec<(OsString, OsString)>,
}

/// Deno, and whose files it reads.
#[derive(Debug, Clone)]
pub(super) enum Program {
    /// Of strangers: it sees the cache, the folder of its build, and what every program needs.
    Confined(Arc<Confinement>),
    /// Of the person who started it, with whose rights it runs.
    OnOwnFiles(PathBuf),
}

/// What a step printed.
#[derive(Debug)]
pub(super) struct StepOutput {
    pub(super) success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl DenoTool {
    /// Runs what the purpose needs in `folder`: Deno, or the bundler where files are all that is read.
    pub(super) async fn run<I>(
        &self,
        purpose: Purpose,
        folder: &Path,
        arguments: I,
    ) -> Result<StepOutput, EngineError>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let bundler = match purpose {
            Purpose::Files => Some(self.bundler.ready().await?),
            Purpose::Registry | Purpose::Code => None,
        };
        let program = bundler.as_deref();
        let (mut command, registry_env) = self.command(program, purpose, folder)?;
        command
            .args(arguments)
            .env_clear()
            // The machine's certificates besides the built-in ones, as package clients have it; the user's word wins.
            .env("DENO_TLS_CA_STORE", "mozilla,system")
            .envs(registry_env)
            .env("DENO_DIR", &self.deno_dir)
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = match &self.program {
            Program::Confined(confinement) => confinement.spawn(command).await,
            Program::OnOwnFiles(_) => command.spawn(),
        }
        .map_err(spawn_error)?;
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
        let status = status.map_err(spawn_error)?;
        if status.code() == Some(FAILED.into()) {
            return Err(EngineError::Spawn(stderr.trim().to_owned()));
        }
        let output = StepOutput {
            success: status.success(),
            stdout,
            stderr,
        };
        output.failure_of_host().map_or(Ok(output), Err)
    }

    /// The program, which is Deno if no other is named, in `folder`; and the settings for its environment.
    fn command(
        &self,
        program: Option<&Path>,
        purpose: Purpose,
        folder: &Path,
    ) -> Result<(Command, Vec<(OsString, OsString)>), EngineError> {
        let confinement = match &self.program {
            Program::Confined(confinement) => confinement,
            Program::OnOwnFiles(deno) => {
                let mut command = Command::new(program.unwrap_or(deno));
                command.current_dir(folder);
                return Ok((command, self.registry_env.clone()));
            }
        };
        // Where processes are another user, what the node wrote since the last step is theirs, too.
        let root = self.build_folder(folder);
        let settings = Settings::of(&self.registry_env, purpose, root).map_err(spawn_error)?;
        confinement.give(root).map_err(spawn_error)?;
        confinement
            .give_shallow(&self.deno_dir)
            .map_err(spawn_error)?;
        let step = Step {
            program,
            folder,
            base: root,
            entries: self.entries(root, settings.entries),
            limits: LIMITS,
            calls: Calls {
                ipv4: purpose != Purpose::Files,
                ipv6: purpose != Purpose::Files,
                unix_sockets: false,
                // Deno starts the bundler.
                processes: true,
            },
        };
        let command = confinement.command(step).map_err(spawn_error)?;
        Ok((command, settings.env))
    }

    /// The folder of the whole build, in which a step may run in an inner one.
    fn build_folder<'a>(&self, folder: &'a Path) -> &'a Path {
        let builds = self.deno_dir.with_file_name(super::BUILDS);
        let mut outer = folder.ancestors();
        outer
            .find(|path| path.parent() == Some(&builds))
            .unwrap_or(folder)
    }

    /// The view of a step: no other build, no file of the node.
    fn entries(&self, root: &Path, settings: Vec<Entry>) -> Vec<Entry> {
        let bundler = self.deno_dir.join(BUNDLER);
        // Of the cache only the bundler can be run, and not changed.
        // Outer folders first: the others may be below it.
        let mut entries = vec![Entry::Scratch {
            path: "/tmp".into(),
        }];
        entries.extend(settings);
        entries.extend([
            Entry::same(&self.deno_dir, Access::Write),
            Entry::same(&bundler, Access::Execute),
            Entry::same(root, Access::Write),
        ]);
        entries
    }
}

fn spawn_error(error: std::io::Error) -> EngineError {
    EngineError::Spawn(format!("a step of a build: {error}"))
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
    /// The host's error behind a failed step, whatever the step was for.
    fn failure_of_host(&self) -> Option<EngineError> {
        let reason = host_failure::told_by(&self.stderr).filter(|_| !self.success)?;
        tracing::warn!(stderr = self.error(), "a step of a build failed");
        Some(EngineError::Unavailable {
            context: "building a component".into(),
            reason: reason.to_owned(),
        })
    }

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
        let kept = text
            .lines()
            .filter(|line| !is_progress(line) && !is_advice(line));
        let text = kept.collect::<Vec<_>>().join("\n");
        let text = text
            .trim()
            .trim_end_matches("error: bundling failed")
            .trim();
        text.strip_prefix("error: ").unwrap_or(text).to_owned()
    }
}

/// Advice of Deno for those who run it themselves, which nobody who saves a component does.
fn is_advice(line: &str) -> bool {
    let line = line.trim_start();
    [
        "hint:",
        "help:",
        "info:",
        "docs:",
        "note: You can mark",
        "note: To use a ",
        "Run `deno ",
        "Try running `deno ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
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
