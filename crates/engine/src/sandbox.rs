//! Starting JavaScript processes that cannot do harm.
//!
//! Responsible for: Deno's command line, and what the operating system can add to Deno's permissions.
//! Not for: what is said to a process, or when it has to end.

mod limits;
mod spawner;
mod syscalls;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::{Child, Command};

use crate::{api::EngineError, network::NetworkPolicy, runtime_files::RuntimeFiles};
use spawner::Spawner;

/// Where `setpriv` of util-linux is, on systems that have it.
const SETPRIV_FOLDERS: &[&str] = &[
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",
];

/// Harmless facts of the machine that common packages ask for as they load (`os.release()` for a user agent).
const SYSTEM_FACTS: &str = "--allow-sys=cpus,hostname,homedir,loadavg,osRelease,osUptime,systemMemoryInfo,uid,gid,username";

/// What one process may do.
#[derive(Debug, Clone)]
pub(crate) struct Permissions {
    /// Files and folders it may read.
    pub(crate) read: Vec<PathBuf>,
    /// Files and folders it may write.
    pub(crate) write: Vec<PathBuf>,
    /// Whether it may reach what the network policy allows, or nothing.
    pub(crate) network: bool,
    /// V8's heap.
    pub(crate) heap_mib: u32,
}

/// What all processes have in common.
#[derive(Debug, Clone)]
pub(crate) struct SandboxConfig {
    /// The executable.
    pub(crate) deno: PathBuf,
    /// Deno's cache, for the runtime's own modules.
    pub(crate) deno_dir: PathBuf,
    /// What processes run.
    pub(crate) runtime: RuntimeFiles,
    /// What they may reach.
    pub(crate) network: NetworkPolicy,
    /// A PEM file with the certificates that they trust besides the web's authorities.
    pub(crate) ca_file: Option<PathBuf>,
}

/// Starts processes.
#[derive(Debug)]
pub(crate) struct Sandbox {
    config: SandboxConfig,
    deny_net: Vec<String>,
    setpriv: Option<PathBuf>,
    spawner: Spawner,
}

impl Sandbox {
    /// # Errors
    /// The thread that starts processes cannot be started.
    pub(crate) fn new(config: SandboxConfig) -> Result<Self, EngineError> {
        let spawner = Spawner::start(config.network.needs_ipv6_off())?;
        let deny_net = config.network.deny_net_ranges();
        let setpriv = SETPRIV_FOLDERS
            .iter()
            .map(|folder| Path::new(folder).join("setpriv"));
        let setpriv = setpriv
            .filter(|_| cfg!(target_os = "linux"))
            .find(|path| path.is_file());
        Ok(Self {
            config,
            deny_net,
            setpriv,
            spawner,
        })
    }

    /// Starts a process in `code`, with `tmp` as the folder for temporary files.
    ///
    /// # Errors
    /// The process cannot be started, or Deno cannot be told of a path.
    pub(crate) async fn spawn(
        &self,
        code: &Path,
        tmp: &Path,
        permissions: &Permissions,
    ) -> Result<Child, EngineError> {
        for path in permissions.read.iter().chain(&permissions.write) {
            check_path(path).map_err(|error| EngineError::Spawn(error.to_string()))?;
        }
        let mut command = self.command(permissions);
        command.env_clear();
        if let Some(ca_file) = &self.config.ca_file {
            command.env("DENO_CERT", ca_file);
        }
        command
            .current_dir(code)
            .env("TMPDIR", tmp)
            .env("HOME", tmp)
            .env("DENO_DIR", &self.config.deno_dir)
            .env("NO_COLOR", "1")
            .env("DENO_NO_UPDATE_CHECK", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        self.spawner
            .spawn(command, permissions.heap_mib)
            .await
            .map_err(|error| EngineError::Spawn(format!("{}: {error}", self.config.deno.display())))
    }

    /// The layers of the sandbox by name, and whether they apply on this machine.
    pub(crate) fn layers(&self) -> BTreeMap<String, bool> {
        let filtered = self.spawner.filters_syscalls();
        let layers = [
            ("deno_permissions", true),
            ("process_group", true),
            ("rlimits", limits::ARE_SUPPORTED),
            ("no_new_privs", filtered || self.setpriv.is_some()),
            ("dies_with_node", self.setpriv.is_some()),
            ("landlock", false),
            ("seccomp", filtered),
            ("cgroup_memory", false),
            (
                "ipv6_policy",
                filtered || !self.config.network.needs_ipv6_off(),
            ),
        ];
        layers
            .into_iter()
            .map(|(name, on)| (name.to_owned(), on))
            .collect()
    }

    fn command(&self, permissions: &Permissions) -> Command {
        let mut command = match &self.setpriv {
            // Deno ends when its standard input does, unless a component keeps it busy for ever.
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command
                    .args(["--no-new-privs", "--pdeathsig", "KILL", "--"])
                    .arg(&self.config.deno);
                command
            }
            None => Command::new(&self.config.deno),
        };
        command
            .args([
                "run",
                "--quiet",
                "--no-prompt",
                "--no-config",
                "--no-remote",
                "--cached-only",
                "--no-lock",
            ])
            .args(["--node-modules-dir=manual", "--allow-env", SYSTEM_FACTS]);
        if permissions.network {
            command.arg("--allow-net");
            if !self.deny_net.is_empty() {
                command.arg(format!("--deny-net={}", self.deny_net.join(",")));
            }
        }
        for (flag, paths) in [
            ("--allow-read=", &permissions.read),
            ("--allow-write=", &permissions.write),
        ] {
            // Without a value the flag would allow everything.
            if !paths.is_empty() {
                command.arg(flag_with_paths(flag, paths));
            }
        }
        command
            .arg(flag_with_paths(
                "--import-map=",
                std::slice::from_ref(&self.config.runtime.import_map),
            ))
            .arg(format!(
                "--v8-flags=--max-old-space-size={}",
                permissions.heap_mib
            ))
            .arg(&self.config.runtime.main);
        command
    }
}

/// Whether Deno can be given permission for the path. It takes a comma for the end of one, knows no way
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
