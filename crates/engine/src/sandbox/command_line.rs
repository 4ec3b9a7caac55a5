//! Deno's command line: the program of a process, and the files that it sees.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use tokio::process::Command;

use super::{
    config::SandboxConfig,
    permissions::{Folders, Permissions},
};
use crate::{
    confine::{
        Step,
        plan::{Access, Calls, Entry, Limits},
        system,
    },
    shared_modules,
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
/// The niceness of components relative to the node.
const NICENESS: i32 = 5;

/// Paths as a process sees them where it has a root of its own.
mod own {
    pub(super) const CODE: &str = "/code";
    pub(super) const BESIDE: &str = "/beside";
    pub(super) const TMP: &str = "/tmp";
    pub(super) const SOCKETS: &str = "/sockets";
    pub(super) const RUNTIME: &str = "/runtime";
    /// Beside the runtime in every case: its import map says so.
    pub(super) const SHARED_MODULES: &str = "/shared";
    pub(super) const DENO_DIR: &str = "/deno-dir";
    pub(super) const CA_FILE: &str = "/ca-certificates.pem";
}

/// The part of command lines that all processes have in common.
#[derive(Debug)]
pub(super) struct CommandLine {
    pub(super) config: SandboxConfig,
    deny_net: Vec<String>,
    /// The modules that components share.
    pub(super) shared_modules: PathBuf,
}

impl CommandLine {
    /// # Errors
    /// The folder of shared modules cannot be created.
    pub(super) fn new(config: SandboxConfig) -> io::Result<Self> {
        Ok(Self {
            deny_net: config.network.deny_net_ranges(),
            shared_modules: shared_modules::folder_in(&config.cache_dir)?,
            config,
        })
    }

    /// The path under which a process sees its code at `code`.
    pub(super) fn seen_code(&self, code: &Path) -> PathBuf {
        self.inside(code, own::CODE)
    }

    /// The path under which it sees the folder of further components at `beside`.
    pub(super) fn seen_beside(&self, beside: &Path) -> PathBuf {
        self.inside(beside, own::BESIDE)
    }

    /// The path under which it sees the folder of sockets at `sockets`.
    pub(super) fn seen_sockets(&self, sockets: &Path) -> PathBuf {
        self.inside(sockets, own::SOCKETS)
    }

    fn inside(&self, host: &Path, own: &str) -> PathBuf {
        self.config.confinement.inside(host, own)
    }

    /// Deno with its permissions, and with its cache readable or writable.
    pub(super) fn command(
        &self,
        permissions: &Permissions,
        deno_dir: &Path,
        cache: Access,
    ) -> io::Result<Command> {
        let folders = &permissions.folders;
        let code = self.seen_code(&folders.code);
        let step = Step {
            program: None,
            folder: &code,
            base: &folders.code,
            entries: self.entries(folders, deno_dir, cache),
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
            .env("DENO_DIR", self.inside(deno_dir, own::DENO_DIR))
            .env("NO_COLOR", "1")
            .env("DENO_NO_UPDATE_CHECK", "1");
        Ok(command)
    }

    /// Files that a process sees besides those that every process sees.
    fn entries(&self, folders: &Folders, deno_dir: &Path, cache: Access) -> Vec<Entry> {
        let see =
            |host: &Path, own: &str, access| Entry::view(host, &self.inside(host, own), access);
        let config = &self.config;
        let mut entries = system::facts();
        entries.extend([
            see(&config.runtime.folder, own::RUNTIME, Access::Read),
            see(&self.shared_modules, own::SHARED_MODULES, Access::Read),
            see(deno_dir, own::DENO_DIR, cache),
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
        let shared = Some(self.inside(&self.shared_modules, own::SHARED_MODULES));
        let read = [code, beside, shared, tmp, sockets];
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

/// Checks that Deno can be given permission for the path. Deno separates paths by commas without an escape, so that it
/// would allow the part before one.
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
