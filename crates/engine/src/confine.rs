//! Confinement by the kernel: every process that runs or reads strangers' code sees a few files, belongs
//! to a user of its own where the node is root, and can ask little of the kernel.
//!
//! A process is started through a launcher: the node's own binary, which confines itself while it has one
//! thread and no code of anybody else, and becomes the program. Responsible for how, and for what this
//! machine offers. Not for which process may see what; [`crate::sandbox`] and the builder say so.

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
    /// Finds out how this machine confines `deno`. Blocks for as long as starting it takes.
    ///
    /// # Errors
    /// The machine cannot confine, and that is not allowed; or nothing can be started at all.
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

    /// The path under which a process sees what is at `host`: `own` where it has a root of its own.
    pub(crate) fn inside(&self, host: &Path, own: &str) -> PathBuf {
        match self.found.method {
            Method::Namespaces => own.into(),
            Method::Landlock | Method::Unconfined => host.to_owned(),
        }
    }

    /// Gives files to the user that processes run as.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        ownership::give(path, self.found.user)
    }

    /// Gives a folder and what is directly in it.
    pub(crate) fn give_shallow(&self, folder: &Path) -> io::Result<()> {
        ownership::give_shallow(folder, self.found.user)
    }

    /// Tells whether a process can be kept from abstract sockets while it has others of their family.
    pub(crate) fn scopes_sockets(&self) -> bool {
        self.found.scopes_sockets
    }

    /// Tells whether processes are restricted in what they may ask of the kernel.
    pub(crate) fn filters_calls(&self) -> bool {
        self.found.filters_calls()
    }

    /// The layers by name, and whether they apply on this machine.
    pub(crate) fn layers(&self) -> BTreeMap<String, bool> {
        self.found.layers()
    }
}

/// Comes back at once: there is nothing to confine with.
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
