//! A root of the process's own: a mount namespace that contains only the plan's files.
//!
//! Responsible for namespaces and mounts. Not for users and capabilities, which are dropped later:
//! mounting needs them.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{StatVfsMountFlags, statvfs},
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change,
        mount_remount, unmount,
    },
    process::{getegid, geteuid, getpid, pivot_root},
    thread::{CapabilitySet, UnshareFlags, capabilities},
};

use super::{
    failure::{Failure, Step},
    plan::{Access, Entry, OWN_USER, Plan},
};

/// The mount point of the machine's files while the root is assembled.
const OLD: &str = "/.machine";
/// Room for the root itself: folders and links.
const ROOT_OPTIONS: &std::ffi::CStr = c"mode=0755,size=4m";
/// Room for files that a program keeps in memory.
const SCRATCH_OPTIONS: &std::ffi::CStr = c"mode=1777,size=256m";

/// Gives this process a root of its own and detaches the machine's.
pub(super) fn enter(plan: &Plan) -> Result<(), Failure> {
    leave_namespaces(plan)?;
    let nothing_else = MountFlags::NOSUID | MountFlags::NODEV;
    mount("headwater", &plan.base, "tmpfs", nothing_else, ROOT_OPTIONS)
        .step(|| format!("mounting a root on {}", plan.base.display()))?;
    let old = plan.base.join(OLD.trim_start_matches('/'));
    fs::create_dir(&old).step(|| "making the root".into())?;
    pivot_root(&plan.base, &old).step(|| "changing the root".into())?;
    rustix::process::chdir("/").step(|| "entering the root".into())?;
    for entry in &plan.entries {
        add(entry)?;
    }
    unmount(OLD, UnmountFlags::DETACH).step(|| "leaving the machine's files".into())?;
    fs::remove_dir(OLD).step(|| "leaving the machine's files".into())?;
    change("/", MountFlags::RDONLY | nothing_else).step(|| "closing the root".into())
}

/// Enters a mount namespace from which no mount propagates; without the privilege for one, inside a user namespace.
fn leave_namespaces(plan: &Plan) -> Result<(), Failure> {
    let may_mount =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if may_mount {
        unshare(UnshareFlags::NEWNS).step(|| "making a mount namespace".into())?;
    } else {
        if plan.user.is_some() {
            return Err("the node may not mount").step(|| "making a mount namespace".into());
        }
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)
            .step(|| "making a user namespace".into())?;
        fs::write("/proc/self/setgroups", "deny").step(|| "giving up groups".into())?;
        for (map, id) in [("uid_map", user), ("gid_map", group)] {
            fs::write(format!("/proc/self/{map}"), format!("{OWN_USER} {id} 1"))
                .step(|| format!("writing the {map}"))?;
        }
    }
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).step(|| "making mounts private".into())
}

#[expect(
    deprecated,
    reason = "the replacement is unsafe for one flag that is not used here"
)]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

fn add(entry: &Entry) -> Result<(), Failure> {
    let shown = |path: &Path| format!("giving a process {}", path.display());
    match entry {
        Entry::View {
            source,
            path,
            access,
        } => view(source, path, *access).step(|| shown(source)),
        Entry::OwnProcess { name } => {
            let source = PathBuf::from(format!("/proc/{}/{name}", getpid().as_raw_nonzero()));
            let path = Path::new("/proc/self").join(name);
            view(&source, &path, Access::Read).step(|| shown(&path))
        }
        Entry::Link { path, target } => with_parent(path)
            .and_then(|()| symlink(target, path))
            .step(|| shown(path)),
        Entry::File { path, text, .. } => with_parent(path)
            .and_then(|()| fs::write(path, text))
            .step(|| shown(path)),
        Entry::Scratch { path } => {
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            fs::create_dir_all(path)
                .and_then(|()| Ok(mount("headwater", path, "tmpfs", flags, SCRATCH_OPTIONS)?))
                .step(|| shown(path))
        }
    }
}

fn with_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn view(source: &Path, path: &Path, access: Access) -> io::Result<()> {
    let source = Path::new(OLD).join(source.strip_prefix("/").unwrap_or(source));
    // Missing entries are skipped, such as time zones on a machine without them.
    let Ok(metadata) = fs::symlink_metadata(&source) else {
        return Ok(());
    };
    if metadata.is_dir() {
        fs::create_dir_all(path)?;
    } else {
        with_parent(path)?;
        // Inside an outer view it is there already.
        if !path.exists() {
            fs::write(path, "")?;
        }
    }
    mount_bind(&source, path)?;
    let flags = match access {
        Access::Read => MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOEXEC,
        Access::Execute => MountFlags::RDONLY | MountFlags::NODEV,
        Access::Write => MountFlags::NODEV | MountFlags::NOEXEC,
        Access::Device => MountFlags::NOEXEC,
    };
    change(path, flags | MountFlags::NOSUID)
}

/// Adds flags to a mount. Those that it has stay: in a user namespace none may be taken away.
fn change(path: impl AsRef<Path>, flags: MountFlags) -> io::Result<()> {
    let path = path.as_ref();
    let has = statvfs(path)?.f_flag;
    let kept = [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    let kept = kept.into_iter().filter(|(flag, _)| has.contains(*flag));
    let flags = kept.fold(flags | MountFlags::BIND, |flags, (_, flag)| flags | flag);
    Ok(mount_remount(path, flags, c"")?)
}
