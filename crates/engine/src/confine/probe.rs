//! The confinement that this machine offers, determined by trying: Deno is started once, confined, and asked for its
//! version.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Command, Stdio},
};

use super::{
    config::{ConfinementConfig, Launcher},
    ownership,
    plan::{Calls, Entry, Limits, Method, OWN_USER, Plan},
    step::Step,
    system,
};

/// The limits of a probe.
const LIMITS: Limits = Limits {
    data_bytes: 4 << 30,
    file_bytes: 1 << 20,
    open_files: 1024,
    niceness: 0,
};
const CALLS: Calls = Calls {
    ipv4: false,
    ipv6: false,
    unix_sockets: false,
    processes: false,
};

/// This machine's confinement.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) method: Method,
    /// The user that owns the files that processes write, if it is not the node's own.
    pub(super) user: Option<u32>,
    pub(super) has_launcher: bool,
    pub(super) has_landlock: bool,
    pub(super) scopes_sockets: bool,
    pub(super) unconfined_because: Option<String>,
}

/// Finds the best way that works.
pub(super) fn find(config: &ConfinementConfig, deno: &Path, system: &[Entry]) -> io::Result<Found> {
    let launcher = &config.launcher;
    let landlock = landlock();
    let mut found = Found {
        method: Method::Unconfined,
        user: None,
        has_launcher: cfg!(target_os = "linux"),
        has_landlock: landlock.0,
        scopes_sockets: landlock.1,
        unconfined_because: Some("this is not Linux".into()),
    };
    if !found.has_launcher {
        return Ok(found);
    }
    fs::create_dir_all(&config.scratch_dir)?;
    let folder = tempfile::tempdir_in(&config.scratch_dir)?;
    let is_root = folder.path().metadata()?.uid() == 0;
    let own = is_root && ownership::give(folder.path(), Some(OWN_USER)).is_ok();
    let mut reasons = Vec::new();
    // A container's root may be one that knows no other user.
    for user in [own.then_some(OWN_USER), None] {
        for method in [Method::Namespaces, Method::Landlock] {
            if method == Method::Landlock && (!found.has_landlock || user.is_some()) {
                continue;
            }
            (found.method, found.user) = (method, user);
            match found.attempt(launcher, deno, system, folder.path()) {
                Ok(()) => {
                    found.unconfined_because = None;
                    return Ok(found);
                }
                Err(reason) => reasons.push(reason),
            }
        }
        if user.is_none() && !own {
            break;
        }
    }
    reasons.dedup();
    if !found.has_landlock {
        reasons.push("the kernel has no Landlock".into());
    }
    (found.method, found.user) = (Method::Unconfined, None);
    found
        .attempt(launcher, deno, system, folder.path())
        .map_err(io::Error::other)?;
    found.unconfined_because = Some(reasons.join("; "));
    Ok(found)
}

impl Found {
    /// Whether Deno starts with this confinement.
    fn attempt(
        &self,
        launcher: &Launcher,
        deno: &Path,
        system: &[Entry],
        folder: &Path,
    ) -> Result<(), String> {
        let step = Step {
            program: None,
            folder: Path::new("/"),
            base: folder,
            entries: system::facts(),
            limits: LIMITS,
            calls: CALLS,
        };
        let output = self
            .std_command(launcher, deno, system, step)
            .and_then(|mut command| {
                command
                    .arg("--version")
                    .env_clear()
                    .env("NO_COLOR", "1")
                    .stdin(Stdio::null())
                    .output()
            })
            .map_err(|error| format!("{}: {error}", launcher.program.display()))?;
        if output.status.success() && output.stdout.starts_with(b"deno ") {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("headwater: ");
        Err(match said {
            "" => format!("{} ended with {}", deno.display(), output.status),
            said => said.to_owned(),
        })
    }

    pub(super) fn command(
        &self,
        launcher: &Launcher,
        deno: &Path,
        system: &[Entry],
        step: Step<'_>,
    ) -> io::Result<tokio::process::Command> {
        Ok(self.std_command(launcher, deno, system, step)?.into())
    }

    fn std_command(
        &self,
        launcher: &Launcher,
        deno: &Path,
        system: &[Entry],
        step: Step<'_>,
    ) -> io::Result<Command> {
        if !self.has_launcher {
            let mut command = Command::new(step.program.unwrap_or(deno));
            command.current_dir(step.folder);
            return Ok(command);
        }
        let mut entries = system.to_vec();
        entries.extend(system::lookups());
        entries.extend(step.entries);
        let plan = Plan {
            method: self.method,
            base: step.base.to_owned(),
            folder: step.folder.to_owned(),
            entries,
            user: self.user,
            limits: step.limits,
            calls: step.calls,
        };
        let mut command = Command::new(&launcher.program);
        command
            .args(&launcher.arguments)
            .arg(serde_json::to_string(&plan)?)
            .arg(match (step.program, self.method) {
                (Some(program), _) => program,
                (None, Method::Namespaces) => Path::new(super::system::DENO),
                (None, Method::Landlock | Method::Unconfined) => deno,
            });
        Ok(command)
    }

    pub(super) fn filters_calls(&self) -> bool {
        self.has_launcher && is_filtered()
    }

    pub(super) fn layers(&self) -> BTreeMap<String, bool> {
        let layers = [
            ("deno_permissions", true),
            ("process_group", true),
            ("rlimits", self.has_launcher),
            ("no_new_privs", self.has_launcher),
            ("no_capabilities", self.has_launcher),
            ("dies_with_node", self.has_launcher),
            ("own_root", self.method == Method::Namespaces),
            ("own_user", self.user.is_some()),
            ("landlock", self.has_landlock),
            ("seccomp", self.filters_calls()),
            ("confined", self.unconfined_because.is_none()),
        ];
        let layers = layers.into_iter();
        layers.map(|(name, on)| (name.to_owned(), on)).collect()
    }
}

#[cfg(target_os = "linux")]
fn landlock() -> (bool, bool) {
    super::landlock::offered()
}

#[cfg(not(target_os = "linux"))]
fn landlock() -> (bool, bool) {
    (false, false)
}

#[cfg(target_os = "linux")]
fn is_filtered() -> bool {
    super::syscalls::ARE_FILTERED
}

#[cfg(not(target_os = "linux"))]
fn is_filtered() -> bool {
    false
}
