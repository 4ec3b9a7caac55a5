//! Starting JavaScript processes that cannot do harm.
//!
//! Responsible for: Deno's command line, and what of the machine a process that runs a component sees.
//! Not for: how the kernel is told so, what is said to a process, or when it has to end.

mod runtime_cache;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use tokio::process::{Child, Command};

use crate::{
    api::EngineError,
    confine::{
        Confinement, Step,
        plan::{Access, Calls, Entry, Limits},
        system,
    },
    network::NetworkPolicy,
    runtime_files::RuntimeFiles,
};

/// Harmless facts of the machine that common packages ask for as they load (`os.release()` for a user agent).
const SYSTEM_FACTS: &str = "--allow-sys=cpus,hostname,homedir,loadavg,osRelease,osUptime,systemMemoryInfo,uid,gid,username";
/// A single file that a component may write.
const FILE_BYTES: u64 = 512 * 1024 * 1024;
/// Open files and sockets.
const OPEN_FILES: u64 = 1024;
/// Writable memory besides the heap. Deno reserves half a GiB of it before it runs anything, and the
/// pool ends a process that uses much less than this; but it looks from time to time, and a component
/// must not be able to take the machine's memory in between.
const DATA_BYTES_BESIDES_HEAP: u64 = 3 * 1024 * 1024 * 1024;
/// The degree to which components stand back for the node, which serves all of them.
const NICENESS: i32 = 5;

/// Paths as a process sees them where it has a root of its own.
mod own {
    pub(super) const CODE: &str = "/code";
    pub(super) const BESIDE: &str = "/beside";
    pub(super) const TMP: &str = "/tmp";
    pub(super) const SOCKETS: &str = "/sockets";
    pub(super) const RUNTIME: &str = "/runtime";
    pub(super) const DENO_DIR: &str = "/deno-dir";
    pub(super) const CA_FILE: &str = "/ca-certificates.pem";
}

/// The folders of one process, as the machine has them.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    /// The code that it runs; it cannot write there.
    pub(crate) code: PathBuf,
    /// The folder of the code of further components, where it cannot write either.
    pub(crate) beside: Option<PathBuf>,
    /// The only place where it can write, if there is one.
    pub(crate) tmp: Option<PathBuf>,
    /// The folder of the socket of the node's own API, if it may reach that.
    pub(crate) sockets: Option<PathBuf>,
}

/// The rights of one process.
#[derive(Debug, Clone)]
pub(crate) struct Permissions {
    pub(crate) folders: Folders,
    /// Tells whether it may reach what the network policy allows, or nothing.
    pub(crate) network: bool,
    /// V8's heap.
    pub(crate) heap_mib: u32,
}

/// The things that all processes have in common.
#[derive(Debug, Clone)]
pub(crate) struct SandboxConfig {
    /// Keeps processes from the machine.
    pub(crate) confinement: Arc<Confinement>,
    /// The folder in which Deno's cache for the runtime's own modules is created.
    pub(crate) cache_dir: PathBuf,
    /// The runtime that processes run.
    pub(crate) runtime: RuntimeFiles,
    /// The addresses that they may reach.
    pub(crate) network: NetworkPolicy,
    /// A PEM file with the certificates that they trust besides the web's authorities.
    pub(crate) ca_file: Option<PathBuf>,
}

/// Starts processes.
#[derive(Debug)]
pub(crate) struct Sandbox {
    config: SandboxConfig,
    /// Deno's cache, complete; no process can write there.
    deno_dir: PathBuf,
    deny_net: Vec<String>,
}

impl Sandbox {
    /// # Errors
    /// The folder of Deno's cache cannot be prepared.
    pub(crate) fn new(config: SandboxConfig) -> Result<Self, EngineError> {
        let deny_net = config.network.deny_net_ranges();
        let mut sandbox = Self {
            deno_dir: runtime_cache::place(&config),
            config,
            deny_net,
        };
        runtime_cache::prepare(&mut sandbox).map_err(|error| EngineError::Unavailable {
            context: format!("preparing the folder {}", sandbox.deno_dir.display()),
            reason: error.to_string(),
        })?;
        Ok(sandbox)
    }

    /// Starts a process.
    ///
    /// # Errors
    /// The process cannot be started, or Deno cannot be told of a path.
    pub(crate) async fn spawn(&self, permissions: &Permissions) -> Result<Child, EngineError> {
        let failed = |error: io::Error| EngineError::Spawn(format!("Deno: {error}"));
        let mut command = self.command(permissions, Access::Read).map_err(failed)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let spawned = self.config.confinement.spawn(command).await;
        spawned.map_err(failed)
    }

    /// The place where a process sees its code that is at `code`.
    pub(crate) fn seen_code(&self, code: &Path) -> PathBuf {
        self.inside(code, own::CODE)
    }

    /// The place where it sees the folder of further components that is at `beside`.
    pub(crate) fn seen_beside(&self, beside: &Path) -> PathBuf {
        self.inside(beside, own::BESIDE)
    }

    /// The place where it sees the folder of sockets that is at `sockets`.
    pub(crate) fn seen_sockets(&self, sockets: &Path) -> PathBuf {
        self.inside(sockets, own::SOCKETS)
    }

    /// Gives files that processes use to the user that they run as.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        self.config.confinement.give(path)
    }

    /// Tells whether a process that has a socket of the node's can be kept from others of this machine.
    pub(crate) fn scopes_sockets(&self) -> bool {
        self.config.confinement.scopes_sockets()
    }

    /// Tells whether processes are restricted in what they may ask of the kernel.
    pub(crate) fn filters_calls(&self) -> bool {
        self.config.confinement.filters_calls()
    }

    /// The layers of the sandbox by name, and whether they apply on this machine.
    pub(crate) fn layers(&self) -> BTreeMap<String, bool> {
        let mut layers = self.config.confinement.layers();
        let ipv6 = self.filters_calls() || !self.config.network.needs_ipv6_off();
        layers.insert("ipv6_policy".into(), ipv6);
        layers
    }

    fn inside(&self, host: &Path, own: &str) -> PathBuf {
        self.config.confinement.inside(host, own)
    }

    /// Deno with what it may do, and with its cache to read or to write.
    fn command(&self, permissions: &Permissions, cache: Access) -> io::Result<Command> {
        let folders = &permissions.folders;
        let code = self.seen_code(&folders.code);
        let step = Step {
            program: None,
            folder: &code,
            base: &folders.code,
            entries: self.entries(folders, cache),
            limits: Limits {
                data_bytes: (u64::from(permissions.heap_mib) << 20) + DATA_BYTES_BESIDES_HEAP,
                file_bytes: FILE_BYTES,
                open_files: OPEN_FILES,
                niceness: NICENESS,
            },
            calls: Calls {
                ipv4: permissions.network,
                ipv6: permissions.network && !self.config.network.needs_ipv6_off(),
                unix_sockets: folders.sockets.is_some(),
                processes: false,
            },
        };
        let mut command = self.config.confinement.command(step)?;
        command.args(["run", "--quiet", "--no-prompt", "--no-config"]);
        command.args(["--no-remote", "--cached-only", "--no-lock"]);
        command.args(["--node-modules-dir=manual", "--allow-env", SYSTEM_FACTS]);
        if permissions.network {
            command.arg("--allow-net");
            if !self.deny_net.is_empty() {
                command.arg(format!("--deny-net={}", self.deny_net.join(",")));
            }
        }
        self.allow_files(&mut command, folders)?;
        let runtime = &self.config.runtime;
        let runtime_dir = self.inside(&runtime.folder, own::RUNTIME);
        command
            .arg(flag_with_paths(
                "--import-map=",
                &[runtime_dir.join(runtime.import_map())],
            ))
            .arg(format!(
                "--v8-flags=--max-old-space-size={}",
                permissions.heap_mib
            ))
            .arg(runtime_dir.join(runtime.main()));
        let tmp = folders.tmp.as_ref().unwrap_or(&folders.code);
        let tmp = self.inside(tmp, own::TMP);
        command.env_clear();
        if let Some(ca_file) = &self.config.ca_file {
            command.env("DENO_CERT", self.inside(ca_file, own::CA_FILE));
        }
        command
            .env("TMPDIR", &tmp)
            .env("HOME", &tmp)
            .env("DENO_DIR", self.inside(&self.deno_dir, own::DENO_DIR))
            .env("NO_COLOR", "1")
            .env("DENO_NO_UPDATE_CHECK", "1");
        Ok(command)
    }

    /// Files that a process sees besides those that every process sees.
    fn entries(&self, folders: &Folders, cache: Access) -> Vec<Entry> {
        let see =
            |host: &Path, own: &str, access| Entry::view(host, &self.inside(host, own), access);
        let config = &self.config;
        let mut entries = system::facts();
        entries.extend([
            see(&config.runtime.folder, own::RUNTIME, Access::Read),
            see(&self.deno_dir, own::DENO_DIR, cache),
            see(&folders.code, own::CODE, Access::Read),
        ]);
        if let Some(beside) = &folders.beside {
            entries.push(see(beside, own::BESIDE, Access::Read));
        }
        if let Some(tmp) = &folders.tmp {
            entries.push(see(tmp, own::TMP, Access::Write));
        }
        if let Some(sockets) = &folders.sockets {
            entries.push(see(sockets, own::SOCKETS, Access::Read));
        }
        if let Some(ca_file) = &config.ca_file {
            entries.push(see(ca_file, own::CA_FILE, Access::Read));
        }
        entries
    }

    /// Deno's own permissions for files.
    fn allow_files(&self, command: &mut Command, folders: &Folders) -> io::Result<()> {
        let code = Some(self.seen_code(&folders.code));
        let beside = folders.beside.as_ref();
        let beside = beside.map(|beside| self.seen_beside(beside));
        let tmp = folders.tmp.as_ref().map(|tmp| self.inside(tmp, own::TMP));
        let sockets = folders.sockets.as_ref();
        let sockets = sockets.map(|sockets| self.seen_sockets(sockets));
        let write = [tmp.clone(), sockets.clone()];
        let read = [code, beside, tmp, sockets];
        for (flag, paths) in [
            ("--allow-read=", Vec::from_iter(read.into_iter().flatten())),
            ("--allow-write=", write.into_iter().flatten().collect()),
        ] {
            for path in &paths {
                check_path(path)?;
            }
            // Without a value the flag would allow everything.
            if !paths.is_empty() {
                command.arg(flag_with_paths(flag, &paths));
            }
        }
        Ok(())
    }
}

/// Tells whether Deno can be given permission for the path. It takes a comma for the end of one, knows no way
/// to write it otherwise, and would give permission for what is before it.
///
/// # Errors
/// It cannot.
pub(crate) fn check_path(path: &Path) -> io::Result<()> {
    if path.as_os_str().as_encoded_bytes().contains(&b',') {
        let reason = format!(
            "Deno cannot be given the path {}; choose one without a comma",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, reason));
    }
    Ok(())
}

fn flag_with_paths(flag: &str, paths: &[PathBuf]) -> OsString {
    let mut argument = OsString::from(flag);
    for (position, path) in paths.iter().enumerate() {
        if position > 0 {
            argument.push(",");
        }
        argument.push(path);
    }
    argument
}
