//! The trial of the bundler: whether this Deno takes it from its cache. A Deno of another release may want another
//! one, and must not fetch that.
//!
//! Not responsible for fetching or verifying the bundler.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::process::{Child, Command};

use super::{
    VERSION,
    cache_files::{on_disk, unavailable},
    process::{Ended, LIMITS, end_of, piped},
    release::BUNDLER_VERSION,
};
use crate::{
    api::EngineError,
    confine::{
        Confinement, Step,
        plan::{Access, Calls, Entry},
    },
    host_failure,
};

/// The time that Deno may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The module that it bundles, and its text.
const MODULE: (&str, &str) = ("empty.mjs", "export {};\n");
/// An address without a server: a request through this proxy fails.
const NOWHERE: &str = "http://127.0.0.1:9";
/// Deno's name for the package of a bundler that it would fetch.
const WANTS_ANOTHER: &str = "@esbuild/";
/// A trial needs no network.
const CALLS: Calls = Calls {
    ipv4: false,
    ipv6: false,
    unix_sockets: false,
    // Deno starts the bundler.
    processes: true,
};

/// Deno, its cache, and its confinement.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) deno: PathBuf,
    pub(super) deno_dir: PathBuf,
    /// Nothing for commands of a person, who runs Deno and the bundler with their own rights after it.
    pub(super) confinement: Option<Arc<Confinement>>,
}

impl Trial {
    /// Has Deno bundle a test module, without network access.
    pub(super) async fn run(&self) -> Result<(), EngineError> {
        let trial = self.clone();
        let (command, scratch) = on_disk(&self.deno_dir, move || trial.command()).await?;
        let failed = |error: io::Error| EngineError::Spawn(format!("Deno: {error}"));
        let child = self.spawn(command).await.map_err(failed)?;
        let ended = end_of(child, TIMEOUT).await.map_err(failed)?;
        on_disk(&self.deno_dir, move || scratch.close()).await?;
        let Some(ended) = ended else {
            let seconds = TIMEOUT.as_secs();
            return Err(unavailable(&format!("no end after {seconds} s")));
        };
        judge(&ended)
    }

    async fn spawn(&self, command: Command) -> io::Result<Child> {
        match &self.confinement {
            Some(confinement) => confinement.spawn(command).await,
            None => {
                let mut command = command;
                command.spawn()
            }
        }
    }

    /// Deno with what it needs, and the folder that it works in.
    fn command(&self) -> io::Result<(Command, tempfile::TempDir)> {
        let scratch = tempfile::tempdir_in(&self.deno_dir)?;
        fs::write(scratch.path().join(MODULE.0), MODULE.1)?;
        let mut command = match &self.confinement {
            Some(confinement) => self.confined(confinement, scratch.path())?,
            None => {
                let mut command = Command::new(&self.deno);
                command.current_dir(scratch.path());
                command
            }
        };
        let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
        piped(&mut command)
            .args(["bundle", "--quiet", "--no-config", "--no-lock", MODULE.0])
            .env_clear()
            .envs(proxies.map(|name| (name, NOWHERE)))
            .env("DENO_DIR", &self.deno_dir)
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1");
        Ok((command, scratch))
    }

    fn confined(&self, confinement: &Confinement, scratch: &Path) -> io::Result<Command> {
        confinement.give(scratch)?;
        confinement.give_shallow(&self.deno_dir)?;
        let step = Step {
            program: None,
            folder: scratch,
            base: scratch,
            entries: vec![
                Entry::Scratch {
                    path: "/tmp".into(),
                },
                Entry::same(&self.deno_dir, Access::Write),
                Entry::same(
                    &self.deno_dir.join(super::release::BUNDLER_FOLDER),
                    Access::Execute,
                ),
            ],
            limits: LIMITS,
            calls: CALLS,
        };
        let mut command = confinement.command(step)?;
        command.process_group(0);
        Ok(command)
    }
}

fn judge(ended: &Ended) -> Result<(), EngineError> {
    if ended.status.success() {
        return Ok(());
    }
    let told = ended.stderr.trim();
    tracing::warn!(told, status = %ended.status, "Deno does not run the bundler");
    if told.contains(WANTS_ANOTHER) {
        return Err(unavailable(&format!(
            "this Deno does not run the pinned one, esbuild {BUNDLER_VERSION}; use Deno {VERSION}"
        )));
    }
    if let Some(signal) = ended.ended_by_system() {
        return Err(unavailable(&format!(
            "the system ended Deno (signal {signal}), as it does when memory is short; try again"
        )));
    }
    Err(unavailable(
        host_failure::detect(told).unwrap_or("Deno does not run it; see the node's log"),
    ))
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

    use super::{Ended, judge};

    fn told(raw_status: i32, stderr: &str) -> String {
        let ended = Ended {
            status: ExitStatus::from_raw(raw_status),
            stdout: String::new(),
            stderr: stderr.to_owned(),
        };
        judge(&ended).map_or_else(|error| error.to_string(), |()| "good".to_owned())
    }

    #[test]
    fn only_a_bundle_is_success_and_only_its_own_words_tell_of_another_release() {
        let another = "error: Failed loading https://r.example/@esbuild%2flinux-x64 for package \"@esbuild/linux-x64\"";
        for (status, stderr, expected) in [
            (0, "", "good"),
            (1 << 8, another, "use Deno"),
            (1 << 8, "", "does not run it"),
            (
                1 << 8,
                "error: unknown subcommand 'bundle'",
                "does not run it",
            ),
            (
                1 << 8,
                "error: failed to start esbuild",
                "bundler does not start",
            ),
            (1 << 8, "No space left on device (os error 28)", "full"),
            (9, "", "signal 9"),
        ] {
            let told = told(status, stderr);
            assert!(told.contains(expected), "{status} {stderr}: {told}");
        }
    }
}
