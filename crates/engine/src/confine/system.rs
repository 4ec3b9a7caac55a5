//! The files of the machine that Deno always needs: itself, its libraries, the configuration of name resolution.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::plan::{Access, Entry, OWN_USER};

/// The place of Deno in a root of one's own.
pub(super) const DENO: &str = "/bin/deno";

/// Folders of libraries, for a Deno whose libraries cannot be determined.
const LIBRARY_FOLDERS: &[&str] = &[
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/nix/store",
    "/gnu/store",
];
/// The files by which names, addresses and times are looked up.
const LOOKUPS: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/ld.so.cache",
    ZONES,
];
/// The time zone rules and the machine's zone, which is a link, or a copy searched for among all of them.
const ZONES: &str = "/usr/share/zoneinfo";
const LOCAL_ZONE: &str = "/etc/localtime";
/// Facts of the machine that packages ask for, and of the process itself.
const MACHINE_FACTS: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/proc/sys/kernel/osrelease",
    "/sys/devices/system/cpu",
];
/// The process's own memory statistics; its environment and arguments stay hidden.
const PROCESS_FACTS: &[&str] = &["maps", "statm", "stat", "status"];
/// Certificates of the authorities that the machine trusts.
const CERTIFICATES: &[&str] = &[
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/usr/share/pki",
];

/// Files that every process sees.
pub(super) fn entries(deno: &Path) -> Vec<Entry> {
    let mut entries = vec![Entry::view(deno, Path::new(DENO), Access::Execute)];
    entries.extend(libraries(deno));
    entries.extend([
        Entry::File {
            path: "/etc/passwd".into(),
            // The only user that a process knows: itself.
            text: format!("headwater:x:{OWN_USER}:{OWN_USER}::/tmp:/nonexistent\n"),
            or_machines: false,
        },
        Entry::view(
            Path::new("/dev/null"),
            Path::new("/dev/null"),
            Access::Device,
        ),
        Entry::Link {
            path: "/proc/self/exe".into(),
            target: DENO.into(),
        },
    ]);
    entries
}

/// Files for looking up names and times, as they are now: a machine that changes networks replaces some.
pub(super) fn lookups() -> Vec<Entry> {
    let files = LOOKUPS
        .iter()
        .filter_map(|path| seen(Path::new(path), Access::Read));
    files.chain(local_zone()).collect()
}

/// Further files that running code reads.
pub(crate) fn facts() -> Vec<Entry> {
    let machine = MACHINE_FACTS
        .iter()
        .filter_map(|path| seen(Path::new(path), Access::Read));
    let process = PROCESS_FACTS.iter().map(|name| Entry::OwnProcess {
        name: (*name).to_owned(),
    });
    let devices = ["/dev/zero", "/dev/random", "/dev/urandom"];
    let devices = devices.map(|path| Entry::same(Path::new(path), Access::Device));
    machine.chain(process).chain(devices).collect()
}

/// The machine's trusted certificates.
pub(crate) fn certificates() -> Vec<Entry> {
    let paths = CERTIFICATES.iter();
    paths
        .filter_map(|path| seen(Path::new(path), Access::Read))
        .collect()
}

/// A file or folder of the machine under its own name, with links resolved; `None` if it does not exist.
pub(crate) fn seen(path: &Path, access: Access) -> Option<Entry> {
    let source = path.canonicalize().ok()?;
    Some(Entry::view(&source, path, access))
}

fn local_zone() -> Option<Entry> {
    let target = Path::new(LOCAL_ZONE).canonicalize().ok()?;
    Some(match target.starts_with(ZONES) {
        true => Entry::Link {
            path: LOCAL_ZONE.into(),
            target,
        },
        false => Entry::view(&target, Path::new(LOCAL_ZONE), Access::Read),
    })
}

/// Deno's libraries: each file if they can be determined, else the folders of all.
fn libraries(deno: &Path) -> Vec<Entry> {
    let mut paths = loaded(deno);
    // Looking up names loads further ones, from beside the C library.
    let beside = paths
        .iter()
        .find(|path| path.file_name().is_some_and(|name| name == "libc.so.6"))
        .and_then(|path| path.parent());
    let modules = beside
        .into_iter()
        .flat_map(std::fs::read_dir)
        .flatten()
        .flatten();
    let modules: Vec<_> = modules
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libnss_") || name.starts_with("libresolv.so")
        })
        .collect();
    paths.extend(modules);
    if paths.is_empty() {
        paths.extend(LIBRARY_FOLDERS.iter().map(PathBuf::from));
    }
    paths
        .iter()
        .filter_map(|path| seen(path, Access::Execute))
        .collect()
}

/// The libraries that the system's loader reports it would load.
fn loaded(deno: &Path) -> BTreeSet<PathBuf> {
    let listed = Command::new(deno)
        .env_clear()
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null())
        .output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed);
    let paths = listed
        .split_ascii_whitespace()
        .filter(|word| word.starts_with('/'))
        .map(PathBuf::from)
        .filter(|path| path.is_file());
    paths.collect()
}
