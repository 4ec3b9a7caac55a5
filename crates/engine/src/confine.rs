//! Confinement by the kernel: every process that runs or reads untrusted code sees few files, runs as a separate
//! user if the node is root, and has few system calls.
//!
//! A process is started through a launcher: the node's own binary, which confines itself while it has one
//! thread and no foreign code, and becomes the program. Responsible for the mechanisms, and for detecting those that
//! this machine offers. Not for the files that each process may see: the sandbox and the builder decide that.

#[cfg(target_os = "linux")]
mod failure;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod syscalls;

mod config;
mod ownership;
pub(crate) mod plan;
mod probe;
mod spawner;
mod step;
pub(crate) mod system;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::process::{Child, Command};

pub use config::{ConfinementConfig, Launcher};
#[cfg(target_os = "linux")]
pub use launch::launch;
use plan::{Entry, Method};
use probe::Found;
use spawner::Spawner;
pub(crate) use step::Step;

use crate::api::EngineError;

/// The exit code of a launcher that could not start its program.
pub(crate) const FAILED: u8 = 97;

/// Starts confined processes.
#[derive(Debug)]
pub struct Confinement {
    launcher: Launcher,
    deno: PathBuf,
    found: Found,
    system: Vec<Entry>,
    spawner: Spawner,
}

impl Confinement {
    /// Determines how this machine confines `deno`. Blocks while Deno is started once.
    ///
    /// # Errors
    /// The machine cannot confine, and running unconfined is not allowed; or Deno cannot be started.
    pub fn start(config: &ConfinementConfig, deno: &Path) -> Result<Arc<Self>, EngineError> {
        let deno = deno
            .canonicalize()
            .map_err(|error| EngineError::Spawn(format!("{}: {error}", deno.display())))?;
        let system = system::entries(&deno);
        let found = probe::find(config, &deno, &system)
            .map_err(|error| EngineError::Spawn(error.to_string()))?;
        if let Some(reason) = &found.unconfined_because {
            if !config.allow_unconfined {
                return Err(cannot_confine(reason));
            }
            tracing::warn!(
                reason,
                "components run UNCONFINED: a flaw of the JavaScript runtime or a component that is saved may \
                 read whatever this node can read"
            );
        }
        Ok(Arc::new(Self {
            launcher: config.launcher.clone(),
            deno,
            found,
            system,
            spawner: Spawner::start()?,
        }))
    }

    /// A program, to be run as `step` says; its arguments and its environment are still to be given.
    pub(crate) fn command(&self, step: Step<'_>) -> io::Result<Command> {
        self.found
            .command(&self.launcher, &self.deno, &self.system, step)
    }

    /// Starts the command.
    pub(crate) async fn spawn(&self, command: Command) -> io::Result<Child> {
        self.spawner.spawn(command).await
    }

    /// The program that processes run.
    pub(crate) fn deno(&self) -> &Path {
        &self.deno
    }

    /// The path under which a process sees `host`: `own` if it has a root of its own.
    pub(crate) fn inside(&self, host: &Path, own: &str) -> PathBuf {
        match self.found.method {
            Method::Namespaces => own.into(),
            Method::Landlock | Method::Unconfined => host.to_owned(),
        }
    }

    /// Changes the owner of files to the user that processes run as.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        ownership::give(path, self.found.user)
    }

    /// The same for a folder and its direct entries only.
    pub(crate) fn give_shallow(&self, folder: &Path) -> io::Result<()> {
        ownership::give_shallow(folder, self.found.user)
    }

    /// Whether a process can be denied abstract sockets while it has other Unix sockets.
    pub(crate) fn scopes_sockets(&self) -> bool {
        self.found.scopes_sockets
    }

    /// Whether processes' system calls are filtered.
    pub(crate) fn filters_calls(&self) -> bool {
        self.found.filters_calls()
    }

    /// The layers by name, and whether they apply on this machine.
    pub(crate) fn layers(&self) -> BTreeMap<String, bool> {
        self.found.layers()
    }
}

/// Returns at once: this system has no confinement.
#[cfg(not(target_os = "linux"))]
pub fn launch(_arguments: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    std::process::ExitCode::from(FAILED)
}

fn cannot_confine(reason: &str) -> EngineError {
    EngineError::Unavailable {
        context: "components cannot be confined on this machine".into(),
        reason: format!(
            "{reason}. The kernel has to offer user namespaces (sysctl user.max_user_namespaces, \
             kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns; in a container: \
             allow them in its seccomp profile, or give it CAP_SYS_ADMIN) or Landlock (Linux 6.2 and later). \
             To run components of people you trust without it, start with --allow-unconfined"
        ),
    }
}
