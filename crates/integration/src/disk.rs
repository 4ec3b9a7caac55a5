//! A small disk of a test's own, to be filled.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The room of a full disk, which small files find.
const LEFT_KIB: u64 = 128;

/// A mounted file system in memory; dropping it unmounts it.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
    mib: u32,
}

impl Disk {
    /// Mounts one of so many MiB at the folder. `None` where that takes rights that this process has not.
    pub(crate) fn mount(folder: &Path, mib: u32) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]);
        run(mount.arg(folder)).then(|| Self {
            folder: folder.to_owned(),
            mib,
        })
    }

    /// Takes the room away that is left, but for a little.
    pub(crate) fn fill(&self) {
        // Files grow between the look and the change, which is refused then.
        while !self.resize(&format!("{}k", self.used_kib() + LEFT_KIB)) {}
    }

    /// Gives the room back.
    pub(crate) fn make_room(&self) {
        assert!(self.resize(&format!("{}m", self.mib)), "a disk may grow");
    }

    fn resize(&self, size: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,size={size}")]);
        run(mount.arg(&self.folder))
    }

    fn used_kib(&self) -> u64 {
        let room = rustix::fs::statvfs(&self.folder).expect("the disk is mounted");
        (room.f_blocks - room.f_bfree) * room.f_frsize / 1024
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a worker that is just ending may still have a file open.
        run(Command::new("umount").arg("--lazy").arg(&self.folder));
    }
}

fn run(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
