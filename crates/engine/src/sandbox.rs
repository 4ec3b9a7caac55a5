//! Starting JavaScript processes in a sandbox.
//!
//! Responsible for: Deno's command line, and the files that a component's process sees. Not for: kernel confinement,
//! the protocol with a process, or when it has to end.

mod command_line;
mod config;
mod permissions;
mod runtime_cache;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use tokio::process::Child;

use command_line::CommandLine;
pub(crate) use command_line::check_path;
pub(crate) use config::SandboxConfig;
pub(crate) use permissions::{Folders, Permissions};

use crate::{api::EngineError, confine::plan::Access, shared_modules::SharedModule};
use runtime_cache::RuntimeCache;

/// Starts processes.
#[derive(Debug)]
pub(crate) struct Sandbox {
    command_line: CommandLine,
    /// Deno's cache; no process can write there.
    cache: RuntimeCache,
}

impl Sandbox {
    /// # Errors
    /// The folder of Deno's cache cannot be prepared.
    pub(crate) fn new(config: SandboxConfig) -> Result<Self, EngineError> {
        let cache_dir = config.cache_dir.clone();
        let unusable = |error: io::Error| EngineError::Unavailable {
            context: format!("preparing Deno's cache in {}", cache_dir.display()),
            reason: error.to_string(),
        };
        let command_line = CommandLine::new(config).map_err(unusable)?;
        let cache = RuntimeCache::open(&command_line).map_err(unusable)?;
        Ok(Self {
            command_line,
            cache,
        })
    }

    /// Has later processes find this module compiled. Returns at once.
    pub(crate) fn learn(self: &Arc<Self>, module: &SharedModule) {
        if self.cache.wants(module) {
            let (sandbox, module) = (Arc::clone(self), module.clone());
            tokio::task::spawn_blocking(move || {
                sandbox.cache.learn(&sandbox.command_line, module);
            });
        }
    }

    /// Starts a process.
    ///
    /// # Errors
    /// The process cannot be started, or a path cannot be passed to Deno.
    pub(crate) async fn spawn(&self, permissions: &Permissions) -> Result<Child, EngineError> {
        let failed = |error: io::Error| EngineError::Spawn(format!("Deno: {error}"));
        let mut command = self
            .command_line
            .command(permissions, &self.cache.place(), Access::Read)
            .map_err(failed)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let spawned = self.command_line.config.confinement.spawn(command).await;
        spawned.map_err(failed)
    }

    /// The folder of the modules that components share, which every process sees.
    pub(crate) fn shared_modules(&self) -> &Path {
        &self.command_line.shared_modules
    }

    /// The path under which a process sees its code at `code`.
    pub(crate) fn seen_code(&self, code: &Path) -> PathBuf {
        self.command_line.seen_code(code)
    }

    /// The path under which it sees the folder of further components at `beside`.
    pub(crate) fn seen_beside(&self, beside: &Path) -> PathBuf {
        self.command_line.seen_beside(beside)
    }

    /// The path under which it sees the folder of sockets at `sockets`.
    pub(crate) fn seen_sockets(&self, sockets: &Path) -> PathBuf {
        self.command_line.seen_sockets(sockets)
    }

    /// Changes the owner of files to the user that processes run as.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        self.command_line.config.confinement.give(path)
    }

    /// Whether a process with a socket of the node can be denied other sockets of this machine.
    pub(crate) fn scopes_sockets(&self) -> bool {
        self.command_line.config.confinement.scopes_sockets()
    }

    /// Whether processes' system calls are filtered.
    pub(crate) fn filters_calls(&self) -> bool {
        self.command_line.config.confinement.filters_calls()
    }

    /// The layers of the sandbox by name, and whether they apply on this machine.
    pub(crate) fn layers(&self) -> BTreeMap<String, bool> {
        let mut layers = self.command_line.config.confinement.layers();
        let ipv6 = self.filters_calls() || !self.command_line.config.network.needs_ipv6_off();
        layers.insert("ipv6_policy".into(), ipv6);
        layers
    }
}
