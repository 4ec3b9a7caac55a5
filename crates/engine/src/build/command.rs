//! Running Deno as a tool: with the settings of the user's package client and nothing else of the
//! environment, within a time and an amount of output.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::process::{Child, Command};

pub(super) use super::settings::Purpose;
use super::{
    failure::{BuildResult, blocking},
    settings::Settings,
};
use crate::{
    api::EngineError,
    confine::{
        Confinement, FAILED, Step,
        plan::{Access, Calls, Entry},
    },
    deno::{
        BUNDLER_FOLDER, Bundler,
        process::{Ended, LIMITS, end_of, piped},
    },
    host_failure,
};

/// The time that one step may take, downloads included.
const STEP_TIMEOUT: Duration = Duration::from_secs(180);

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

/// Deno's mode: confined or with the caller's rights.
#[derive(Debug, Clone)]
pub(super) enum Program {
    /// A step on untrusted code: it sees the cache, the folder of its build, and the system's libraries.
    Confined(Arc<Confinement>),
    /// A step that runs with the rights of the person who started it.
    OnOwnFiles(PathBuf),
}

/// A step that has its program and its folders.
#[derive(Debug, Clone)]
struct Task {
    purpose: Purpose,
    /// The program; Deno if none is named.
    program: Option<PathBuf>,
    /// The folder that it starts in.
    folder: PathBuf,
    /// A folder that it writes to, besides that of its build.
    output: Option<PathBuf>,
}

/// The output of a step.
#[derive(Debug)]
pub(super) struct StepOutput {
    pub(super) success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl DenoTool {
    /// Runs Deno in `folder`.
    pub(super) async fn run<I>(
        &self,
        purpose: Purpose,
        folder: &Path,
        arguments: I,
    ) -> Result<StepOutput, EngineError>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let task = Task {
            purpose,
            program: None,
            folder: folder.to_owned(),
            output: None,
        };
        self.finish(task, arguments).await
    }

    /// Runs the bundler in `folder`: it reads files there, and in Deno's cache, and writes to `output` only.
    pub(super) async fn read_files<I>(
        &self,
        folder: &Path,
        output: &Path,
        arguments: I,
    ) -> Result<StepOutput, EngineError>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let task = Task {
            purpose: Purpose::Files,
            program: Some(self.bundler.ready().await?),
            folder: folder.to_owned(),
            output: Some(output.to_owned()),
        };
        self.finish(task, arguments).await
    }

    /// A folder among those of builds, which is removed with the value.
    pub(super) async fn scratch(&self, prefix: &'static str) -> BuildResult<tempfile::TempDir> {
        let builds = self.builds_dir();
        let made = move || tempfile::Builder::new().prefix(prefix).tempdir_in(builds);
        blocking(&self.builds_dir(), made).await
    }

    /// Creates the folder of builds, where no builder has.
    pub(super) async fn prepare(&self) -> Result<(), EngineError> {
        let builds = self.builds_dir();
        let created = tokio::fs::create_dir_all(&builds).await;
        created.map_err(|error| EngineError::Unavailable {
            context: format!("cannot create the folder {}", builds.display()),
            reason: error.to_string(),
        })
    }

    /// The folder in which those of builds are.
    fn builds_dir(&self) -> PathBuf {
        self.deno_dir.with_file_name(super::layout::BUILDS)
    }

    async fn finish<I>(&self, task: Task, arguments: I) -> Result<StepOutput, EngineError>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let purpose = task.purpose;
        let tool = self.clone();
        // Files get other owners, and settings are read and written.
        let prepared = tokio::task::spawn_blocking(move || tool.command(&task)).await;
        let mut command = prepared
            .map_err(io::Error::other)
            .and_then(|command| command)
            .map_err(spawn_error)?;
        command.args(arguments);
        let child = self.spawn(command).await.map_err(spawn_error)?;
        let ended = end_of(child, STEP_TIMEOUT).await.map_err(spawn_error)?;
        let ended = ended.ok_or_else(|| timed_out(purpose))?;
        if ended.status.code() == Some(FAILED.into()) {
            return Err(EngineError::Spawn(ended.stderr.trim().to_owned()));
        }
        if let Some(signal) = ended.ended_by_system() {
            return Err(ended_by_system(signal));
        }
        let output = StepOutput::of(ended);
        output.failure_of_host().map_or(Ok(output), Err)
    }

    async fn spawn(&self, mut command: Command) -> io::Result<Child> {
        match &self.program {
            Program::Confined(confinement) => confinement.spawn(command).await,
            Program::OnOwnFiles(_) => command.spawn(),
        }
    }

    /// The command of a step, but for its arguments.
    fn command(&self, task: &Task) -> io::Result<Command> {
        let (mut command, registry_env) = match &self.program {
            Program::Confined(confinement) => self.confined(confinement, task)?,
            // In its starter's process group, so that a terminal's interrupt ends it too.
            Program::OnOwnFiles(deno) => {
                let mut command = Command::new(task.program.as_ref().unwrap_or(deno));
                command.current_dir(&task.folder);
                (command, self.registry_env.clone())
            }
        };
        piped(&mut command)
            .env_clear()
            // The machine's certificates besides the built-in ones, as package clients have it; the user's word wins.
            .env("DENO_TLS_CA_STORE", "mozilla,system")
            .envs(registry_env)
            .env("DENO_DIR", &self.deno_dir)
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1");
        Ok(command)
    }

    /// The program in a process group of its own, and the settings for its environment.
    fn confined(
        &self,
        confinement: &Confinement,
        task: &Task,
    ) -> io::Result<(Command, Vec<(OsString, OsString)>)> {
        let build = self.build_folder(&task.folder);
        let root = build.unwrap_or(&task.folder);
        let settings = Settings::of(&self.registry_env, task.purpose, root)?;
        // If processes run as another user, files that the node wrote since the last step are given to it. Files in the
        // cache are read as they are.
        if let Some(build) = build {
            confinement.give(build)?;
        }
        match &task.output {
            Some(output) => confinement.give(output)?,
            None => confinement.give_shallow(&self.deno_dir)?,
        }
        let reaches_network = task.purpose != Purpose::Files;
        let step = Step {
            program: task.program.as_deref(),
            folder: &task.folder,
            base: task.output.as_deref().unwrap_or(root),
            entries: self.entries(task, root, settings.entries),
            limits: LIMITS,
            calls: Calls {
                ipv4: reaches_network,
                ipv6: reaches_network,
                unix_sockets: false,
                // Deno starts the bundler.
                processes: true,
            },
        };
        let mut command = confinement.command(step)?;
        // The bundler that Deno starts has to end with it.
        command.process_group(0);
        Ok((command, settings.env))
    }

    /// The folder of the whole build, in which a step may run in an inner one; nothing for a folder of the cache.
    fn build_folder<'a>(&self, folder: &'a Path) -> Option<&'a Path> {
        let builds = self.builds_dir();
        let mut outer = folder.ancestors();
        outer.find(|path| path.parent() == Some(&builds))
    }

    /// The files that a step sees: no other build, no file of the node.
    ///
    /// Deno writes to its cache while it gets packages, and while it reads code: its findings about modules are
    /// kept there, and a missing package is downloaded. The bundler does not write there.
    fn entries(&self, task: &Task, root: &Path, settings: Vec<Entry>) -> Vec<Entry> {
        let access = match task.purpose {
            Purpose::Files => Access::Read,
            Purpose::Registry | Purpose::Code => Access::Write,
        };
        // Outer folders first: the others may be below it.
        let mut entries = vec![Entry::Scratch {
            path: "/tmp".into(),
        }];
        entries.extend(settings);
        entries.extend([
            Entry::same(&self.deno_dir, access),
            // In the cache, only the bundler can be executed, and not changed.
            Entry::same(&self.deno_dir.join(BUNDLER_FOLDER), Access::Execute),
            Entry::same(root, access),
        ]);
        let output = task.output.as_ref();
        entries.extend(output.map(|output| Entry::same(output, Access::Write)));
        entries
    }
}

fn spawn_error(error: io::Error) -> EngineError {
    EngineError::Spawn(format!("a step of a build: {error}"))
}

fn timed_out(purpose: Purpose) -> EngineError {
    let seconds = STEP_TIMEOUT.as_secs();
    let (context, guess) = match purpose {
        Purpose::Registry => (
            "resolving a component's packages",
            "the package registry may be out of reach",
        ),
        Purpose::Code | Purpose::Files => (
            "reading a component's code",
            "the machine may be short of memory or of time; try again",
        ),
    };
    EngineError::Unavailable {
        context: context.into(),
        reason: format!("it did not end within {seconds} s; {guess}"),
    }
}

fn ended_by_system(signal: i32) -> EngineError {
    EngineError::Unavailable {
        context: "building a component".into(),
        reason: format!(
            "a step of the build was ended by the system (signal {signal}), as it does when memory is short; try again"
        ),
    }
}

impl StepOutput {
    fn of(ended: Ended) -> Self {
        let success = ended.status.success();
        let mut stderr = ended.stderr;
        if !success && stderr.trim().is_empty() {
            stderr = format!("error: it ended with {} without a message", ended.status);
        }
        Self {
            success,
            stdout: ended.stdout,
            stderr,
        }
    }

    /// The host's error behind a failed step of any kind.
    fn failure_of_host(&self) -> Option<EngineError> {
        let reason = host_failure::detect(&self.stderr).filter(|_| !self.success)?;
        tracing::warn!(stderr = self.error(), "a step of a build failed");
        Some(EngineError::Unavailable {
            context: "building a component".into(),
            reason: reason.to_owned(),
        })
    }

    /// The host's error behind a failed step, if the registry did not answer.
    pub(super) fn unavailable(&self) -> Option<EngineError> {
        let signs = [
            "Failed loading ",
            "error sending request",
            "Could not download",
        ];
        if self.success {
            return None;
        }
        let own = host_failure::own_text(&self.stderr);
        let found = signs.iter().any(|sign| own.contains(sign));
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

/// Advice of Deno for its direct users, which does not apply to authors of components.
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

/// The registry is unavailable.
pub(super) fn unavailable(reason: &str) -> EngineError {
    EngineError::Unavailable {
        context: "getting packages from the registry".into(),
        reason: format!(
            "{reason}; check the connection and the npm settings (NPM_CONFIG_REGISTRY, .npmrc, proxy)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

    use super::*;
    use crate::deno::BundlerSource;

    #[test]
    fn the_bundler_by_itself_writes_to_its_output_only() {
        let source = BundlerSource {
            deno: "/deno".into(),
            kept_in: None,
            registry_env: Vec::new(),
        };
        let tool = DenoTool {
            program: Program::OnOwnFiles("/deno".into()),
            bundler: Arc::new(Bundler::new(source, "/cache/deno-dir".into())),
            deno_dir: "/cache/deno-dir".into(),
            registry_env: Vec::new(),
        };
        let build = Path::new("/cache/builds/build-1");
        let output = Path::new("/cache/builds/inspect-1");
        let task = Task {
            purpose: Purpose::Files,
            program: None,
            folder: build.join("code"),
            output: Some(output.to_owned()),
        };
        assert_eq!(tool.build_folder(&task.folder), Some(build));
        let entries = tool.entries(&task, build, Vec::new());
        let written = entries.iter().filter_map(|entry| match entry {
            Entry::View { path, access, .. } => (*access == Access::Write).then_some(&**path),
            _ => None,
        });
        assert_eq!(Vec::from_iter(written), [output]);
        let package = Path::new("/cache/deno-dir/npm/r.example/a/1.0.0");
        assert_eq!(tool.build_folder(package), None);
    }

    fn failed(raw_status: i32, stderr: &str) -> StepOutput {
        StepOutput::of(Ended {
            status: ExitStatus::from_raw(raw_status),
            stdout: String::new(),
            stderr: stderr.to_owned(),
        })
    }

    #[test]
    fn only_steps_that_ask_the_registry_ask_about_it_when_they_take_too_long() {
        for (purpose, expected) in [
            (Purpose::Registry, true),
            (Purpose::Code, false),
            (Purpose::Files, false),
        ] {
            let told = timed_out(purpose).to_string();
            assert_eq!(told.contains("registry"), expected, "{told}");
            assert!(told.contains("180 s"), "{told}");
        }
        let told = ended_by_system(9).to_string();
        assert!(
            told.contains("signal 9") && told.contains("try again"),
            "{told}"
        );
    }

    #[test]
    fn a_step_that_says_nothing_is_told_by_how_it_ended() {
        let told = failed(6, "").error();
        assert!(told.contains("signal: 6"), "{told}");
        assert_eq!(failed(1 << 8, "error: it is so\n").error(), "it is so");
    }

    #[test]
    fn a_line_of_source_is_no_failure_of_the_host() {
        let frame =
            "✘ [ERROR] Expected \";\"\n\n    a.mjs:1:1:\n      1 │ no space left on device\n";
        let quoted = failed(1 << 8, frame);
        assert!(quoted.failure_of_host().is_none() && quoted.unavailable().is_none());
        let full = failed(1 << 8, "error: write /data/a: no space left on device");
        assert!(full.failure_of_host().is_some());
        assert!(
            failed(1 << 8, "Could not download a")
                .unavailable()
                .is_some()
        );
    }
}
